// MatMul (matmul): float32[3,5] float32[5,6] -> float32[3,6]
extern "C" __global__ void matmul_b1a528f2607e(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 18) {
    const int i = task / 6;
    const int j = task % 6;
    float sum;
    sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
      sum = (sum + (x0[((i * 5) + k)] * x1[(j + (k * 6))]));
    }
    y0[((i * 6) + j)] = sum;
  }
}

// Add (map): float32[3,6] float32[6] -> float32[3,6]
extern "C" __global__ void map_6e915da9ac2d(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 18) {
    const int d0 = task / 6;
    const int d1 = task % 6;
    y0[((d0 * 6) + d1)] = (x0[((d0 * 6) + d1)] + x1[d1]);
  }
}
