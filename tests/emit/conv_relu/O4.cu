// Fused (conv): float32[1,3,5,5] float32[4,3,3,3] float32[4] -> float32[1,4,5,5]
extern "C" __global__ void conv_9557bcfe666e(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, float* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 100) {
    const int m = task / 25;
    const int o0 = (task / 5) % 5;
    const int o1 = task % 5;
    float sum;
    sum = 0.0f;
    for (int c = 0; c < 3; ++c) {
      for (int k0 = 0; k0 < 3; ++k0) {
        for (int k1 = 0; k1 < 3; ++k1) {
          sum = fmaf(((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) && ((0 <= ((k1 + o1) - 1)) && (((k1 + o1) - 1) < 5))) ? x0[((((((c * 25) + (k0 * 5)) + k1) + (o0 * 5)) + o1) - 6)] : 0.0f), x1[((((c * 9) + (k0 * 3)) + k1) + (m * 27))], sum);
        }
      }
    }
    y0[(((m * 25) + (o0 * 5)) + o1)] = max_f32(0.0f, (sum + x2[m]));
  }
}
