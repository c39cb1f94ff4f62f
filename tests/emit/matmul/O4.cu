// Fused (matmul): float32[3,5] float32[5,6] float32[6] -> float32[3,6]
extern "C" __global__ void matmul_34b1de5135a5(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, float* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 18) {
    const int i = task / 6;
    const int j = task % 6;
    float sum;
    sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
      sum = fmaf(x0[((i * 5) + k)], x1[(j + (k * 6))], sum);
    }
    y0[((i * 6) + j)] = (sum + x2[j]);
  }
}
