// zero border of float32[1,8,4,4] layout 1/16,h2+1+0,h3+1+0
extern "C" __global__ void border_6124edfc29c9(float* __restrict__ y0) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 1) {
    for (long long d3 = 0; d3 < 5; ++d3) {
      for (long long d1 = 0; d1 < 8; ++d1) {
        y0[(d1 + (d3 * 16))] = 0.0f;
      }
    }
    for (long long d2 = 0; d2 < 4; ++d2) {
      for (long long d1 = 0; d1 < 8; ++d1) {
        y0[((d1 + (d2 * 80)) + 80)] = 0.0f;
      }
    }
  }
}

// Identity (map): float32[1,8,4,4] -> float32[1,8,4,4]
extern "C" __global__ void map_105a5f3ef42e(float* __restrict__ y0, float* __restrict__ x0) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 128) {
    const long long d1 = task / 16;
    const long long d2 = (task / 4) % 4;
    const long long d3 = task % 4;
    y0[(((d1 + (d2 * 80)) + (d3 * 16)) + 96)] = x0[(((d1 * 16) + (d2 * 4)) + d3)];
  }
}

// Conv (conv): float32[1,8,4,4] float32[8,1,3,3] -> float32[1,8,2,2]
extern "C" __global__ void conv_8271e8d99b5a(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 32) {
    const long long g = task / 4;
    const long long o0 = (task / 2) % 2;
    const long long o1 = task % 2;
    float sum;
    sum = 0.0f;
    for (long long k0 = 0; k0 < 3; ++k0) {
      for (long long k1 = 0; k1 < 3; ++k1) {
        sum = fmaf(x0[((((g + (k0 * 80)) + (k1 * 16)) + (o0 * 160)) + (o1 * 32))], x1[(((g * 9) + (k0 * 3)) + k1)], sum);
      }
    }
    y0[((g + (o0 * 32)) + (o1 * 16))] = sum;
  }
}

// Conv (conv): float32[1,8,2,2] float32[3,8,1,1] -> float32[1,3,2,2]
extern "C" __global__ void conv_f5bfd8928b9a(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 12) {
    const long long m = task / 4;
    const long long o0 = (task / 2) % 2;
    const long long o1 = task % 2;
    float sum;
    sum = 0.0f;
    for (long long c = 0; c < 8; ++c) {
      sum = fmaf(x0[((c + (o0 * 32)) + (o1 * 16))], x1[(c + (m * 8))], sum);
    }
    y0[(((m * 4) + (o0 * 2)) + o1)] = sum;
  }
}
