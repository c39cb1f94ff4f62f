// Fused (map): float32[1,2,3,2] float32[2,1,1] -> float32[1,2,3,2]
extern "C" __global__ void map_46170b257439(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 12) {
    const int d1 = task / 6;
    const int d2 = task % 6;
    y0[((d1 * 6) + d2)] = tanh_f32((x0[((d1 * 6) + d2)] + x1[d1]));
  }
}

// Concat (map): float32[1,2,3,2] float32[1,2,3,2] -> float32[1,4,3,2]
extern "C" __global__ void map_461f3cdee0cc(float* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 12) {
    const int d1 = task;
    y0[d1] = x0[d1];
  }
}

// Concat (map): float32[1,2,3,2] float32[1,2,3,2] -> float32[1,4,3,2]
extern "C" __global__ void map_f854df3a3801(float* __restrict__ y0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 12) {
    const int d1 = task;
    y0[(d1 + 12)] = x1[d1];
  }
}
