// Softmax (row): float32[2,5] -> float32[2,5]
extern "C" __global__ void row_41f63643545e(float* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 2) {
    const int d0 = task;
    float best;
    float sum;
    float power[5];
    best = -inf_f32();
    for (int r0 = 0; r0 < 5; ++r0) {
      best = max_f32(best, x0[((d0 * 5) + r0)]);
    }
    sum = 0.0f;
    for (int r1 = 0; r1 < 5; ++r1) {
      power[r1] = exp_f32((x0[((d0 * 5) + r1)] - best));
    }
    for (int s1 = 0; s1 < 5; ++s1) {
      sum = (sum + power[s1]);
    }
    for (int r2 = 0; r2 < 5; ++r2) {
      y0[((d0 * 5) + r2)] = (power[r2] / sum);
    }
  }
}
