// Conv (conv): float32[1,3,5,5] float32[4,3,3,3] float32[4] -> float32[1,4,5,5]
void conv_0d7e707d805a(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  float* restrict const x2 = (float*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    f32x4 sum_0, sum_1, sum_2, sum_3, sum_4;
    sum_0 = splat_f32x4(0.0f);
    sum_1 = splat_f32x4(0.0f);
    sum_2 = splat_f32x4(0.0f);
    sum_3 = splat_f32x4(0.0f);
    sum_4 = splat_f32x4(0.0f);
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        sum_0 = (sum_0 + (0.0f * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48)))))));
        sum_1 = (sum_1 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 5)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48)))))));
        sum_2 = (sum_2 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 4)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48)))))));
        sum_3 = (sum_3 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 3)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48)))))));
        sum_4 = (sum_4 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 2)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + (((c * 144) + (k0 * 48)))))));
        sum_0 = (sum_0 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 5)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16))))));
        sum_1 = (sum_1 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 4)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16))))));
        sum_2 = (sum_2 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 3)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16))))));
        sum_3 = (sum_3 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 2)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16))))));
        sum_4 = (sum_4 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 1)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16))))));
        sum_0 = (sum_0 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 4)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32))))));
        sum_1 = (sum_1 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 3)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32))))));
        sum_2 = (sum_2 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 2)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32))))));
        sum_3 = (sum_3 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 1)] : 0.0f) * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32))))));
        sum_4 = (sum_4 + (0.0f * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32))))));
      }
    }
    {
      const f32x4 value = (sum_0 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      y0[(o0 * 5)] = value[0];
      y0[((o0 * 5) + 25)] = value[1];
      y0[((o0 * 5) + 50)] = value[2];
      y0[((o0 * 5) + 75)] = value[3];
    }
    {
      const f32x4 value = (sum_1 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      y0[((o0 * 5) + 1)] = value[0];
      y0[((o0 * 5) + 26)] = value[1];
      y0[((o0 * 5) + 51)] = value[2];
      y0[((o0 * 5) + 76)] = value[3];
    }
    {
      const f32x4 value = (sum_2 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      y0[((o0 * 5) + 2)] = value[0];
      y0[((o0 * 5) + 27)] = value[1];
      y0[((o0 * 5) + 52)] = value[2];
      y0[((o0 * 5) + 77)] = value[3];
    }
    {
      const f32x4 value = (sum_3 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      y0[((o0 * 5) + 3)] = value[0];
      y0[((o0 * 5) + 28)] = value[1];
      y0[((o0 * 5) + 53)] = value[2];
      y0[((o0 * 5) + 78)] = value[3];
    }
    {
      const f32x4 value = (sum_4 + ((f32x4)*(const f32x4_in_memory*)(x2 + (0))));
      y0[((o0 * 5) + 4)] = value[0];
      y0[((o0 * 5) + 29)] = value[1];
      y0[((o0 * 5) + 54)] = value[2];
      y0[((o0 * 5) + 79)] = value[3];
    }
  }
}

// Relu (map): float32[1,4,5,5] -> float32[1,4,5,5]
void map_c48705b43d76(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t d1_o = 0; d1_o < 6; ++d1_o) {
      *(f32x8_in_memory*)(y0 + ((d1_o * 16))) = max_f32x8(splat_f32x8(0.0f), ((f32x8)*(const f32x8_in_memory*)(x0 + ((d1_o * 16)))));
      *(f32x8_in_memory*)(y0 + (((d1_o * 16) + 8))) = max_f32x8(splat_f32x8(0.0f), ((f32x8)*(const f32x8_in_memory*)(x0 + (((d1_o * 16) + 8)))));
    }
    *(f32x4_in_memory*)(y0 + (96)) = max_f32x4(splat_f32x4(0.0f), ((f32x4)*(const f32x4_in_memory*)(x0 + (96))));
  }
}
