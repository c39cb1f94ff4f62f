// zero border of float32[1,3,5,5] layout h2+1+1,h3+1+1
extern "C" __global__ void border_24d952a497db(float* __restrict__ y0) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 1) {
    for (long long d1 = 0; d1 < 3; ++d1) {
      for (long long d3 = 0; d3 < 7; ++d3) {
        y0[((d1 * 49) + d3)] = 0.0f;
      }
    }
    for (long long d1 = 0; d1 < 3; ++d1) {
      for (long long d3 = 0; d3 < 7; ++d3) {
        y0[(((d1 * 49) + d3) + 42)] = 0.0f;
      }
    }
    for (long long d1 = 0; d1 < 3; ++d1) {
      for (long long d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 49) + (d2 * 7)) + 7)] = 0.0f;
      }
    }
    for (long long d1 = 0; d1 < 3; ++d1) {
      for (long long d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 49) + (d2 * 7)) + 13)] = 0.0f;
      }
    }
  }
}

// Identity (map): float32[1,3,5,5] -> float32[1,3,5,5]
extern "C" __global__ void map_f9a9f2b29290(float* __restrict__ y0, float* __restrict__ x0) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 75) {
    const long long d1 = task / 25;
    const long long d2 = (task / 5) % 5;
    const long long d3 = task % 5;
    y0[((((d1 * 49) + (d2 * 7)) + d3) + 8)] = x0[(((d1 * 25) + (d2 * 5)) + d3)];
  }
}

// Fused (conv): float32[1,3,5,5] float32[4,3,3,3] float32[4] -> float32[1,4,5,5]
extern "C" __global__ void conv_8e13145ea6ed(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, float* __restrict__ x2) {
  const long long task = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (task < 100) {
    const long long m = task / 25;
    const long long o0 = (task / 5) % 5;
    const long long o1 = task % 5;
    float sum;
    sum = 0.0f;
    for (long long c = 0; c < 3; ++c) {
      for (long long k0 = 0; k0 < 3; ++k0) {
        for (long long k1 = 0; k1 < 3; ++k1) {
          sum = fmaf(x0[(((((c * 49) + (k0 * 7)) + k1) + (o0 * 7)) + o1)], x1[((((c * 9) + (k0 * 3)) + k1) + (m * 27))], sum);
        }
      }
    }
    y0[(((m * 25) + (o0 * 5)) + o1)] = max_f32(0.0f, (sum + x2[m]));
  }
}
