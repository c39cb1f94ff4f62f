// exact: products are rounded before they are added
// Fused (map): uint8[1,4,8,3] float32[] -> float32[1,4,8,3]
void map_ebc7fa2b8393(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  uint8_t* restrict const x0 = (uint8_t*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1_o = task;
    *(f32x8_in_memory*)(y0 + ((d1_o * 16))) = (to_f32x8(widen_u8_i32x8(x0 + ((d1_o * 16)))) / x1[0]);
    *(f32x8_in_memory*)(y0 + (((d1_o * 16) + 8))) = (to_f32x8(widen_u8_i32x8(x0 + (((d1_o * 16) + 8)))) / x1[0]);
  }
}

// exact: products are rounded before they are added
// Sub (map): float32[1,4,8,3] float32[3] -> float32[1,4,8,3]
void map_fb03a1c2282d(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task;
    for (int64_t d3 = 0; d3 < 3; ++d3) {
      y0[((d1 * 3) + d3)] = (x0[((d1 * 3) + d3)] - x1[d3]);
    }
  }
}

// exact: products are rounded before they are added
// ToInteger (map): float32[1,4,8,3] -> uint8[1,4,8,3]
void map_978dc683b170(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  float* restrict const x0 = (float*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1_o = task;
    narrow_u8_i32x8(y0 + ((d1_o * 16)), (round_quotient_i32x8(((f32x8)*(const f32x8_in_memory*)(x0 + ((d1_o * 16)))), 0x1.47ae14p-6f, 50.0f, 0x1.2cp-20f, (-0x1.19999ap+1f), 0x1.733332p+1f) + 110));
    narrow_u8_i32x8(y0 + (((d1_o * 16) + 8)), (round_quotient_i32x8(((f32x8)*(const f32x8_in_memory*)(x0 + (((d1_o * 16) + 8)))), 0x1.47ae14p-6f, 50.0f, 0x1.2cp-20f, (-0x1.19999ap+1f), 0x1.733332p+1f) + 110));
  }
}
