// Fused (matmul): float32[3,5] float32[5,6] float32[6] -> float32[3,6]
void matmul_34b1de5135a5(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  float* restrict const x2 = (float*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t j_o = 0; j_o < 1; ++j_o) {
      f32x4 sum_0, sum_1, sum_2;
      sum_0 = splat_f32x4(0.0f);
      sum_1 = splat_f32x4(0.0f);
      sum_2 = splat_f32x4(0.0f);
      for (int64_t k = 0; k < 5; ++k) {
        sum_0 = (x0[k] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((k * 16)))) + sum_0);
        sum_1 = (x0[(k + 5)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((k * 16)))) + sum_1);
        sum_2 = (x0[(k + 10)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((k * 16)))) + sum_2);
      }
      *(f32x4_in_memory*)(y0 + (0)) = (sum_0 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      *(f32x4_in_memory*)(y0 + (6)) = (sum_1 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      *(f32x4_in_memory*)(y0 + (12)) = (sum_2 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
    }
    for (int64_t j_t_o = 0; j_t_o < 1; ++j_t_o) {
      f32x2 sum_0, sum_1, sum_2;
      sum_0 = splat_f32x2(0.0f);
      sum_1 = splat_f32x2(0.0f);
      sum_2 = splat_f32x2(0.0f);
      for (int64_t k = 0; k < 5; ++k) {
        sum_0 = (x0[k] * ((f32x2)*(const f32x2_in_memory*)(x1 + (((k * 16) + 4)))) + sum_0);
        sum_1 = (x0[(k + 5)] * ((f32x2)*(const f32x2_in_memory*)(x1 + (((k * 16) + 4)))) + sum_1);
        sum_2 = (x0[(k + 10)] * ((f32x2)*(const f32x2_in_memory*)(x1 + (((k * 16) + 4)))) + sum_2);
      }
      *(f32x2_in_memory*)(y0 + (4)) = (sum_0 + ((f32x2)*(const f32x2_in_memory*)(x2 + (4))));
      *(f32x2_in_memory*)(y0 + (10)) = (sum_1 + ((f32x2)*(const f32x2_in_memory*)(x2 + (4))));
      *(f32x2_in_memory*)(y0 + (16)) = (sum_2 + ((f32x2)*(const f32x2_in_memory*)(x2 + (4))));
    }
  }
}
