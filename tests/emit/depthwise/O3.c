// zero border of float32[1,8,4,4] layout 1/16,h2+1+0,h3+1+0
void border_6124edfc29c9(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t d3 = 0; d3 < 5; ++d3) {
      *(f32x8_in_memory*)(y0 + ((d3 * 16))) = splat_f32x8(0.0f);
      *(f32x8_in_memory*)(y0 + (((d3 * 16) + 8))) = splat_f32x8(0.0f);
    }
    for (int64_t d2 = 0; d2 < 4; ++d2) {
      *(f32x8_in_memory*)(y0 + (((d2 * 80) + 80))) = splat_f32x8(0.0f);
      *(f32x8_in_memory*)(y0 + (((d2 * 80) + 88))) = splat_f32x8(0.0f);
    }
  }
}

// Identity (map): float32[1,8,4,4] -> float32[1,8,4,4]
void map_105a5f3ef42e(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d2 = task / 8;
    const int64_t d1 = task % 8;
    for (int64_t d3 = 0; d3 < 4; ++d3) {
      y0[(((d1 + (d2 * 80)) + (d3 * 16)) + 96)] = x0[(((d1 * 16) + (d2 * 4)) + d3)];
    }
  }
}

// Conv (conv): float32[1,8,4,4] float32[8,1,3,3] -> float32[1,8,2,2]
void conv_8271e8d99b5a(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    f32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1;
    sum_0_0 = splat_f32x8(0.0f);
    sum_0_1 = splat_f32x8(0.0f);
    sum_1_0 = splat_f32x8(0.0f);
    sum_1_1 = splat_f32x8(0.0f);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + ((o0 * 160)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (0))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 8)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (8))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 32)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (0))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 40)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (8))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 16)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (16))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 24)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (24))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 48)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (16))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 56)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (24))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 32)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (32))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 40)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (40))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 64)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (32))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 72)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (40))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 80)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (48))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 88)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (56))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 112)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (48))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 120)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (56))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 96)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (64))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 104)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (72))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 128)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (64))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 136)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (72))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 112)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (80))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 120)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (88))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 144)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (80))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 152)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (88))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 160)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (96))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 168)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (104))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 192)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (96))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 200)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (104))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 176)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (112))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 184)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (120))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 208)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (112))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 216)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (120))) + sum_1_1);
    sum_0_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 192)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (128))) + sum_0_0);
    sum_0_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 200)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (136))) + sum_0_1);
    sum_1_0 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 224)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (128))) + sum_1_0);
    sum_1_1 = (((f32x8)*(const f32x8_in_memory*)(x0 + (((o0 * 160) + 232)))) * ((f32x8)*(const f32x8_in_memory*)(x1 + (136))) + sum_1_1);
    *(f32x8_in_memory*)(y0 + ((o0 * 32))) = sum_0_0;
    *(f32x8_in_memory*)(y0 + (((o0 * 32) + 8))) = sum_0_1;
    *(f32x8_in_memory*)(y0 + (((o0 * 32) + 16))) = sum_1_0;
    *(f32x8_in_memory*)(y0 + (((o0 * 32) + 24))) = sum_1_1;
  }
}

// Conv (conv): float32[1,8,2,2] float32[3,8,1,1] -> float32[1,3,2,2]
void conv_f5bfd8928b9a(void* const* args, int64_t begin, int64_t end) {
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
          sum_0 = (x0[(c + (o0 * 32))] * ((f32x2)*(const f32x2_in_memory*)(x1 + ((c * 16)))) + sum_0);
          sum_1 = (x0[((c + (o0 * 32)) + 16)] * ((f32x2)*(const f32x2_in_memory*)(x1 + ((c * 16)))) + sum_1);
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
          sum_0 = (x0[(c + (o0 * 32))] * x1[((c * 16) + 2)] + sum_0);
          sum_1 = (x0[((c + (o0 * 32)) + 16)] * x1[((c * 16) + 2)] + sum_1);
        }
        y0[((o0 * 2) + 8)] = sum_0;
        y0[((o0 * 2) + 9)] = sum_1;
      }
    }
  }
}
