// QuantizeLinear (map): float32[1,8,4,4] float32[] uint8[] -> uint8[1,8,4,4]
void map_a17dd7355ed4(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  uint8_t* restrict const x2 = (uint8_t*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task;
    y0[d1] = ((uint8_t)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}

// exact: products are rounded before they are added
// DequantizeLinear (map): uint8[1,8,4,4] float32[] uint8[] -> float32[1,8,4,4]
void map_aa31dbbb5eb0(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  uint8_t* restrict const x0 = (uint8_t*)args[1];
  uint8_t* restrict const x2 = (uint8_t*)args[2];
  float* restrict const x1 = (float*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task;
    *(f32x8_in_memory*)(y0 + ((d1 * 16))) = ((to_f32x8(widen_u8_i32x8(x0 + ((d1 * 16)))) - ((float)((int32_t)x2[0]))) * x1[0]);
    *(f32x8_in_memory*)(y0 + (((d1 * 16) + 8))) = ((to_f32x8(widen_u8_i32x8(x0 + (((d1 * 16) + 8)))) - ((float)((int32_t)x2[0]))) * x1[0]);
  }
}

// exact: products are rounded before they are added
// DequantizeLinear (map): int8[16,8,1,1] float32[] -> float32[16,8,1,1]
void map_49634606f947(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  int8_t* restrict const x0 = (int8_t*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d0_o = task;
    *(f32x8_in_memory*)(y0 + ((d0_o * 16))) = (to_f32x8(widen_i8_i32x8(x0 + ((d0_o * 16)))) * x1[0]);
    *(f32x8_in_memory*)(y0 + (((d0_o * 16) + 8))) = (to_f32x8(widen_i8_i32x8(x0 + (((d0_o * 16) + 8)))) * x1[0]);
  }
}

// Conv (conv): float32[1,8,4,4] float32[16,8,1,1] -> float32[1,16,4,4]
void conv_a25746b77dc7(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    f32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
    sum_0_0 = splat_f32x8(0.0f);
    sum_0_1 = splat_f32x8(0.0f);
    sum_1_0 = splat_f32x8(0.0f);
    sum_1_1 = splat_f32x8(0.0f);
    sum_2_0 = splat_f32x8(0.0f);
    sum_2_1 = splat_f32x8(0.0f);
    sum_3_0 = splat_f32x8(0.0f);
    sum_3_1 = splat_f32x8(0.0f);
    for (int64_t c = 0; c < 8; ++c) {
      sum_0_0 = (sum_0_0 + (x0[((c * 16) + (o0 * 4))] * ((f32x8){x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)]})));
      sum_0_1 = (sum_0_1 + (x0[((c * 16) + (o0 * 4))] * ((f32x8){x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]})));
      sum_1_0 = (sum_1_0 + (x0[(((c * 16) + (o0 * 4)) + 1)] * ((f32x8){x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)]})));
      sum_1_1 = (sum_1_1 + (x0[(((c * 16) + (o0 * 4)) + 1)] * ((f32x8){x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]})));
      sum_2_0 = (sum_2_0 + (x0[(((c * 16) + (o0 * 4)) + 2)] * ((f32x8){x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)]})));
      sum_2_1 = (sum_2_1 + (x0[(((c * 16) + (o0 * 4)) + 2)] * ((f32x8){x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]})));
      sum_3_0 = (sum_3_0 + (x0[(((c * 16) + (o0 * 4)) + 3)] * ((f32x8){x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)]})));
      sum_3_1 = (sum_3_1 + (x0[(((c * 16) + (o0 * 4)) + 3)] * ((f32x8){x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]})));
    }
    {
      const f32x8 value = sum_0_0;
      y0[(o0 * 4)] = value[0];
      y0[((o0 * 4) + 16)] = value[1];
      y0[((o0 * 4) + 32)] = value[2];
      y0[((o0 * 4) + 48)] = value[3];
      y0[((o0 * 4) + 64)] = value[4];
      y0[((o0 * 4) + 80)] = value[5];
      y0[((o0 * 4) + 96)] = value[6];
      y0[((o0 * 4) + 112)] = value[7];
    }
    {
      const f32x8 value = sum_0_1;
      y0[((o0 * 4) + 128)] = value[0];
      y0[((o0 * 4) + 144)] = value[1];
      y0[((o0 * 4) + 160)] = value[2];
      y0[((o0 * 4) + 176)] = value[3];
      y0[((o0 * 4) + 192)] = value[4];
      y0[((o0 * 4) + 208)] = value[5];
      y0[((o0 * 4) + 224)] = value[6];
      y0[((o0 * 4) + 240)] = value[7];
    }
    {
      const f32x8 value = sum_1_0;
      y0[((o0 * 4) + 1)] = value[0];
      y0[((o0 * 4) + 17)] = value[1];
      y0[((o0 * 4) + 33)] = value[2];
      y0[((o0 * 4) + 49)] = value[3];
      y0[((o0 * 4) + 65)] = value[4];
      y0[((o0 * 4) + 81)] = value[5];
      y0[((o0 * 4) + 97)] = value[6];
      y0[((o0 * 4) + 113)] = value[7];
    }
    {
      const f32x8 value = sum_1_1;
      y0[((o0 * 4) + 129)] = value[0];
      y0[((o0 * 4) + 145)] = value[1];
      y0[((o0 * 4) + 161)] = value[2];
      y0[((o0 * 4) + 177)] = value[3];
      y0[((o0 * 4) + 193)] = value[4];
      y0[((o0 * 4) + 209)] = value[5];
      y0[((o0 * 4) + 225)] = value[6];
      y0[((o0 * 4) + 241)] = value[7];
    }
    {
      const f32x8 value = sum_2_0;
      y0[((o0 * 4) + 2)] = value[0];
      y0[((o0 * 4) + 18)] = value[1];
      y0[((o0 * 4) + 34)] = value[2];
      y0[((o0 * 4) + 50)] = value[3];
      y0[((o0 * 4) + 66)] = value[4];
      y0[((o0 * 4) + 82)] = value[5];
      y0[((o0 * 4) + 98)] = value[6];
      y0[((o0 * 4) + 114)] = value[7];
    }
    {
      const f32x8 value = sum_2_1;
      y0[((o0 * 4) + 130)] = value[0];
      y0[((o0 * 4) + 146)] = value[1];
      y0[((o0 * 4) + 162)] = value[2];
      y0[((o0 * 4) + 178)] = value[3];
      y0[((o0 * 4) + 194)] = value[4];
      y0[((o0 * 4) + 210)] = value[5];
      y0[((o0 * 4) + 226)] = value[6];
      y0[((o0 * 4) + 242)] = value[7];
    }
    {
      const f32x8 value = sum_3_0;
      y0[((o0 * 4) + 3)] = value[0];
      y0[((o0 * 4) + 19)] = value[1];
      y0[((o0 * 4) + 35)] = value[2];
      y0[((o0 * 4) + 51)] = value[3];
      y0[((o0 * 4) + 67)] = value[4];
      y0[((o0 * 4) + 83)] = value[5];
      y0[((o0 * 4) + 99)] = value[6];
      y0[((o0 * 4) + 115)] = value[7];
    }
    {
      const f32x8 value = sum_3_1;
      y0[((o0 * 4) + 131)] = value[0];
      y0[((o0 * 4) + 147)] = value[1];
      y0[((o0 * 4) + 163)] = value[2];
      y0[((o0 * 4) + 179)] = value[3];
      y0[((o0 * 4) + 195)] = value[4];
      y0[((o0 * 4) + 211)] = value[5];
      y0[((o0 * 4) + 227)] = value[6];
      y0[((o0 * 4) + 243)] = value[7];
    }
  }
}

// QuantizeLinear (map): float32[1,16,4,4] float32[] uint8[] -> uint8[1,16,4,4]
void map_cb4d870ebe01(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  uint8_t* restrict const x2 = (uint8_t*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task;
    y0[d1] = ((uint8_t)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
