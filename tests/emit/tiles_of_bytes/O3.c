// exact: products are rounded before they are added
// border of uint8[1,3,5,7] layout 1/4,h2+1+1,h3+1+1
void border_897e697c54ff(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t d3 = 0; d3 < 9; ++d3) {
      for (int64_t d1 = 0; d1 < 3; ++d1) {
        y0[(d1 + (d3 * 4))] = 130;
      }
    }
    for (int64_t d3 = 0; d3 < 9; ++d3) {
      for (int64_t d1 = 0; d1 < 3; ++d1) {
        y0[((d1 + (d3 * 4)) + 216)] = 130;
      }
    }
    for (int64_t d2 = 0; d2 < 5; ++d2) {
      for (int64_t d1 = 0; d1 < 3; ++d1) {
        y0[((d1 + (d2 * 36)) + 36)] = 130;
      }
    }
    for (int64_t d2 = 0; d2 < 5; ++d2) {
      for (int64_t d1 = 0; d1 < 3; ++d1) {
        y0[((d1 + (d2 * 36)) + 68)] = 130;
      }
    }
  }
}

// ToInteger (map): float32[1,3,5,7] -> uint8[1,3,5,7]
void map_28131796ebf8(void* const* args, int64_t begin, int64_t end) {
  int32_t* restrict const y0 = (int32_t*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d2 = task;
    *(i32x4_in_memory*)(y0 + (((d2 * 9) + 10))) = ((((round_quotient_i32x4(((f32x4)*(const f32x4_in_memory*)(x0 + ((d2 * 7)))), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130) & 255) | (((round_quotient_i32x4(((f32x4)*(const f32x4_in_memory*)(x0 + (((d2 * 7) + 35)))), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130) & 255) << 8)) | (((round_quotient_i32x4(((f32x4)*(const f32x4_in_memory*)(x0 + (((d2 * 7) + 70)))), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130) & 255) << 16));
    *(i32x2_in_memory*)(y0 + (((d2 * 9) + 14))) = ((((round_quotient_i32x2(((f32x2)*(const f32x2_in_memory*)(x0 + (((d2 * 7) + 4)))), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130) & 255) | (((round_quotient_i32x2(((f32x2)*(const f32x2_in_memory*)(x0 + (((d2 * 7) + 39)))), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130) & 255) << 8)) | (((round_quotient_i32x2(((f32x2)*(const f32x2_in_memory*)(x0 + (((d2 * 7) + 74)))), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130) & 255) << 16));
    y0[((d2 * 9) + 16)] = ((((((int32_t)round_even_f32(min_f32(max_f32((x0[((d2 * 7) + 6)] / 0x1.eb851ep-6f), (-130.0f)), 125.0f))) + 130) & 255) | (((((int32_t)round_even_f32(min_f32(max_f32((x0[((d2 * 7) + 41)] / 0x1.eb851ep-6f), (-130.0f)), 125.0f))) + 130) & 255) << 8)) | (((((int32_t)round_even_f32(min_f32(max_f32((x0[((d2 * 7) + 76)] / 0x1.eb851ep-6f), (-130.0f)), 125.0f))) + 130) & 255) << 16));
  }
}

// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,3,5,7] int8[20,3,3,3] int32[20] float32[20] -> uint8[1,20,5,7]
static void quantized_conv_96ff54a6f438_plain(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  int32_t* restrict const x2 = (int32_t*)args[1];
  uint8_t* restrict const x0 = (uint8_t*)args[2];
  int8_t* restrict const x1 = (int8_t*)args[3];
  float* restrict const x3 = (float*)args[4];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
        sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_3_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_3_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 3; ++k1) {
            sum_0_0 = dot4_u8_i32x8(sum_0_0, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + (((k0 * 192) + (k1 * 64))));
            sum_0_1 = dot4_u8_i32x8(sum_0_1, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_1_0 = dot4_u8_i32x8(sum_1_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_1_1 = dot4_u8_i32x8(sum_1_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_2_0 = dot4_u8_i32x8(sum_2_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_2_1 = dot4_u8_i32x8(sum_2_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_3_0 = dot4_u8_i32x8(sum_3_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_3_1 = dot4_u8_i32x8(sum_3_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          }
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[(o0 * 7)] = (uint8_t)value[0];
          y0[((o0 * 7) + 35)] = (uint8_t)value[1];
          y0[((o0 * 7) + 70)] = (uint8_t)value[2];
          y0[((o0 * 7) + 105)] = (uint8_t)value[3];
          y0[((o0 * 7) + 140)] = (uint8_t)value[4];
          y0[((o0 * 7) + 175)] = (uint8_t)value[5];
          y0[((o0 * 7) + 210)] = (uint8_t)value[6];
          y0[((o0 * 7) + 245)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 280)] = (uint8_t)value[0];
          y0[((o0 * 7) + 315)] = (uint8_t)value[1];
          y0[((o0 * 7) + 350)] = (uint8_t)value[2];
          y0[((o0 * 7) + 385)] = (uint8_t)value[3];
          y0[((o0 * 7) + 420)] = (uint8_t)value[4];
          y0[((o0 * 7) + 455)] = (uint8_t)value[5];
          y0[((o0 * 7) + 490)] = (uint8_t)value[6];
          y0[((o0 * 7) + 525)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 1)] = (uint8_t)value[0];
          y0[((o0 * 7) + 36)] = (uint8_t)value[1];
          y0[((o0 * 7) + 71)] = (uint8_t)value[2];
          y0[((o0 * 7) + 106)] = (uint8_t)value[3];
          y0[((o0 * 7) + 141)] = (uint8_t)value[4];
          y0[((o0 * 7) + 176)] = (uint8_t)value[5];
          y0[((o0 * 7) + 211)] = (uint8_t)value[6];
          y0[((o0 * 7) + 246)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 281)] = (uint8_t)value[0];
          y0[((o0 * 7) + 316)] = (uint8_t)value[1];
          y0[((o0 * 7) + 351)] = (uint8_t)value[2];
          y0[((o0 * 7) + 386)] = (uint8_t)value[3];
          y0[((o0 * 7) + 421)] = (uint8_t)value[4];
          y0[((o0 * 7) + 456)] = (uint8_t)value[5];
          y0[((o0 * 7) + 491)] = (uint8_t)value[6];
          y0[((o0 * 7) + 526)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 2)] = (uint8_t)value[0];
          y0[((o0 * 7) + 37)] = (uint8_t)value[1];
          y0[((o0 * 7) + 72)] = (uint8_t)value[2];
          y0[((o0 * 7) + 107)] = (uint8_t)value[3];
          y0[((o0 * 7) + 142)] = (uint8_t)value[4];
          y0[((o0 * 7) + 177)] = (uint8_t)value[5];
          y0[((o0 * 7) + 212)] = (uint8_t)value[6];
          y0[((o0 * 7) + 247)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 282)] = (uint8_t)value[0];
          y0[((o0 * 7) + 317)] = (uint8_t)value[1];
          y0[((o0 * 7) + 352)] = (uint8_t)value[2];
          y0[((o0 * 7) + 387)] = (uint8_t)value[3];
          y0[((o0 * 7) + 422)] = (uint8_t)value[4];
          y0[((o0 * 7) + 457)] = (uint8_t)value[5];
          y0[((o0 * 7) + 492)] = (uint8_t)value[6];
          y0[((o0 * 7) + 527)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_3_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 3)] = (uint8_t)value[0];
          y0[((o0 * 7) + 38)] = (uint8_t)value[1];
          y0[((o0 * 7) + 73)] = (uint8_t)value[2];
          y0[((o0 * 7) + 108)] = (uint8_t)value[3];
          y0[((o0 * 7) + 143)] = (uint8_t)value[4];
          y0[((o0 * 7) + 178)] = (uint8_t)value[5];
          y0[((o0 * 7) + 213)] = (uint8_t)value[6];
          y0[((o0 * 7) + 248)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_3_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 283)] = (uint8_t)value[0];
          y0[((o0 * 7) + 318)] = (uint8_t)value[1];
          y0[((o0 * 7) + 353)] = (uint8_t)value[2];
          y0[((o0 * 7) + 388)] = (uint8_t)value[3];
          y0[((o0 * 7) + 423)] = (uint8_t)value[4];
          y0[((o0 * 7) + 458)] = (uint8_t)value[5];
          y0[((o0 * 7) + 493)] = (uint8_t)value[6];
          y0[((o0 * 7) + 528)] = (uint8_t)value[7];
        }
      }
      i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1;
      sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
          sum_0_0 = dot4_u8_i32x8(sum_0_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_0_1 = dot4_u8_i32x8(sum_0_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          sum_1_0 = dot4_u8_i32x8(sum_1_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_1_1 = dot4_u8_i32x8(sum_1_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          sum_2_0 = dot4_u8_i32x8(sum_2_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_2_1 = dot4_u8_i32x8(sum_2_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
        }
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 4)] = (uint8_t)value[0];
        y0[((o0 * 7) + 39)] = (uint8_t)value[1];
        y0[((o0 * 7) + 74)] = (uint8_t)value[2];
        y0[((o0 * 7) + 109)] = (uint8_t)value[3];
        y0[((o0 * 7) + 144)] = (uint8_t)value[4];
        y0[((o0 * 7) + 179)] = (uint8_t)value[5];
        y0[((o0 * 7) + 214)] = (uint8_t)value[6];
        y0[((o0 * 7) + 249)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 284)] = (uint8_t)value[0];
        y0[((o0 * 7) + 319)] = (uint8_t)value[1];
        y0[((o0 * 7) + 354)] = (uint8_t)value[2];
        y0[((o0 * 7) + 389)] = (uint8_t)value[3];
        y0[((o0 * 7) + 424)] = (uint8_t)value[4];
        y0[((o0 * 7) + 459)] = (uint8_t)value[5];
        y0[((o0 * 7) + 494)] = (uint8_t)value[6];
        y0[((o0 * 7) + 529)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 5)] = (uint8_t)value[0];
        y0[((o0 * 7) + 40)] = (uint8_t)value[1];
        y0[((o0 * 7) + 75)] = (uint8_t)value[2];
        y0[((o0 * 7) + 110)] = (uint8_t)value[3];
        y0[((o0 * 7) + 145)] = (uint8_t)value[4];
        y0[((o0 * 7) + 180)] = (uint8_t)value[5];
        y0[((o0 * 7) + 215)] = (uint8_t)value[6];
        y0[((o0 * 7) + 250)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 285)] = (uint8_t)value[0];
        y0[((o0 * 7) + 320)] = (uint8_t)value[1];
        y0[((o0 * 7) + 355)] = (uint8_t)value[2];
        y0[((o0 * 7) + 390)] = (uint8_t)value[3];
        y0[((o0 * 7) + 425)] = (uint8_t)value[4];
        y0[((o0 * 7) + 460)] = (uint8_t)value[5];
        y0[((o0 * 7) + 495)] = (uint8_t)value[6];
        y0[((o0 * 7) + 530)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 6)] = (uint8_t)value[0];
        y0[((o0 * 7) + 41)] = (uint8_t)value[1];
        y0[((o0 * 7) + 76)] = (uint8_t)value[2];
        y0[((o0 * 7) + 111)] = (uint8_t)value[3];
        y0[((o0 * 7) + 146)] = (uint8_t)value[4];
        y0[((o0 * 7) + 181)] = (uint8_t)value[5];
        y0[((o0 * 7) + 216)] = (uint8_t)value[6];
        y0[((o0 * 7) + 251)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 286)] = (uint8_t)value[0];
        y0[((o0 * 7) + 321)] = (uint8_t)value[1];
        y0[((o0 * 7) + 356)] = (uint8_t)value[2];
        y0[((o0 * 7) + 391)] = (uint8_t)value[3];
        y0[((o0 * 7) + 426)] = (uint8_t)value[4];
        y0[((o0 * 7) + 461)] = (uint8_t)value[5];
        y0[((o0 * 7) + 496)] = (uint8_t)value[6];
        y0[((o0 * 7) + 531)] = (uint8_t)value[7];
      }
    }
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        i32x4 sum_0, sum_1, sum_2, sum_3;
        sum_0 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_1 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_2 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_3 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 3; ++k1) {
            sum_0 = dot4_u8_i32x4(sum_0, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_1 = dot4_u8_i32x4(sum_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_2 = dot4_u8_i32x4(sum_2, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_3 = dot4_u8_i32x4(sum_3, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          }
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_0) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 560)] = (uint8_t)value[0];
          y0[((o0 * 7) + 595)] = (uint8_t)value[1];
          y0[((o0 * 7) + 630)] = (uint8_t)value[2];
          y0[((o0 * 7) + 665)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_1) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 561)] = (uint8_t)value[0];
          y0[((o0 * 7) + 596)] = (uint8_t)value[1];
          y0[((o0 * 7) + 631)] = (uint8_t)value[2];
          y0[((o0 * 7) + 666)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_2) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 562)] = (uint8_t)value[0];
          y0[((o0 * 7) + 597)] = (uint8_t)value[1];
          y0[((o0 * 7) + 632)] = (uint8_t)value[2];
          y0[((o0 * 7) + 667)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_3) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 563)] = (uint8_t)value[0];
          y0[((o0 * 7) + 598)] = (uint8_t)value[1];
          y0[((o0 * 7) + 633)] = (uint8_t)value[2];
          y0[((o0 * 7) + 668)] = (uint8_t)value[3];
        }
      }
      i32x4 sum_0, sum_1, sum_2;
      sum_0 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      sum_1 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      sum_2 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
          sum_0 = dot4_u8_i32x4(sum_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          sum_1 = dot4_u8_i32x4(sum_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          sum_2 = dot4_u8_i32x4(sum_2, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
        }
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_0) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 564)] = (uint8_t)value[0];
        y0[((o0 * 7) + 599)] = (uint8_t)value[1];
        y0[((o0 * 7) + 634)] = (uint8_t)value[2];
        y0[((o0 * 7) + 669)] = (uint8_t)value[3];
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_1) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 565)] = (uint8_t)value[0];
        y0[((o0 * 7) + 600)] = (uint8_t)value[1];
        y0[((o0 * 7) + 635)] = (uint8_t)value[2];
        y0[((o0 * 7) + 670)] = (uint8_t)value[3];
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_2) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 566)] = (uint8_t)value[0];
        y0[((o0 * 7) + 601)] = (uint8_t)value[1];
        y0[((o0 * 7) + 636)] = (uint8_t)value[2];
        y0[((o0 * 7) + 671)] = (uint8_t)value[3];
      }
    }
  }
}
#if defined(__AVX2__) && defined(__FMA__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,3,5,7] int8[20,3,3,3] int32[20] float32[20] -> uint8[1,20,5,7]
__attribute__((target("avx512vnni"))) static void quantized_conv_96ff54a6f438_dot(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  int32_t* restrict const x2 = (int32_t*)args[1];
  uint8_t* restrict const x0 = (uint8_t*)args[2];
  int8_t* restrict const x1 = (int8_t*)args[3];
  float* restrict const x3 = (float*)args[4];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
        sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_3_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_3_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 3; ++k1) {
            sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + (((k0 * 192) + (k1 * 64))));
            sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_3_0 = dot4v_u8_i32x8(sum_3_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_3_1 = dot4v_u8_i32x8(sum_3_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          }
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[(o0 * 7)] = (uint8_t)value[0];
          y0[((o0 * 7) + 35)] = (uint8_t)value[1];
          y0[((o0 * 7) + 70)] = (uint8_t)value[2];
          y0[((o0 * 7) + 105)] = (uint8_t)value[3];
          y0[((o0 * 7) + 140)] = (uint8_t)value[4];
          y0[((o0 * 7) + 175)] = (uint8_t)value[5];
          y0[((o0 * 7) + 210)] = (uint8_t)value[6];
          y0[((o0 * 7) + 245)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 280)] = (uint8_t)value[0];
          y0[((o0 * 7) + 315)] = (uint8_t)value[1];
          y0[((o0 * 7) + 350)] = (uint8_t)value[2];
          y0[((o0 * 7) + 385)] = (uint8_t)value[3];
          y0[((o0 * 7) + 420)] = (uint8_t)value[4];
          y0[((o0 * 7) + 455)] = (uint8_t)value[5];
          y0[((o0 * 7) + 490)] = (uint8_t)value[6];
          y0[((o0 * 7) + 525)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 1)] = (uint8_t)value[0];
          y0[((o0 * 7) + 36)] = (uint8_t)value[1];
          y0[((o0 * 7) + 71)] = (uint8_t)value[2];
          y0[((o0 * 7) + 106)] = (uint8_t)value[3];
          y0[((o0 * 7) + 141)] = (uint8_t)value[4];
          y0[((o0 * 7) + 176)] = (uint8_t)value[5];
          y0[((o0 * 7) + 211)] = (uint8_t)value[6];
          y0[((o0 * 7) + 246)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 281)] = (uint8_t)value[0];
          y0[((o0 * 7) + 316)] = (uint8_t)value[1];
          y0[((o0 * 7) + 351)] = (uint8_t)value[2];
          y0[((o0 * 7) + 386)] = (uint8_t)value[3];
          y0[((o0 * 7) + 421)] = (uint8_t)value[4];
          y0[((o0 * 7) + 456)] = (uint8_t)value[5];
          y0[((o0 * 7) + 491)] = (uint8_t)value[6];
          y0[((o0 * 7) + 526)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 2)] = (uint8_t)value[0];
          y0[((o0 * 7) + 37)] = (uint8_t)value[1];
          y0[((o0 * 7) + 72)] = (uint8_t)value[2];
          y0[((o0 * 7) + 107)] = (uint8_t)value[3];
          y0[((o0 * 7) + 142)] = (uint8_t)value[4];
          y0[((o0 * 7) + 177)] = (uint8_t)value[5];
          y0[((o0 * 7) + 212)] = (uint8_t)value[6];
          y0[((o0 * 7) + 247)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 282)] = (uint8_t)value[0];
          y0[((o0 * 7) + 317)] = (uint8_t)value[1];
          y0[((o0 * 7) + 352)] = (uint8_t)value[2];
          y0[((o0 * 7) + 387)] = (uint8_t)value[3];
          y0[((o0 * 7) + 422)] = (uint8_t)value[4];
          y0[((o0 * 7) + 457)] = (uint8_t)value[5];
          y0[((o0 * 7) + 492)] = (uint8_t)value[6];
          y0[((o0 * 7) + 527)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_3_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 3)] = (uint8_t)value[0];
          y0[((o0 * 7) + 38)] = (uint8_t)value[1];
          y0[((o0 * 7) + 73)] = (uint8_t)value[2];
          y0[((o0 * 7) + 108)] = (uint8_t)value[3];
          y0[((o0 * 7) + 143)] = (uint8_t)value[4];
          y0[((o0 * 7) + 178)] = (uint8_t)value[5];
          y0[((o0 * 7) + 213)] = (uint8_t)value[6];
          y0[((o0 * 7) + 248)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_3_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 283)] = (uint8_t)value[0];
          y0[((o0 * 7) + 318)] = (uint8_t)value[1];
          y0[((o0 * 7) + 353)] = (uint8_t)value[2];
          y0[((o0 * 7) + 388)] = (uint8_t)value[3];
          y0[((o0 * 7) + 423)] = (uint8_t)value[4];
          y0[((o0 * 7) + 458)] = (uint8_t)value[5];
          y0[((o0 * 7) + 493)] = (uint8_t)value[6];
          y0[((o0 * 7) + 528)] = (uint8_t)value[7];
        }
      }
      i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1;
      sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
          sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
        }
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 4)] = (uint8_t)value[0];
        y0[((o0 * 7) + 39)] = (uint8_t)value[1];
        y0[((o0 * 7) + 74)] = (uint8_t)value[2];
        y0[((o0 * 7) + 109)] = (uint8_t)value[3];
        y0[((o0 * 7) + 144)] = (uint8_t)value[4];
        y0[((o0 * 7) + 179)] = (uint8_t)value[5];
        y0[((o0 * 7) + 214)] = (uint8_t)value[6];
        y0[((o0 * 7) + 249)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 284)] = (uint8_t)value[0];
        y0[((o0 * 7) + 319)] = (uint8_t)value[1];
        y0[((o0 * 7) + 354)] = (uint8_t)value[2];
        y0[((o0 * 7) + 389)] = (uint8_t)value[3];
        y0[((o0 * 7) + 424)] = (uint8_t)value[4];
        y0[((o0 * 7) + 459)] = (uint8_t)value[5];
        y0[((o0 * 7) + 494)] = (uint8_t)value[6];
        y0[((o0 * 7) + 529)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 5)] = (uint8_t)value[0];
        y0[((o0 * 7) + 40)] = (uint8_t)value[1];
        y0[((o0 * 7) + 75)] = (uint8_t)value[2];
        y0[((o0 * 7) + 110)] = (uint8_t)value[3];
        y0[((o0 * 7) + 145)] = (uint8_t)value[4];
        y0[((o0 * 7) + 180)] = (uint8_t)value[5];
        y0[((o0 * 7) + 215)] = (uint8_t)value[6];
        y0[((o0 * 7) + 250)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 285)] = (uint8_t)value[0];
        y0[((o0 * 7) + 320)] = (uint8_t)value[1];
        y0[((o0 * 7) + 355)] = (uint8_t)value[2];
        y0[((o0 * 7) + 390)] = (uint8_t)value[3];
        y0[((o0 * 7) + 425)] = (uint8_t)value[4];
        y0[((o0 * 7) + 460)] = (uint8_t)value[5];
        y0[((o0 * 7) + 495)] = (uint8_t)value[6];
        y0[((o0 * 7) + 530)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 6)] = (uint8_t)value[0];
        y0[((o0 * 7) + 41)] = (uint8_t)value[1];
        y0[((o0 * 7) + 76)] = (uint8_t)value[2];
        y0[((o0 * 7) + 111)] = (uint8_t)value[3];
        y0[((o0 * 7) + 146)] = (uint8_t)value[4];
        y0[((o0 * 7) + 181)] = (uint8_t)value[5];
        y0[((o0 * 7) + 216)] = (uint8_t)value[6];
        y0[((o0 * 7) + 251)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 286)] = (uint8_t)value[0];
        y0[((o0 * 7) + 321)] = (uint8_t)value[1];
        y0[((o0 * 7) + 356)] = (uint8_t)value[2];
        y0[((o0 * 7) + 391)] = (uint8_t)value[3];
        y0[((o0 * 7) + 426)] = (uint8_t)value[4];
        y0[((o0 * 7) + 461)] = (uint8_t)value[5];
        y0[((o0 * 7) + 496)] = (uint8_t)value[6];
        y0[((o0 * 7) + 531)] = (uint8_t)value[7];
      }
    }
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        i32x4 sum_0, sum_1, sum_2, sum_3;
        sum_0 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_1 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_2 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_3 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 3; ++k1) {
            sum_0 = dot4v_u8_i32x4(sum_0, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_1 = dot4v_u8_i32x4(sum_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_2 = dot4v_u8_i32x4(sum_2, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_3 = dot4v_u8_i32x4(sum_3, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          }
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_0) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 560)] = (uint8_t)value[0];
          y0[((o0 * 7) + 595)] = (uint8_t)value[1];
          y0[((o0 * 7) + 630)] = (uint8_t)value[2];
          y0[((o0 * 7) + 665)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_1) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 561)] = (uint8_t)value[0];
          y0[((o0 * 7) + 596)] = (uint8_t)value[1];
          y0[((o0 * 7) + 631)] = (uint8_t)value[2];
          y0[((o0 * 7) + 666)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_2) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 562)] = (uint8_t)value[0];
          y0[((o0 * 7) + 597)] = (uint8_t)value[1];
          y0[((o0 * 7) + 632)] = (uint8_t)value[2];
          y0[((o0 * 7) + 667)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_3) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 563)] = (uint8_t)value[0];
          y0[((o0 * 7) + 598)] = (uint8_t)value[1];
          y0[((o0 * 7) + 633)] = (uint8_t)value[2];
          y0[((o0 * 7) + 668)] = (uint8_t)value[3];
        }
      }
      i32x4 sum_0, sum_1, sum_2;
      sum_0 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      sum_1 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      sum_2 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
          sum_0 = dot4v_u8_i32x4(sum_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          sum_1 = dot4v_u8_i32x4(sum_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          sum_2 = dot4v_u8_i32x4(sum_2, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
        }
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_0) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 564)] = (uint8_t)value[0];
        y0[((o0 * 7) + 599)] = (uint8_t)value[1];
        y0[((o0 * 7) + 634)] = (uint8_t)value[2];
        y0[((o0 * 7) + 669)] = (uint8_t)value[3];
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_1) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 565)] = (uint8_t)value[0];
        y0[((o0 * 7) + 600)] = (uint8_t)value[1];
        y0[((o0 * 7) + 635)] = (uint8_t)value[2];
        y0[((o0 * 7) + 670)] = (uint8_t)value[3];
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_2) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 566)] = (uint8_t)value[0];
        y0[((o0 * 7) + 601)] = (uint8_t)value[1];
        y0[((o0 * 7) + 636)] = (uint8_t)value[2];
        y0[((o0 * 7) + 671)] = (uint8_t)value[3];
      }
    }
  }
}
void quantized_conv_96ff54a6f438(void* const* args, int64_t begin, int64_t end) {
  if (__builtin_cpu_supports("avx512vnni")) {
    quantized_conv_96ff54a6f438_dot(args, begin, end);
  } else {
    quantized_conv_96ff54a6f438_plain(args, begin, end);
  }
}
#elif defined(__AVX2__) && defined(__FMA__) && !defined(__clang__)
// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,3,5,7] int8[20,3,3,3] int32[20] float32[20] -> uint8[1,20,5,7]
__attribute__((target("avxvnni"))) static void quantized_conv_96ff54a6f438_dot(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  int32_t* restrict const x2 = (int32_t*)args[1];
  uint8_t* restrict const x0 = (uint8_t*)args[2];
  int8_t* restrict const x1 = (int8_t*)args[3];
  float* restrict const x3 = (float*)args[4];
  for (int64_t task = begin; task < end; ++task) {
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
        sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        sum_3_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
        sum_3_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 3; ++k1) {
            sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + (((k0 * 192) + (k1 * 64))));
            sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
            sum_3_0 = dot4v_u8_i32x8(sum_3_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + (((k0 * 192) + (k1 * 64))));
            sum_3_1 = dot4v_u8_i32x8(sum_3_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          }
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[(o0 * 7)] = (uint8_t)value[0];
          y0[((o0 * 7) + 35)] = (uint8_t)value[1];
          y0[((o0 * 7) + 70)] = (uint8_t)value[2];
          y0[((o0 * 7) + 105)] = (uint8_t)value[3];
          y0[((o0 * 7) + 140)] = (uint8_t)value[4];
          y0[((o0 * 7) + 175)] = (uint8_t)value[5];
          y0[((o0 * 7) + 210)] = (uint8_t)value[6];
          y0[((o0 * 7) + 245)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 280)] = (uint8_t)value[0];
          y0[((o0 * 7) + 315)] = (uint8_t)value[1];
          y0[((o0 * 7) + 350)] = (uint8_t)value[2];
          y0[((o0 * 7) + 385)] = (uint8_t)value[3];
          y0[((o0 * 7) + 420)] = (uint8_t)value[4];
          y0[((o0 * 7) + 455)] = (uint8_t)value[5];
          y0[((o0 * 7) + 490)] = (uint8_t)value[6];
          y0[((o0 * 7) + 525)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 1)] = (uint8_t)value[0];
          y0[((o0 * 7) + 36)] = (uint8_t)value[1];
          y0[((o0 * 7) + 71)] = (uint8_t)value[2];
          y0[((o0 * 7) + 106)] = (uint8_t)value[3];
          y0[((o0 * 7) + 141)] = (uint8_t)value[4];
          y0[((o0 * 7) + 176)] = (uint8_t)value[5];
          y0[((o0 * 7) + 211)] = (uint8_t)value[6];
          y0[((o0 * 7) + 246)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 281)] = (uint8_t)value[0];
          y0[((o0 * 7) + 316)] = (uint8_t)value[1];
          y0[((o0 * 7) + 351)] = (uint8_t)value[2];
          y0[((o0 * 7) + 386)] = (uint8_t)value[3];
          y0[((o0 * 7) + 421)] = (uint8_t)value[4];
          y0[((o0 * 7) + 456)] = (uint8_t)value[5];
          y0[((o0 * 7) + 491)] = (uint8_t)value[6];
          y0[((o0 * 7) + 526)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 2)] = (uint8_t)value[0];
          y0[((o0 * 7) + 37)] = (uint8_t)value[1];
          y0[((o0 * 7) + 72)] = (uint8_t)value[2];
          y0[((o0 * 7) + 107)] = (uint8_t)value[3];
          y0[((o0 * 7) + 142)] = (uint8_t)value[4];
          y0[((o0 * 7) + 177)] = (uint8_t)value[5];
          y0[((o0 * 7) + 212)] = (uint8_t)value[6];
          y0[((o0 * 7) + 247)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 282)] = (uint8_t)value[0];
          y0[((o0 * 7) + 317)] = (uint8_t)value[1];
          y0[((o0 * 7) + 352)] = (uint8_t)value[2];
          y0[((o0 * 7) + 387)] = (uint8_t)value[3];
          y0[((o0 * 7) + 422)] = (uint8_t)value[4];
          y0[((o0 * 7) + 457)] = (uint8_t)value[5];
          y0[((o0 * 7) + 492)] = (uint8_t)value[6];
          y0[((o0 * 7) + 527)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_3_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 3)] = (uint8_t)value[0];
          y0[((o0 * 7) + 38)] = (uint8_t)value[1];
          y0[((o0 * 7) + 73)] = (uint8_t)value[2];
          y0[((o0 * 7) + 108)] = (uint8_t)value[3];
          y0[((o0 * 7) + 143)] = (uint8_t)value[4];
          y0[((o0 * 7) + 178)] = (uint8_t)value[5];
          y0[((o0 * 7) + 213)] = (uint8_t)value[6];
          y0[((o0 * 7) + 248)] = (uint8_t)value[7];
        }
        {
          const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_3_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
          y0[((o0 * 7) + 283)] = (uint8_t)value[0];
          y0[((o0 * 7) + 318)] = (uint8_t)value[1];
          y0[((o0 * 7) + 353)] = (uint8_t)value[2];
          y0[((o0 * 7) + 388)] = (uint8_t)value[3];
          y0[((o0 * 7) + 423)] = (uint8_t)value[4];
          y0[((o0 * 7) + 458)] = (uint8_t)value[5];
          y0[((o0 * 7) + 493)] = (uint8_t)value[6];
          y0[((o0 * 7) + 528)] = (uint8_t)value[7];
        }
      }
      i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1;
      sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
      sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
          sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
          sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + (((k0 * 192) + (k1 * 64))));
          sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + ((((k0 * 192) + (k1 * 64)) + 32)));
        }
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 4)] = (uint8_t)value[0];
        y0[((o0 * 7) + 39)] = (uint8_t)value[1];
        y0[((o0 * 7) + 74)] = (uint8_t)value[2];
        y0[((o0 * 7) + 109)] = (uint8_t)value[3];
        y0[((o0 * 7) + 144)] = (uint8_t)value[4];
        y0[((o0 * 7) + 179)] = (uint8_t)value[5];
        y0[((o0 * 7) + 214)] = (uint8_t)value[6];
        y0[((o0 * 7) + 249)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 284)] = (uint8_t)value[0];
        y0[((o0 * 7) + 319)] = (uint8_t)value[1];
        y0[((o0 * 7) + 354)] = (uint8_t)value[2];
        y0[((o0 * 7) + 389)] = (uint8_t)value[3];
        y0[((o0 * 7) + 424)] = (uint8_t)value[4];
        y0[((o0 * 7) + 459)] = (uint8_t)value[5];
        y0[((o0 * 7) + 494)] = (uint8_t)value[6];
        y0[((o0 * 7) + 529)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 5)] = (uint8_t)value[0];
        y0[((o0 * 7) + 40)] = (uint8_t)value[1];
        y0[((o0 * 7) + 75)] = (uint8_t)value[2];
        y0[((o0 * 7) + 110)] = (uint8_t)value[3];
        y0[((o0 * 7) + 145)] = (uint8_t)value[4];
        y0[((o0 * 7) + 180)] = (uint8_t)value[5];
        y0[((o0 * 7) + 215)] = (uint8_t)value[6];
        y0[((o0 * 7) + 250)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 285)] = (uint8_t)value[0];
        y0[((o0 * 7) + 320)] = (uint8_t)value[1];
        y0[((o0 * 7) + 355)] = (uint8_t)value[2];
        y0[((o0 * 7) + 390)] = (uint8_t)value[3];
        y0[((o0 * 7) + 425)] = (uint8_t)value[4];
        y0[((o0 * 7) + 460)] = (uint8_t)value[5];
        y0[((o0 * 7) + 495)] = (uint8_t)value[6];
        y0[((o0 * 7) + 530)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 6)] = (uint8_t)value[0];
        y0[((o0 * 7) + 41)] = (uint8_t)value[1];
        y0[((o0 * 7) + 76)] = (uint8_t)value[2];
        y0[((o0 * 7) + 111)] = (uint8_t)value[3];
        y0[((o0 * 7) + 146)] = (uint8_t)value[4];
        y0[((o0 * 7) + 181)] = (uint8_t)value[5];
        y0[((o0 * 7) + 216)] = (uint8_t)value[6];
        y0[((o0 * 7) + 251)] = (uint8_t)value[7];
      }
      {
        const i32x8 value = (round_i32x8(min_f32x8(max_f32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8)))), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130);
        y0[((o0 * 7) + 286)] = (uint8_t)value[0];
        y0[((o0 * 7) + 321)] = (uint8_t)value[1];
        y0[((o0 * 7) + 356)] = (uint8_t)value[2];
        y0[((o0 * 7) + 391)] = (uint8_t)value[3];
        y0[((o0 * 7) + 426)] = (uint8_t)value[4];
        y0[((o0 * 7) + 461)] = (uint8_t)value[5];
        y0[((o0 * 7) + 496)] = (uint8_t)value[6];
        y0[((o0 * 7) + 531)] = (uint8_t)value[7];
      }
    }
    for (int64_t o0 = 0; o0 < 5; ++o0) {
      for (int64_t o1_o = 0; o1_o < 1; ++o1_o) {
        i32x4 sum_0, sum_1, sum_2, sum_3;
        sum_0 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_1 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_2 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        sum_3 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 3; ++k1) {
            sum_0 = dot4v_u8_i32x4(sum_0, x0 + ((((k0 * 36) + (k1 * 4)) + (o0 * 36))), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_1 = dot4v_u8_i32x4(sum_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 4)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_2 = dot4v_u8_i32x4(sum_2, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 8)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
            sum_3 = dot4v_u8_i32x4(sum_3, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 12)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          }
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_0) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 560)] = (uint8_t)value[0];
          y0[((o0 * 7) + 595)] = (uint8_t)value[1];
          y0[((o0 * 7) + 630)] = (uint8_t)value[2];
          y0[((o0 * 7) + 665)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_1) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 561)] = (uint8_t)value[0];
          y0[((o0 * 7) + 596)] = (uint8_t)value[1];
          y0[((o0 * 7) + 631)] = (uint8_t)value[2];
          y0[((o0 * 7) + 666)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_2) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 562)] = (uint8_t)value[0];
          y0[((o0 * 7) + 597)] = (uint8_t)value[1];
          y0[((o0 * 7) + 632)] = (uint8_t)value[2];
          y0[((o0 * 7) + 667)] = (uint8_t)value[3];
        }
        {
          const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_3) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
          y0[((o0 * 7) + 563)] = (uint8_t)value[0];
          y0[((o0 * 7) + 598)] = (uint8_t)value[1];
          y0[((o0 * 7) + 633)] = (uint8_t)value[2];
          y0[((o0 * 7) + 668)] = (uint8_t)value[3];
        }
      }
      i32x4 sum_0, sum_1, sum_2;
      sum_0 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      sum_1 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      sum_2 = ((i32x4)*(const i32x4_in_memory*)(x2 + (16)));
      for (int64_t k0 = 0; k0 < 3; ++k0) {
        for (int64_t k1 = 0; k1 < 3; ++k1) {
          sum_0 = dot4v_u8_i32x4(sum_0, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 16)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          sum_1 = dot4v_u8_i32x4(sum_1, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 20)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
          sum_2 = dot4v_u8_i32x4(sum_2, x0 + (((((k0 * 36) + (k1 * 4)) + (o0 * 36)) + 24)), x1 + ((((k0 * 192) + (k1 * 64)) + 576)));
        }
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_0) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 564)] = (uint8_t)value[0];
        y0[((o0 * 7) + 599)] = (uint8_t)value[1];
        y0[((o0 * 7) + 634)] = (uint8_t)value[2];
        y0[((o0 * 7) + 669)] = (uint8_t)value[3];
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_1) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 565)] = (uint8_t)value[0];
        y0[((o0 * 7) + 600)] = (uint8_t)value[1];
        y0[((o0 * 7) + 635)] = (uint8_t)value[2];
        y0[((o0 * 7) + 670)] = (uint8_t)value[3];
      }
      {
        const i32x4 value = (round_i32x4(min_f32x4(max_f32x4((to_f32x4(sum_2) * ((f32x4)*(const f32x4_in_memory*)(x3 + (16)))), splat_f32x4((-130.0f))), splat_f32x4(125.0f))) + 130);
        y0[((o0 * 7) + 566)] = (uint8_t)value[0];
        y0[((o0 * 7) + 601)] = (uint8_t)value[1];
        y0[((o0 * 7) + 636)] = (uint8_t)value[2];
        y0[((o0 * 7) + 671)] = (uint8_t)value[3];
      }
    }
  }
}
void quantized_conv_96ff54a6f438(void* const* args, int64_t begin, int64_t end) {
  if (__builtin_cpu_supports("avxvnni")) {
    quantized_conv_96ff54a6f438_dot(args, begin, end);
  } else {
    quantized_conv_96ff54a6f438_plain(args, begin, end);
  }
}
#else
void quantized_conv_96ff54a6f438(void* const* args, int64_t begin, int64_t end) { quantized_conv_96ff54a6f438_plain(args, begin, end); }
#endif
