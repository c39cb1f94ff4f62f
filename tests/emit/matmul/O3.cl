// Fused (matmul): float32[3,5] float32[5,6] float32[6] -> float32[3,6]
void matmul_34b1de5135a5_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2, const long task) {
  {
    for (long j_o = 0; j_o < 1; ++j_o) {
      f32x4 sum_0, sum_1, sum_2;
      sum_0 = splat_f32x4(0.0f);
      sum_1 = splat_f32x4(0.0f);
      sum_2 = splat_f32x4(0.0f);
      for (long k = 0; k < 5; ++k) {
        sum_0 = (x0[k] * vload4(0, x1 + ((k * 16))) + sum_0);
        sum_1 = (x0[(k + 5)] * vload4(0, x1 + ((k * 16))) + sum_1);
        sum_2 = (x0[(k + 10)] * vload4(0, x1 + ((k * 16))) + sum_2);
      }
      vstore4((sum_0 + vload4(0, x2 + (0))), 0, y0 + (0));
      vstore4((sum_1 + vload4(0, x2 + (0))), 0, y0 + (6));
      vstore4((sum_2 + vload4(0, x2 + (0))), 0, y0 + (12));
    }
    for (long j_t_o = 0; j_t_o < 1; ++j_t_o) {
      f32x2 sum_0, sum_1, sum_2;
      sum_0 = splat_f32x2(0.0f);
      sum_1 = splat_f32x2(0.0f);
      sum_2 = splat_f32x2(0.0f);
      for (long k = 0; k < 5; ++k) {
        sum_0 = (x0[k] * vload2(0, x1 + (((k * 16) + 4))) + sum_0);
        sum_1 = (x0[(k + 5)] * vload2(0, x1 + (((k * 16) + 4))) + sum_1);
        sum_2 = (x0[(k + 10)] * vload2(0, x1 + (((k * 16) + 4))) + sum_2);
      }
      vstore2((sum_0 + vload2(0, x2 + (4))), 0, y0 + (4));
      vstore2((sum_1 + vload2(0, x2 + (4))), 0, y0 + (10));
      vstore2((sum_2 + vload2(0, x2 + (4))), 0, y0 + (16));
    }
  }
}
__kernel void matmul_34b1de5135a5(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2) {
  matmul_34b1de5135a5_task(y0, x0, x1, x2, get_global_id(0));
}
