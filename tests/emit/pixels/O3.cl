// exact: products are rounded before they are added
// Fused (map): uint8[1,4,8,3] float32[] -> float32[1,4,8,3]
void map_ebc7fa2b8393_task(__global float* restrict y0, __global uchar* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d1_o = task;
    vstore16((convert_float16(convert_int16(vload16(0, x0 + ((d1_o * 16))))) / x1[0]), 0, y0 + ((d1_o * 16)));
  }
}
__kernel void map_ebc7fa2b8393(__global float* restrict y0, __global uchar* restrict x0, __global float* restrict x1) {
  map_ebc7fa2b8393_task(y0, x0, x1, get_global_id(0));
}

// exact: products are rounded before they are added
// Sub (map): float32[1,4,8,3] float32[3] -> float32[1,4,8,3]
void map_fb03a1c2282d_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d1 = task;
    for (long d3 = 0; d3 < 3; ++d3) {
      y0[((d1 * 3) + d3)] = (x0[((d1 * 3) + d3)] - x1[d3]);
    }
  }
}
__kernel void map_fb03a1c2282d(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  map_fb03a1c2282d_task(y0, x0, x1, get_global_id(0));
}

// exact: products are rounded before they are added
// ToInteger (map): float32[1,4,8,3] -> uint8[1,4,8,3]
void map_978dc683b170_task(__global uchar* restrict y0, __global float* restrict x0, const long task) {
  {
    const long d1_o = task;
    vstore16(convert_uchar16((convert_int16_rte(min_f32x16(max_f32x16((vload16(0, x0 + ((d1_o * 16))) / 0x1.47ae14p-6f), splat_f32x16((-110.0f))), splat_f32x16(145.0f))) + 110)), 0, y0 + ((d1_o * 16)));
  }
}
__kernel void map_978dc683b170(__global uchar* restrict y0, __global float* restrict x0) {
  map_978dc683b170_task(y0, x0, get_global_id(0));
}
