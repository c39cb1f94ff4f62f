// Cast (map): uint8[1,4,8,3] -> float32[1,4,8,3]
extern "C" __global__ void map_6619c24f9f37(float* __restrict__ y0, unsigned char* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task;
    y0[d1] = ((float)x0[d1]);
  }
}

// Div (map): float32[1,4,8,3] float32[] -> float32[1,4,8,3]
extern "C" __global__ void map_6c0509546733(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task;
    y0[d1] = (x0[d1] / x1[0]);
  }
}

// Sub (map): float32[1,4,8,3] float32[3] -> float32[1,4,8,3]
extern "C" __global__ void map_cd5c6fea6940(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task / 3;
    const int d3 = task % 3;
    y0[((d1 * 3) + d3)] = (x0[((d1 * 3) + d3)] - x1[d3]);
  }
}

// QuantizeLinear (map): float32[1,4,8,3] float32[] uint8[] -> uint8[1,4,8,3]
extern "C" __global__ void map_214a643e7181(unsigned char* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, unsigned char* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task;
    y0[d1] = ((unsigned char)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
