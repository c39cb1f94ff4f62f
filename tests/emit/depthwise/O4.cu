// Conv (conv): float32[1,8,4,4] float32[8,1,3,3] -> float32[1,8,2,2]
extern "C" __global__ void conv_11c75e71819b(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 32) {
    const int g = task / 4;
    const int o0 = (task / 2) % 2;
    const int o1 = task % 2;
    float sum;
    sum = 0.0f;
    for (int k0 = 0; k0 < 3; ++k0) {
      for (int k1 = 0; k1 < 3; ++k1) {
        sum = fmaf((((0 <= ((k0 + (o0 * 2)) - 1)) && (0 <= ((k1 + (o1 * 2)) - 1))) ? x0[((((((g * 16) + (k0 * 4)) + k1) + (o0 * 8)) + (o1 * 2)) - 5)] : 0.0f), x1[(((g * 9) + (k0 * 3)) + k1)], sum);
      }
    }
    y0[(((g * 4) + (o0 * 2)) + o1)] = sum;
  }
}

// Conv (conv): float32[1,8,2,2] float32[3,8,1,1] -> float32[1,3,2,2]
extern "C" __global__ void conv_8f2d56996eb3(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 12) {
    const int m = task / 4;
    const int o0 = (task / 2) % 2;
    const int o1 = task % 2;
    float sum;
    sum = 0.0f;
    for (int c = 0; c < 8; ++c) {
      sum = fmaf(x0[(((c * 4) + (o0 * 2)) + o1)], x1[(c + (m * 8))], sum);
    }
    y0[(((m * 4) + (o0 * 2)) + o1)] = sum;
  }
}
