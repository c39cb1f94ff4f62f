// Fused (map): float32[1,2,3,2] float32[2,1,1] -> float32[1,2,3,2]
void map_46170b257439(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task;
    *(f32x4_in_memory*)(y0 + ((d1 * 6))) = tanh_f32x4((((f32x4)*(const f32x4_in_memory*)(x0 + ((d1 * 6)))) + x1[d1]));
    *(f32x2_in_memory*)(y0 + (((d1 * 6) + 4))) = tanh_f32x2((((f32x2)*(const f32x2_in_memory*)(x0 + (((d1 * 6) + 4)))) + x1[d1]));
  }
}

// Concat (map): float32[1,2,3,2] float32[1,2,3,2] -> float32[1,4,3,2]
void map_461f3cdee0cc(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    *(f32x8_in_memory*)(y0 + (0)) = ((f32x8)*(const f32x8_in_memory*)(x0 + (0)));
    *(f32x4_in_memory*)(y0 + (8)) = ((f32x4)*(const f32x4_in_memory*)(x0 + (8)));
  }
}

// Concat (map): float32[1,2,3,2] float32[1,2,3,2] -> float32[1,4,3,2]
void map_f854df3a3801(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x1 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    *(f32x8_in_memory*)(y0 + (12)) = ((f32x8)*(const f32x8_in_memory*)(x1 + (0)));
    *(f32x4_in_memory*)(y0 + (20)) = ((f32x4)*(const f32x4_in_memory*)(x1 + (8)));
  }
}
