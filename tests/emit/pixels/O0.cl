// Cast (map): uint8[1,4,8,3] -> float32[1,4,8,3]
void map_6619c24f9f37_task(__global float* restrict y0, __global uchar* restrict x0, const long task) {
  {
    const long d1_o = task;
    vstore16(convert_float16(convert_int16(vload16(0, x0 + ((d1_o * 16))))), 0, y0 + ((d1_o * 16)));
  }
}
__kernel void map_6619c24f9f37(__global float* restrict y0, __global uchar* restrict x0) {
  map_6619c24f9f37_task(y0, x0, get_global_id(0));
}

// Div (map): float32[1,4,8,3] float32[] -> float32[1,4,8,3]
void map_6c0509546733_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d1_o = task;
    vstore16((vload16(0, x0 + ((d1_o * 16))) / x1[0]), 0, y0 + ((d1_o * 16)));
  }
}
__kernel void map_6c0509546733(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  map_6c0509546733_task(y0, x0, x1, get_global_id(0));
}

// Sub (map): float32[1,4,8,3] float32[3] -> float32[1,4,8,3]
void map_cd5c6fea6940_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d1 = task;
    for (long d3 = 0; d3 < 3; ++d3) {
      y0[((d1 * 3) + d3)] = (x0[((d1 * 3) + d3)] - x1[d3]);
    }
  }
}
__kernel void map_cd5c6fea6940(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  map_cd5c6fea6940_task(y0, x0, x1, get_global_id(0));
}

// QuantizeLinear (map): float32[1,4,8,3] float32[] uint8[] -> uint8[1,4,8,3]
void map_214a643e7181_task(__global uchar* restrict y0, __global float* restrict x0, __global float* restrict x1, __global uchar* restrict x2, const long task) {
  {
    const long d1 = task;
    y0[d1] = ((uchar)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
__kernel void map_214a643e7181(__global uchar* restrict y0, __global float* restrict x0, __global float* restrict x1, __global uchar* restrict x2) {
  map_214a643e7181_task(y0, x0, x1, x2, get_global_id(0));
}
