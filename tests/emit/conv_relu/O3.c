// zero border of float32[1,3,5,5] layout h2+1+1,h3+1+1
void border_24d952a497db(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d3 = 0; d3 < 7; ++d3) {
        y0[((d1 * 49) + d3)] = 0.0f;
      }
    }
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d3 = 0; d3 < 7; ++d3) {
        y0[(((d1 * 49) + d3) + 42)] = 0.0f;
      }
    }
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 49) + (d2 * 7)) + 7)] = 0.0f;
      }
    }
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 49) + (d2 * 7)) + 13)] = 0.0f;
      }
    }
  }
}

// Identity (map): float32[1,3,5,5] -> float32[1,3,5,5]
void map_f9a9f2b29290(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task / 5;
    const int64_t d2 = task % 5;
    *(f32x4_in_memory*)(y0 + ((((d1 * 49) + (d2 * 7)) + 8))) = ((f32x4)*(const f32x4_in_memory*)(x0 + (((d1 * 25) + (d2 * 5)))));
    y0[(((d1 * 49) + (d2 * 7)) + 12)] = x0[(((d1 * 25) + (d2 * 5)) + 4)];
  }
}

// Fused (conv): float32[1,3,5,5] float32[4,3,3,3] float32[4] -> float32[1,4,5,5]
void conv_8e13145ea6ed(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  float* restrict const x2 = (float*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    f32x4 sum_0, sum_1, sum_2, sum_3, sum_4;
    sum_0 = ((f32x4)*(const f32x4_in_memory*)(x2 + (0)));
    sum_1 = ((f32x4)*(const f32x4_in_memory*)(x2 + (0)));
    sum_2 = ((f32x4)*(const f32x4_in_memory*)(x2 + (0)));
    sum_3 = ((f32x4)*(const f32x4_in_memory*)(x2 + (0)));
    sum_4 = ((f32x4)*(const f32x4_in_memory*)(x2 + (0)));
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        __builtin_prefetch(x0 + (((((c * 49) + (k0 * 7)) + (o0 * 7)) + 7)), 0, 2);
        sum_0 = (x0[(((c * 49) + (k0 * 7)) + (o0 * 7))] * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_0);
        sum_1 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 1)] * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_1);
        sum_2 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 2)] * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_2);
        sum_3 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 3)] * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_3);
        sum_4 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 4)] * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_4);
        sum_0 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 1)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_0);
        sum_1 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 2)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_1);
        sum_2 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 3)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_2);
        sum_3 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 4)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_3);
        sum_4 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 5)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_4);
        sum_0 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 2)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_0);
        sum_1 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 3)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_1);
        sum_2 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 4)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_2);
        sum_3 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 5)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_3);
        sum_4 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 6)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_4);
      }
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_0);
      y0[(o0 * 5)] = value[0];
      y0[((o0 * 5) + 25)] = value[1];
      y0[((o0 * 5) + 50)] = value[2];
      y0[((o0 * 5) + 75)] = value[3];
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_1);
      y0[((o0 * 5) + 1)] = value[0];
      y0[((o0 * 5) + 26)] = value[1];
      y0[((o0 * 5) + 51)] = value[2];
      y0[((o0 * 5) + 76)] = value[3];
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_2);
      y0[((o0 * 5) + 2)] = value[0];
      y0[((o0 * 5) + 27)] = value[1];
      y0[((o0 * 5) + 52)] = value[2];
      y0[((o0 * 5) + 77)] = value[3];
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_3);
      y0[((o0 * 5) + 3)] = value[0];
      y0[((o0 * 5) + 28)] = value[1];
      y0[((o0 * 5) + 53)] = value[2];
      y0[((o0 * 5) + 78)] = value[3];
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_4);
      y0[((o0 * 5) + 4)] = value[0];
      y0[((o0 * 5) + 29)] = value[1];
      y0[((o0 * 5) + 54)] = value[2];
      y0[((o0 * 5) + 79)] = value[3];
    }
  }
}
