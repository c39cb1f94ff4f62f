// exact: products are rounded before they are added
// Fused (map): uint8[1,4,8,3] float32[] -> float32[1,4,8,3]
extern "C" __global__ void map_ebc7fa2b8393(float* __restrict__ y0, unsigned char* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task;
    y0[d1] = (((float)x0[d1]) / x1[0]);
  }
}

// exact: products are rounded before they are added
// Sub (map): float32[1,4,8,3] float32[3] -> float32[1,4,8,3]
extern "C" __global__ void map_fb03a1c2282d(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task / 3;
    const int d3 = task % 3;
    y0[((d1 * 3) + d3)] = (x0[((d1 * 3) + d3)] - x1[d3]);
  }
}

// exact: products are rounded before they are added
// ToInteger (map): float32[1,4,8,3] -> uint8[1,4,8,3]
extern "C" __global__ void map_978dc683b170(unsigned char* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 96) {
    const int d1 = task;
    y0[d1] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((x0[d1] / 0x1.47ae14p-6f), (-110.0f)), 145.0f))) + 110));
  }
}
