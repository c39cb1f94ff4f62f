// exact: products are rounded before they are added
// ToInteger (map): float32[1,8,4,4] -> uint8[1,8,4,4]
void map_6f98b1289790(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d2 = task;
    narrow_u8_i32x8(y0 + ((d2 * 16)), (round_quotient_i32x8(((f32x8){x0[d2], x0[(d2 + 16)], x0[(d2 + 32)], x0[(d2 + 48)], x0[(d2 + 64)], x0[(d2 + 80)], x0[(d2 + 96)], x0[(d2 + 112)]}), 0x1.eb851ep-6f, 0x1.0aaaacp+5f, (-0x1.e2aaaap-20f), (-0x1.f33332p+1f), 0x1.ep+1f) + 130));
  }
}

// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,8,4,4] int8[16,8,1,1] int32[16] float32[16] -> uint8[1,16,4,4]
static void quantized_conv_16d09cd363de_plain(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  int32_t* restrict const x2 = (int32_t*)args[1];
  uint8_t* restrict const x0 = (uint8_t*)args[2];
  int8_t* restrict const x1 = (int8_t*)args[3];
  float* restrict const x3 = (float*)args[4];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
    sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_3_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_3_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_0_0 = dot4_u8_i32x8(sum_0_0, x0 + ((o0 * 64)), x1 + (0));
    sum_0_1 = dot4_u8_i32x8(sum_0_1, x0 + ((o0 * 64)), x1 + (32));
    sum_1_0 = dot4_u8_i32x8(sum_1_0, x0 + (((o0 * 64) + 16)), x1 + (0));
    sum_1_1 = dot4_u8_i32x8(sum_1_1, x0 + (((o0 * 64) + 16)), x1 + (32));
    sum_2_0 = dot4_u8_i32x8(sum_2_0, x0 + (((o0 * 64) + 32)), x1 + (0));
    sum_2_1 = dot4_u8_i32x8(sum_2_1, x0 + (((o0 * 64) + 32)), x1 + (32));
    sum_3_0 = dot4_u8_i32x8(sum_3_0, x0 + (((o0 * 64) + 48)), x1 + (0));
    sum_3_1 = dot4_u8_i32x8(sum_3_1, x0 + (((o0 * 64) + 48)), x1 + (32));
    sum_0_0 = dot4_u8_i32x8(sum_0_0, x0 + (((o0 * 64) + 4)), x1 + (64));
    sum_0_1 = dot4_u8_i32x8(sum_0_1, x0 + (((o0 * 64) + 4)), x1 + (96));
    sum_1_0 = dot4_u8_i32x8(sum_1_0, x0 + (((o0 * 64) + 20)), x1 + (64));
    sum_1_1 = dot4_u8_i32x8(sum_1_1, x0 + (((o0 * 64) + 20)), x1 + (96));
    sum_2_0 = dot4_u8_i32x8(sum_2_0, x0 + (((o0 * 64) + 36)), x1 + (64));
    sum_2_1 = dot4_u8_i32x8(sum_2_1, x0 + (((o0 * 64) + 36)), x1 + (96));
    sum_3_0 = dot4_u8_i32x8(sum_3_0, x0 + (((o0 * 64) + 52)), x1 + (64));
    sum_3_1 = dot4_u8_i32x8(sum_3_1, x0 + (((o0 * 64) + 52)), x1 + (96));
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[(o0 * 4)] = (uint8_t)value[0];
      y0[((o0 * 4) + 16)] = (uint8_t)value[1];
      y0[((o0 * 4) + 32)] = (uint8_t)value[2];
      y0[((o0 * 4) + 48)] = (uint8_t)value[3];
      y0[((o0 * 4) + 64)] = (uint8_t)value[4];
      y0[((o0 * 4) + 80)] = (uint8_t)value[5];
      y0[((o0 * 4) + 96)] = (uint8_t)value[6];
      y0[((o0 * 4) + 112)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 128)] = (uint8_t)value[0];
      y0[((o0 * 4) + 144)] = (uint8_t)value[1];
      y0[((o0 * 4) + 160)] = (uint8_t)value[2];
      y0[((o0 * 4) + 176)] = (uint8_t)value[3];
      y0[((o0 * 4) + 192)] = (uint8_t)value[4];
      y0[((o0 * 4) + 208)] = (uint8_t)value[5];
      y0[((o0 * 4) + 224)] = (uint8_t)value[6];
      y0[((o0 * 4) + 240)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 1)] = (uint8_t)value[0];
      y0[((o0 * 4) + 17)] = (uint8_t)value[1];
      y0[((o0 * 4) + 33)] = (uint8_t)value[2];
      y0[((o0 * 4) + 49)] = (uint8_t)value[3];
      y0[((o0 * 4) + 65)] = (uint8_t)value[4];
      y0[((o0 * 4) + 81)] = (uint8_t)value[5];
      y0[((o0 * 4) + 97)] = (uint8_t)value[6];
      y0[((o0 * 4) + 113)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 129)] = (uint8_t)value[0];
      y0[((o0 * 4) + 145)] = (uint8_t)value[1];
      y0[((o0 * 4) + 161)] = (uint8_t)value[2];
      y0[((o0 * 4) + 177)] = (uint8_t)value[3];
      y0[((o0 * 4) + 193)] = (uint8_t)value[4];
      y0[((o0 * 4) + 209)] = (uint8_t)value[5];
      y0[((o0 * 4) + 225)] = (uint8_t)value[6];
      y0[((o0 * 4) + 241)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 2)] = (uint8_t)value[0];
      y0[((o0 * 4) + 18)] = (uint8_t)value[1];
      y0[((o0 * 4) + 34)] = (uint8_t)value[2];
      y0[((o0 * 4) + 50)] = (uint8_t)value[3];
      y0[((o0 * 4) + 66)] = (uint8_t)value[4];
      y0[((o0 * 4) + 82)] = (uint8_t)value[5];
      y0[((o0 * 4) + 98)] = (uint8_t)value[6];
      y0[((o0 * 4) + 114)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 130)] = (uint8_t)value[0];
      y0[((o0 * 4) + 146)] = (uint8_t)value[1];
      y0[((o0 * 4) + 162)] = (uint8_t)value[2];
      y0[((o0 * 4) + 178)] = (uint8_t)value[3];
      y0[((o0 * 4) + 194)] = (uint8_t)value[4];
      y0[((o0 * 4) + 210)] = (uint8_t)value[5];
      y0[((o0 * 4) + 226)] = (uint8_t)value[6];
      y0[((o0 * 4) + 242)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_3_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 3)] = (uint8_t)value[0];
      y0[((o0 * 4) + 19)] = (uint8_t)value[1];
      y0[((o0 * 4) + 35)] = (uint8_t)value[2];
      y0[((o0 * 4) + 51)] = (uint8_t)value[3];
      y0[((o0 * 4) + 67)] = (uint8_t)value[4];
      y0[((o0 * 4) + 83)] = (uint8_t)value[5];
      y0[((o0 * 4) + 99)] = (uint8_t)value[6];
      y0[((o0 * 4) + 115)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_3_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 131)] = (uint8_t)value[0];
      y0[((o0 * 4) + 147)] = (uint8_t)value[1];
      y0[((o0 * 4) + 163)] = (uint8_t)value[2];
      y0[((o0 * 4) + 179)] = (uint8_t)value[3];
      y0[((o0 * 4) + 195)] = (uint8_t)value[4];
      y0[((o0 * 4) + 211)] = (uint8_t)value[5];
      y0[((o0 * 4) + 227)] = (uint8_t)value[6];
      y0[((o0 * 4) + 243)] = (uint8_t)value[7];
    }
  }
}
#if defined(__AVX2__) && defined(__FMA__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,8,4,4] int8[16,8,1,1] int32[16] float32[16] -> uint8[1,16,4,4]
__attribute__((target("avx512vnni"))) static void quantized_conv_16d09cd363de_dot(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  int32_t* restrict const x2 = (int32_t*)args[1];
  uint8_t* restrict const x0 = (uint8_t*)args[2];
  int8_t* restrict const x1 = (int8_t*)args[3];
  float* restrict const x3 = (float*)args[4];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
    sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_3_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_3_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + ((o0 * 64)), x1 + (0));
    sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + ((o0 * 64)), x1 + (32));
    sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((o0 * 64) + 16)), x1 + (0));
    sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((o0 * 64) + 16)), x1 + (32));
    sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((o0 * 64) + 32)), x1 + (0));
    sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((o0 * 64) + 32)), x1 + (32));
    sum_3_0 = dot4v_u8_i32x8(sum_3_0, x0 + (((o0 * 64) + 48)), x1 + (0));
    sum_3_1 = dot4v_u8_i32x8(sum_3_1, x0 + (((o0 * 64) + 48)), x1 + (32));
    sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + (((o0 * 64) + 4)), x1 + (64));
    sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + (((o0 * 64) + 4)), x1 + (96));
    sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((o0 * 64) + 20)), x1 + (64));
    sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((o0 * 64) + 20)), x1 + (96));
    sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((o0 * 64) + 36)), x1 + (64));
    sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((o0 * 64) + 36)), x1 + (96));
    sum_3_0 = dot4v_u8_i32x8(sum_3_0, x0 + (((o0 * 64) + 52)), x1 + (64));
    sum_3_1 = dot4v_u8_i32x8(sum_3_1, x0 + (((o0 * 64) + 52)), x1 + (96));
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[(o0 * 4)] = (uint8_t)value[0];
      y0[((o0 * 4) + 16)] = (uint8_t)value[1];
      y0[((o0 * 4) + 32)] = (uint8_t)value[2];
      y0[((o0 * 4) + 48)] = (uint8_t)value[3];
      y0[((o0 * 4) + 64)] = (uint8_t)value[4];
      y0[((o0 * 4) + 80)] = (uint8_t)value[5];
      y0[((o0 * 4) + 96)] = (uint8_t)value[6];
      y0[((o0 * 4) + 112)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 128)] = (uint8_t)value[0];
      y0[((o0 * 4) + 144)] = (uint8_t)value[1];
      y0[((o0 * 4) + 160)] = (uint8_t)value[2];
      y0[((o0 * 4) + 176)] = (uint8_t)value[3];
      y0[((o0 * 4) + 192)] = (uint8_t)value[4];
      y0[((o0 * 4) + 208)] = (uint8_t)value[5];
      y0[((o0 * 4) + 224)] = (uint8_t)value[6];
      y0[((o0 * 4) + 240)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 1)] = (uint8_t)value[0];
      y0[((o0 * 4) + 17)] = (uint8_t)value[1];
      y0[((o0 * 4) + 33)] = (uint8_t)value[2];
      y0[((o0 * 4) + 49)] = (uint8_t)value[3];
      y0[((o0 * 4) + 65)] = (uint8_t)value[4];
      y0[((o0 * 4) + 81)] = (uint8_t)value[5];
      y0[((o0 * 4) + 97)] = (uint8_t)value[6];
      y0[((o0 * 4) + 113)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 129)] = (uint8_t)value[0];
      y0[((o0 * 4) + 145)] = (uint8_t)value[1];
      y0[((o0 * 4) + 161)] = (uint8_t)value[2];
      y0[((o0 * 4) + 177)] = (uint8_t)value[3];
      y0[((o0 * 4) + 193)] = (uint8_t)value[4];
      y0[((o0 * 4) + 209)] = (uint8_t)value[5];
      y0[((o0 * 4) + 225)] = (uint8_t)value[6];
      y0[((o0 * 4) + 241)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 2)] = (uint8_t)value[0];
      y0[((o0 * 4) + 18)] = (uint8_t)value[1];
      y0[((o0 * 4) + 34)] = (uint8_t)value[2];
      y0[((o0 * 4) + 50)] = (uint8_t)value[3];
      y0[((o0 * 4) + 66)] = (uint8_t)value[4];
      y0[((o0 * 4) + 82)] = (uint8_t)value[5];
      y0[((o0 * 4) + 98)] = (uint8_t)value[6];
      y0[((o0 * 4) + 114)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 130)] = (uint8_t)value[0];
      y0[((o0 * 4) + 146)] = (uint8_t)value[1];
      y0[((o0 * 4) + 162)] = (uint8_t)value[2];
      y0[((o0 * 4) + 178)] = (uint8_t)value[3];
      y0[((o0 * 4) + 194)] = (uint8_t)value[4];
      y0[((o0 * 4) + 210)] = (uint8_t)value[5];
      y0[((o0 * 4) + 226)] = (uint8_t)value[6];
      y0[((o0 * 4) + 242)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_3_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 3)] = (uint8_t)value[0];
      y0[((o0 * 4) + 19)] = (uint8_t)value[1];
      y0[((o0 * 4) + 35)] = (uint8_t)value[2];
      y0[((o0 * 4) + 51)] = (uint8_t)value[3];
      y0[((o0 * 4) + 67)] = (uint8_t)value[4];
      y0[((o0 * 4) + 83)] = (uint8_t)value[5];
      y0[((o0 * 4) + 99)] = (uint8_t)value[6];
      y0[((o0 * 4) + 115)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_3_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 131)] = (uint8_t)value[0];
      y0[((o0 * 4) + 147)] = (uint8_t)value[1];
      y0[((o0 * 4) + 163)] = (uint8_t)value[2];
      y0[((o0 * 4) + 179)] = (uint8_t)value[3];
      y0[((o0 * 4) + 195)] = (uint8_t)value[4];
      y0[((o0 * 4) + 211)] = (uint8_t)value[5];
      y0[((o0 * 4) + 227)] = (uint8_t)value[6];
      y0[((o0 * 4) + 243)] = (uint8_t)value[7];
    }
  }
}
void quantized_conv_16d09cd363de(void* const* args, int64_t begin, int64_t end) {
  if (__builtin_cpu_supports("avx512vnni")) {
    quantized_conv_16d09cd363de_dot(args, begin, end);
  } else {
    quantized_conv_16d09cd363de_plain(args, begin, end);
  }
}
#elif defined(__AVX2__) && defined(__FMA__) && !defined(__clang__)
// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,8,4,4] int8[16,8,1,1] int32[16] float32[16] -> uint8[1,16,4,4]
__attribute__((target("avxvnni"))) static void quantized_conv_16d09cd363de_dot(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  int32_t* restrict const x2 = (int32_t*)args[1];
  uint8_t* restrict const x0 = (uint8_t*)args[2];
  int8_t* restrict const x1 = (int8_t*)args[3];
  float* restrict const x3 = (float*)args[4];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t o0 = task;
    i32x8 sum_0_0, sum_0_1, sum_1_0, sum_1_1, sum_2_0, sum_2_1, sum_3_0, sum_3_1;
    sum_0_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_0_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_1_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_1_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_2_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_2_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_3_0 = ((i32x8)*(const i32x8_in_memory*)(x2 + (0)));
    sum_3_1 = ((i32x8)*(const i32x8_in_memory*)(x2 + (8)));
    sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + ((o0 * 64)), x1 + (0));
    sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + ((o0 * 64)), x1 + (32));
    sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((o0 * 64) + 16)), x1 + (0));
    sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((o0 * 64) + 16)), x1 + (32));
    sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((o0 * 64) + 32)), x1 + (0));
    sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((o0 * 64) + 32)), x1 + (32));
    sum_3_0 = dot4v_u8_i32x8(sum_3_0, x0 + (((o0 * 64) + 48)), x1 + (0));
    sum_3_1 = dot4v_u8_i32x8(sum_3_1, x0 + (((o0 * 64) + 48)), x1 + (32));
    sum_0_0 = dot4v_u8_i32x8(sum_0_0, x0 + (((o0 * 64) + 4)), x1 + (64));
    sum_0_1 = dot4v_u8_i32x8(sum_0_1, x0 + (((o0 * 64) + 4)), x1 + (96));
    sum_1_0 = dot4v_u8_i32x8(sum_1_0, x0 + (((o0 * 64) + 20)), x1 + (64));
    sum_1_1 = dot4v_u8_i32x8(sum_1_1, x0 + (((o0 * 64) + 20)), x1 + (96));
    sum_2_0 = dot4v_u8_i32x8(sum_2_0, x0 + (((o0 * 64) + 36)), x1 + (64));
    sum_2_1 = dot4v_u8_i32x8(sum_2_1, x0 + (((o0 * 64) + 36)), x1 + (96));
    sum_3_0 = dot4v_u8_i32x8(sum_3_0, x0 + (((o0 * 64) + 52)), x1 + (64));
    sum_3_1 = dot4v_u8_i32x8(sum_3_1, x0 + (((o0 * 64) + 52)), x1 + (96));
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_0_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[(o0 * 4)] = (uint8_t)value[0];
      y0[((o0 * 4) + 16)] = (uint8_t)value[1];
      y0[((o0 * 4) + 32)] = (uint8_t)value[2];
      y0[((o0 * 4) + 48)] = (uint8_t)value[3];
      y0[((o0 * 4) + 64)] = (uint8_t)value[4];
      y0[((o0 * 4) + 80)] = (uint8_t)value[5];
      y0[((o0 * 4) + 96)] = (uint8_t)value[6];
      y0[((o0 * 4) + 112)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_0_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 128)] = (uint8_t)value[0];
      y0[((o0 * 4) + 144)] = (uint8_t)value[1];
      y0[((o0 * 4) + 160)] = (uint8_t)value[2];
      y0[((o0 * 4) + 176)] = (uint8_t)value[3];
      y0[((o0 * 4) + 192)] = (uint8_t)value[4];
      y0[((o0 * 4) + 208)] = (uint8_t)value[5];
      y0[((o0 * 4) + 224)] = (uint8_t)value[6];
      y0[((o0 * 4) + 240)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_1_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 1)] = (uint8_t)value[0];
      y0[((o0 * 4) + 17)] = (uint8_t)value[1];
      y0[((o0 * 4) + 33)] = (uint8_t)value[2];
      y0[((o0 * 4) + 49)] = (uint8_t)value[3];
      y0[((o0 * 4) + 65)] = (uint8_t)value[4];
      y0[((o0 * 4) + 81)] = (uint8_t)value[5];
      y0[((o0 * 4) + 97)] = (uint8_t)value[6];
      y0[((o0 * 4) + 113)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_1_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 129)] = (uint8_t)value[0];
      y0[((o0 * 4) + 145)] = (uint8_t)value[1];
      y0[((o0 * 4) + 161)] = (uint8_t)value[2];
      y0[((o0 * 4) + 177)] = (uint8_t)value[3];
      y0[((o0 * 4) + 193)] = (uint8_t)value[4];
      y0[((o0 * 4) + 209)] = (uint8_t)value[5];
      y0[((o0 * 4) + 225)] = (uint8_t)value[6];
      y0[((o0 * 4) + 241)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_2_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 2)] = (uint8_t)value[0];
      y0[((o0 * 4) + 18)] = (uint8_t)value[1];
      y0[((o0 * 4) + 34)] = (uint8_t)value[2];
      y0[((o0 * 4) + 50)] = (uint8_t)value[3];
      y0[((o0 * 4) + 66)] = (uint8_t)value[4];
      y0[((o0 * 4) + 82)] = (uint8_t)value[5];
      y0[((o0 * 4) + 98)] = (uint8_t)value[6];
      y0[((o0 * 4) + 114)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_2_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 130)] = (uint8_t)value[0];
      y0[((o0 * 4) + 146)] = (uint8_t)value[1];
      y0[((o0 * 4) + 162)] = (uint8_t)value[2];
      y0[((o0 * 4) + 178)] = (uint8_t)value[3];
      y0[((o0 * 4) + 194)] = (uint8_t)value[4];
      y0[((o0 * 4) + 210)] = (uint8_t)value[5];
      y0[((o0 * 4) + 226)] = (uint8_t)value[6];
      y0[((o0 * 4) + 242)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_3_0) * ((f32x8)*(const f32x8_in_memory*)(x3 + (0))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 3)] = (uint8_t)value[0];
      y0[((o0 * 4) + 19)] = (uint8_t)value[1];
      y0[((o0 * 4) + 35)] = (uint8_t)value[2];
      y0[((o0 * 4) + 51)] = (uint8_t)value[3];
      y0[((o0 * 4) + 67)] = (uint8_t)value[4];
      y0[((o0 * 4) + 83)] = (uint8_t)value[5];
      y0[((o0 * 4) + 99)] = (uint8_t)value[6];
      y0[((o0 * 4) + 115)] = (uint8_t)value[7];
    }
    {
      const i32x8 value = min_i32x8(max_i32x8((round_i32x8((to_f32x8(sum_3_1) * ((f32x8)*(const f32x8_in_memory*)(x3 + (8))))) + 130), splat_i32x8(0)), splat_i32x8(255));
      y0[((o0 * 4) + 131)] = (uint8_t)value[0];
      y0[((o0 * 4) + 147)] = (uint8_t)value[1];
      y0[((o0 * 4) + 163)] = (uint8_t)value[2];
      y0[((o0 * 4) + 179)] = (uint8_t)value[3];
      y0[((o0 * 4) + 195)] = (uint8_t)value[4];
      y0[((o0 * 4) + 211)] = (uint8_t)value[5];
      y0[((o0 * 4) + 227)] = (uint8_t)value[6];
      y0[((o0 * 4) + 243)] = (uint8_t)value[7];
    }
  }
}
void quantized_conv_16d09cd363de(void* const* args, int64_t begin, int64_t end) {
  if (__builtin_cpu_supports("avxvnni")) {
    quantized_conv_16d09cd363de_dot(args, begin, end);
  } else {
    quantized_conv_16d09cd363de_plain(args, begin, end);
  }
}
#else
void quantized_conv_16d09cd363de(void* const* args, int64_t begin, int64_t end) { quantized_conv_16d09cd363de_plain(args, begin, end); }
#endif
