// Softmax (row): float32[2,5] -> float32[2,5]
void row_41f63643545e(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d0 = task;
    float best;
    float sum;
    float power[5] __attribute__((aligned(64)));
    best = -inf_f32();
    for (int64_t r0 = 0; r0 < 5; ++r0) {
      best = max_f32(best, x0[((d0 * 5) + r0)]);
    }
    sum = 0.0f;
    for (int64_t r1 = 0; r1 < 5; ++r1) {
      power[r1] = exp_f32((x0[((d0 * 5) + r1)] - best));
    }
    for (int64_t s1 = 0; s1 < 5; ++s1) {
      sum = (sum + power[s1]);
    }
    for (int64_t r2 = 0; r2 < 5; ++r2) {
      y0[((d0 * 5) + r2)] = (power[r2] / sum);
    }
  }
}
