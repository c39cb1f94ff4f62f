// MatMul (matmul): float32[3,5] float32[5,6] -> float32[3,6]
void matmul_b1a528f2607e_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    for (long j_o = 0; j_o < 1; ++j_o) {
      f32x4 sum_0, sum_1, sum_2;
      sum_0 = splat_f32x4(0.0f);
      sum_1 = splat_f32x4(0.0f);
      sum_2 = splat_f32x4(0.0f);
      for (long k = 0; k < 5; ++k) {
        sum_0 = (sum_0 + (x0[k] * vload4(0, x1 + ((k * 16)))));
        sum_1 = (sum_1 + (x0[(k + 5)] * vload4(0, x1 + ((k * 16)))));
        sum_2 = (sum_2 + (x0[(k + 10)] * vload4(0, x1 + ((k * 16)))));
      }
      vstore4(sum_0, 0, y0 + (0));
      vstore4(sum_1, 0, y0 + (6));
      vstore4(sum_2, 0, y0 + (12));
    }
    for (long j_t_o = 0; j_t_o < 1; ++j_t_o) {
      f32x2 sum_0, sum_1, sum_2;
      sum_0 = splat_f32x2(0.0f);
      sum_1 = splat_f32x2(0.0f);
      sum_2 = splat_f32x2(0.0f);
      for (long k = 0; k < 5; ++k) {
        sum_0 = (sum_0 + (x0[k] * vload2(0, x1 + (((k * 16) + 4)))));
        sum_1 = (sum_1 + (x0[(k + 5)] * vload2(0, x1 + (((k * 16) + 4)))));
        sum_2 = (sum_2 + (x0[(k + 10)] * vload2(0, x1 + (((k * 16) + 4)))));
      }
      vstore2(sum_0, 0, y0 + (4));
      vstore2(sum_1, 0, y0 + (10));
      vstore2(sum_2, 0, y0 + (16));
    }
  }
}
__kernel void matmul_b1a528f2607e(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  matmul_b1a528f2607e_task(y0, x0, x1, get_global_id(0));
}

// Add (map): float32[3,6] float32[6] -> float32[3,6]
void map_6e915da9ac2d_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d0 = task;
    vstore4((vload4(0, x0 + ((d0 * 6))) + vload4(0, x1 + (0))), 0, y0 + ((d0 * 6)));
    vstore2((vload2(0, x0 + (((d0 * 6) + 4))) + vload2(0, x1 + (4))), 0, y0 + (((d0 * 6) + 4)));
  }
}
__kernel void map_6e915da9ac2d(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  map_6e915da9ac2d_task(y0, x0, x1, get_global_id(0));
}
