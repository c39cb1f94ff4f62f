// Softmax (row): float32[2,5] -> float32[2,5]
void row_41f63643545e_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long d0 = task;
    float best;
    float sum;
    float power[5];
    best = -inf_f32();
    for (long r0 = 0; r0 < 5; ++r0) {
      best = max_f32(best, x0[((d0 * 5) + r0)]);
    }
    sum = 0.0f;
    for (long r1 = 0; r1 < 5; ++r1) {
      power[r1] = exp_f32((x0[((d0 * 5) + r1)] - best));
    }
    for (long s1 = 0; s1 < 5; ++s1) {
      sum = (sum + power[s1]);
    }
    for (long r2 = 0; r2 < 5; ++r2) {
      y0[((d0 * 5) + r2)] = (power[r2] / sum);
    }
  }
}
__kernel void row_41f63643545e(__global float* restrict y0, __global float* restrict x0) {
  row_41f63643545e_task(y0, x0, get_global_id(0));
}
