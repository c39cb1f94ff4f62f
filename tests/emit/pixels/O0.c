// exact: products are rounded before they are added
// Cast (map): uint8[1,4,8,3] -> float32[1,4,8,3]
void map_6619c24f9f37(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  uint8_t* restrict const x0 = (uint8_t*)args[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1_o = task;
    *(f32x8_in_memory*)(y0 + ((d1_o * 16))) = to_f32x8(widen_u8_i32x8(x0 + ((d1_o * 16))));
    *(f32x8_in_memory*)(y0 + (((d1_o * 16) + 8))) = to_f32x8(widen_u8_i32x8(x0 + (((d1_o * 16) + 8))));
  }
}

// Div (map): float32[1,4,8,3] float32[] -> float32[1,4,8,3]
void map_6c0509546733(void* const* args, int64_t begin, int64_t end) {
  float* restrict const y0 = (float*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1_o = task;
    *(f32x8_in_memory*)(y0 + ((d1_o * 16))) = (((f32x8)*(const f32x8_in_memory*)(x0 + ((d1_o * 16)))) / x1[0]);
    *(f32x8_in_memory*)(y0 + (((d1_o * 16) + 8))) = (((f32x8)*(const f32x8_in_memory*)(x0 + (((d1_o * 16) + 8)))) / x1[0]);
  }
}

// Sub (map): float32[1,4,8,3] float32[3] -> float32[1,4,8,3]
void map_cd5c6fea6940(void* const* args, int64_t begin, int64_t end) {
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

// QuantizeLinear (map): float32[1,4,8,3] float32[] uint8[] -> uint8[1,4,8,3]
void map_214a643e7181(void* const* args, int64_t begin, int64_t end) {
  uint8_t* restrict const y0 = (uint8_t*)args[0];
  float* restrict const x0 = (float*)args[1];
  float* restrict const x1 = (float*)args[2];
  uint8_t* restrict const x2 = (uint8_t*)args[3];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t d1 = task;
    y0[d1] = ((uint8_t)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
