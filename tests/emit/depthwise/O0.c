// Conv (conv): float32[1,8,4,4] float32[8,1,3,3] -> float32[1,8,2,2]
void conv_11c75e71819b(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t g = task / 4;
    const int64_t o0 = (task / 2) % 2;
    const int64_t o1 = task % 2;
    float sum;
    sum = 0.0f;
    for (int64_t k0 = 0; k0 < 3; ++k0) {
      for (int64_t k1 = 0; k1 < 3; ++k1) {
        sum = (sum + ((((0 <= ((k0 + (o0 * 2)) - 1)) && (0 <= ((k1 + (o1 * 2)) - 1))) ? x0[((((((g * 16) + (k0 * 4)) + k1) + (o0 * 8)) + (o1 * 2)) - 5)] : 0.0f) * x1[(((g * 9) + (k0 * 3)) + k1)]));
      }
    }
    y0[(((g * 4) + (o0 * 2)) + o1)] = sum;
  }
}

// Conv (conv): float32[1,8,2,2] float32[3,8,1,1] -> float32[1,3,2,2]
void conv_8f2d56996eb3(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t o0 = 0; o0 < 2; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        f32x2 sum_0, sum_1;
        sum_0 = splat_f32x2(0.0f);
        sum_1 = splat_f32x2(0.0f);
        for (int64_t c = 0; c < 8; ++c) {
          sum_0 = (sum_0 + (x0[((c * 4) + (o0 * 2))] * ((f32x2)*(const f32x2_in_memory*)(x1 + ((c * 16))))));
          sum_1 = (sum_1 + (x0[(((c * 4) + (o0 * 2)) + 1)] * ((f32x2)*(const f32x2_in_memory*)(x1 + ((c * 16))))));
        }
        {
          const f32x2 value = sum_0;
          y0[(o0 * 2)] = value[0];
          y0[((o0 * 2) + 4)] = value[1];
        }
        {
          const f32x2 value = sum_1;
          y0[((o0 * 2) + 1)] = value[0];
          y0[((o0 * 2) + 5)] = value[1];
        }
      }
    }
    for (int64_t o0 = 0; o0 < 2; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        float sum_0, sum_1;
        sum_0 = 0.0f;
        sum_1 = 0.0f;
        for (int64_t c = 0; c < 8; ++c) {
          sum_0 = (sum_0 + (x0[((c * 4) + (o0 * 2))] * x1[((c * 16) + 2)]));
          sum_1 = (sum_1 + (x0[(((c * 4) + (o0 * 2)) + 1)] * x1[((c * 16) + 2)]));
        }
        y0[((o0 * 2) + 8)] = sum_0;
        y0[((o0 * 2) + 9)] = sum_1;
      }
    }
  }
}
