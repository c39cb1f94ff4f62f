// zero border of float32[1,3,5,7] layout h2+1+1,h3+1+1
void border_25f2c4b70ccd(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d3 = 0; d3 < 9; ++d3) {
        y0[((d1 * 63) + d3)] = 0.0f;
      }
    }
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d3 = 0; d3 < 9; ++d3) {
        y0[(((d1 * 63) + d3) + 54)] = 0.0f;
      }
    }
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 63) + (d2 * 9)) + 9)] = 0.0f;
      }
    }
    for (int64_t d1 = 0; d1 < 3; ++d1) {
      for (int64_t d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 63) + (d2 * 9)) + 17)] = 0.0f;
      }
    }
  }
}

// Identity (map): float32[1,3,5,7] -> float32[1,3,5,7]
void map_6a3724012d81(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task / 5;
    const int64_t d2 = task % 5;
    *(f32x4_in_memory*)(y0 + ((((d1 * 63) + (d2 * 9)) + 10))) = ((f32x4)*(const f32x4_in_memory*)(x0 + (((d1 * 35) + (d2 * 7)))));
    *(f32x2_in_memory*)(y0 + ((((d1 * 63) + (d2 * 9)) + 14))) = ((f32x2)*(const f32x2_in_memory*)(x0 + ((((d1 * 35) + (d2 * 7)) + 4))));
    y0[(((d1 * 63) + (d2 * 9)) + 16)] = x0[(((d1 * 35) + (d2 * 7)) + 6)];
  }
}

// Fused (conv): float32[1,3,5,7] float32[20,3,3,3] float32[20] -> float32[1,20,5,7]
void conv_784819dc324b(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  float* restrict const x2 = (float*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        f32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
        sum_0_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
        sum_0_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
        sum_1_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
        sum_1_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
        sum_2_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
        sum_2_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
        sum_3_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
        sum_3_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
        for (int64_t c = 0; c < 3; ++c) {
          for (int64_t k0 = 0; k0 < 3; ++k0) {
            __builtin_prefetch(x0 + (((((c * 63) + (k0 * 9)) + (o0 * 9)) + 9)), 0, 2);
            sum_0_0 = (x0[(((c * 63) + (k0 * 9)) + (o0 * 9))] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_0_0);
            sum_0_1 = (x0[(((c * 63) + (k0 * 9)) + (o0 * 9))] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_0_1);
            sum_1_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_1_0);
            sum_1_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_1_1);
            sum_2_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_2_0);
            sum_2_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_2_1);
            sum_3_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_3_0);
            sum_3_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_3_1);
            sum_0_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_0_0);
            sum_0_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_0_1);
            sum_1_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_1_0);
            sum_1_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_1_1);
            sum_2_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_2_0);
            sum_2_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_2_1);
            sum_3_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_3_0);
            sum_3_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_3_1);
            sum_0_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_0_0);
            sum_0_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_0_1);
            sum_1_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_1_0);
            sum_1_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_1_1);
            sum_2_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_2_0);
            sum_2_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_2_1);
            sum_3_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_3_0);
            sum_3_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_3_1);
          }
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_0_0);
          y0[(o0 * 7)] = value[0];
          y0[((o0 * 7) + 35)] = value[1];
          y0[((o0 * 7) + 70)] = value[2];
          y0[((o0 * 7) + 105)] = value[3];
          y0[((o0 * 7) + 140)] = value[4];
          y0[((o0 * 7) + 175)] = value[5];
          y0[((o0 * 7) + 210)] = value[6];
          y0[((o0 * 7) + 245)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_0_1);
          y0[((o0 * 7) + 280)] = value[0];
          y0[((o0 * 7) + 315)] = value[1];
          y0[((o0 * 7) + 350)] = value[2];
          y0[((o0 * 7) + 385)] = value[3];
          y0[((o0 * 7) + 420)] = value[4];
          y0[((o0 * 7) + 455)] = value[5];
          y0[((o0 * 7) + 490)] = value[6];
          y0[((o0 * 7) + 525)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_1_0);
          y0[((o0 * 7) + 1)] = value[0];
          y0[((o0 * 7) + 36)] = value[1];
          y0[((o0 * 7) + 71)] = value[2];
          y0[((o0 * 7) + 106)] = value[3];
          y0[((o0 * 7) + 141)] = value[4];
          y0[((o0 * 7) + 176)] = value[5];
          y0[((o0 * 7) + 211)] = value[6];
          y0[((o0 * 7) + 246)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_1_1);
          y0[((o0 * 7) + 281)] = value[0];
          y0[((o0 * 7) + 316)] = value[1];
          y0[((o0 * 7) + 351)] = value[2];
          y0[((o0 * 7) + 386)] = value[3];
          y0[((o0 * 7) + 421)] = value[4];
          y0[((o0 * 7) + 456)] = value[5];
          y0[((o0 * 7) + 491)] = value[6];
          y0[((o0 * 7) + 526)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_2_0);
          y0[((o0 * 7) + 2)] = value[0];
          y0[((o0 * 7) + 37)] = value[1];
          y0[((o0 * 7) + 72)] = value[2];
          y0[((o0 * 7) + 107)] = value[3];
          y0[((o0 * 7) + 142)] = value[4];
          y0[((o0 * 7) + 177)] = value[5];
          y0[((o0 * 7) + 212)] = value[6];
          y0[((o0 * 7) + 247)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_2_1);
          y0[((o0 * 7) + 282)] = value[0];
          y0[((o0 * 7) + 317)] = value[1];
          y0[((o0 * 7) + 352)] = value[2];
          y0[((o0 * 7) + 387)] = value[3];
          y0[((o0 * 7) + 422)] = value[4];
          y0[((o0 * 7) + 457)] = value[5];
          y0[((o0 * 7) + 492)] = value[6];
          y0[((o0 * 7) + 527)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_3_0);
          y0[((o0 * 7) + 3)] = value[0];
          y0[((o0 * 7) + 38)] = value[1];
          y0[((o0 * 7) + 73)] = value[2];
          y0[((o0 * 7) + 108)] = value[3];
          y0[((o0 * 7) + 143)] = value[4];
          y0[((o0 * 7) + 178)] = value[5];
          y0[((o0 * 7) + 213)] = value[6];
          y0[((o0 * 7) + 248)] = value[7];
        }
        {
          const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_3_1);
          y0[((o0 * 7) + 283)] = value[0];
          y0[((o0 * 7) + 318)] = value[1];
          y0[((o0 * 7) + 353)] = value[2];
          y0[((o0 * 7) + 388)] = value[3];
          y0[((o0 * 7) + 423)] = value[4];
          y0[((o0 * 7) + 458)] = value[5];
          y0[((o0 * 7) + 493)] = value[6];
          y0[((o0 * 7) + 528)] = value[7];
        }
      }
      f32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1;
      sum_0_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
      sum_0_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
      sum_1_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
      sum_1_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
      sum_2_0 = ((f32x8)*(const f32x8_in_memory*)(x2 + (0)));
      sum_2_1 = ((f32x8)*(const f32x8_in_memory*)(x2 + (8)));
      for (int64_t c = 0; c < 3; ++c) {
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          __builtin_prefetch(x0 + (((((c * 63) + (k0 * 9)) + (o0 * 9)) + 13)), 0, 2);
          sum_0_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_0_0);
          sum_0_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_0_1);
          sum_1_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_1_0);
          sum_1_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_1_1);
          sum_2_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x8)*(const f32x8_in_memory*)(x1 + (((c * 144) + (k0 * 48))))) + sum_2_0);
          sum_2_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 8)))) + sum_2_1);
          sum_0_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_0_0);
          sum_0_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_0_1);
          sum_1_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_1_0);
          sum_1_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_1_1);
          sum_2_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 16)))) + sum_2_0);
          sum_2_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 24)))) + sum_2_1);
          sum_0_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_0_0);
          sum_0_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_0_1);
          sum_1_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_1_0);
          sum_1_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_1_1);
          sum_2_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 8)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 32)))) + sum_2_0);
          sum_2_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 8)] * ((f32x8)*(const f32x8_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 40)))) + sum_2_1);
        }
      }
      {
        const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_0_0);
        y0[((o0 * 7) + 4)] = value[0];
        y0[((o0 * 7) + 39)] = value[1];
        y0[((o0 * 7) + 74)] = value[2];
        y0[((o0 * 7) + 109)] = value[3];
        y0[((o0 * 7) + 144)] = value[4];
        y0[((o0 * 7) + 179)] = value[5];
        y0[((o0 * 7) + 214)] = value[6];
        y0[((o0 * 7) + 249)] = value[7];
      }
      {
        const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_0_1);
        y0[((o0 * 7) + 284)] = value[0];
        y0[((o0 * 7) + 319)] = value[1];
        y0[((o0 * 7) + 354)] = value[2];
        y0[((o0 * 7) + 389)] = value[3];
        y0[((o0 * 7) + 424)] = value[4];
        y0[((o0 * 7) + 459)] = value[5];
        y0[((o0 * 7) + 494)] = value[6];
        y0[((o0 * 7) + 529)] = value[7];
      }
      {
        const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_1_0);
        y0[((o0 * 7) + 5)] = value[0];
        y0[((o0 * 7) + 40)] = value[1];
        y0[((o0 * 7) + 75)] = value[2];
        y0[((o0 * 7) + 110)] = value[3];
        y0[((o0 * 7) + 145)] = value[4];
        y0[((o0 * 7) + 180)] = value[5];
        y0[((o0 * 7) + 215)] = value[6];
        y0[((o0 * 7) + 250)] = value[7];
      }
      {
        const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_1_1);
        y0[((o0 * 7) + 285)] = value[0];
        y0[((o0 * 7) + 320)] = value[1];
        y0[((o0 * 7) + 355)] = value[2];
        y0[((o0 * 7) + 390)] = value[3];
        y0[((o0 * 7) + 425)] = value[4];
        y0[((o0 * 7) + 460)] = value[5];
        y0[((o0 * 7) + 495)] = value[6];
        y0[((o0 * 7) + 530)] = value[7];
      }
      {
        const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_2_0);
        y0[((o0 * 7) + 6)] = value[0];
        y0[((o0 * 7) + 41)] = value[1];
        y0[((o0 * 7) + 76)] = value[2];
        y0[((o0 * 7) + 111)] = value[3];
        y0[((o0 * 7) + 146)] = value[4];
        y0[((o0 * 7) + 181)] = value[5];
        y0[((o0 * 7) + 216)] = value[6];
        y0[((o0 * 7) + 251)] = value[7];
      }
      {
        const f32x8 value = max_f32x8(splat_f32x8(0.0f), sum_2_1);
        y0[((o0 * 7) + 286)] = value[0];
        y0[((o0 * 7) + 321)] = value[1];
        y0[((o0 * 7) + 356)] = value[2];
        y0[((o0 * 7) + 391)] = value[3];
        y0[((o0 * 7) + 426)] = value[4];
        y0[((o0 * 7) + 461)] = value[5];
        y0[((o0 * 7) + 496)] = value[6];
        y0[((o0 * 7) + 531)] = value[7];
      }
    }
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        f32x4 sum_0, sum_1, sum_2, sum_3;
        sum_0 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
        sum_1 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
        sum_2 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
        sum_3 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
        for (int64_t c = 0; c < 3; ++c) {
          for (int64_t k0 = 0; k0 < 3; ++k0) {
            __builtin_prefetch(x0 + (((((c * 63) + (k0 * 9)) + (o0 * 9)) + 9)), 0, 2);
            sum_0 = (x0[(((c * 63) + (k0 * 9)) + (o0 * 9))] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_3);
            sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_3);
            sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_3);
          }
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_0);
          y0[((o0 * 7) + 560)] = value[0];
          y0[((o0 * 7) + 595)] = value[1];
          y0[((o0 * 7) + 630)] = value[2];
          y0[((o0 * 7) + 665)] = value[3];
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_1);
          y0[((o0 * 7) + 561)] = value[0];
          y0[((o0 * 7) + 596)] = value[1];
          y0[((o0 * 7) + 631)] = value[2];
          y0[((o0 * 7) + 666)] = value[3];
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_2);
          y0[((o0 * 7) + 562)] = value[0];
          y0[((o0 * 7) + 597)] = value[1];
          y0[((o0 * 7) + 632)] = value[2];
          y0[((o0 * 7) + 667)] = value[3];
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_3);
          y0[((o0 * 7) + 563)] = value[0];
          y0[((o0 * 7) + 598)] = value[1];
          y0[((o0 * 7) + 633)] = value[2];
          y0[((o0 * 7) + 668)] = value[3];
        }
      }
      f32x4 sum_0, sum_1, sum_2;
      sum_0 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
      sum_1 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
      sum_2 = ((f32x4)*(const f32x4_in_memory*)(x2 + (16)));
      for (int64_t c = 0; c < 3; ++c) {
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          __builtin_prefetch(x0 + (((((c * 63) + (k0 * 9)) + (o0 * 9)) + 13)), 0, 2);
          sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_0);
          sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_1);
          sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 432)))) + sum_2);
          sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_0);
          sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_1);
          sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 448)))) + sum_2);
          sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_0);
          sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_1);
          sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 8)] * ((f32x4)*(const f32x4_in_memory*)(x1 + ((((c * 144) + (k0 * 48)) + 464)))) + sum_2);
        }
      }
      {
        const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_0);
        y0[((o0 * 7) + 564)] = value[0];
        y0[((o0 * 7) + 599)] = value[1];
        y0[((o0 * 7) + 634)] = value[2];
        y0[((o0 * 7) + 669)] = value[3];
      }
      {
        const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_1);
        y0[((o0 * 7) + 565)] = value[0];
        y0[((o0 * 7) + 600)] = value[1];
        y0[((o0 * 7) + 635)] = value[2];
        y0[((o0 * 7) + 670)] = value[3];
      }
      {
        const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_2);
        y0[((o0 * 7) + 566)] = value[0];
        y0[((o0 * 7) + 601)] = value[1];
        y0[((o0 * 7) + 636)] = value[2];
        y0[((o0 * 7) + 671)] = value[3];
      }
    }
  }
}
