// MaxPool (pool): float32[1,2,5,5] -> float32[1,2,2,2]
extern "C" __global__ void pool_66dd4f35cb43(float* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 8) {
    const int c = task / 4;
    const int o0 = (task / 2) % 2;
    const int o1 = task % 2;
    float best;
    best = -inf_f32();
    for (int k0 = 0; k0 < 3; ++k0) {
      for (int k1 = 0; k1 < 3; ++k1) {
        best = max_f32(best, (((0 <= ((k0 + (o0 * 2)) - 1)) && (0 <= ((k1 + (o1 * 2)) - 1))) ? x0[((((((c * 25) + (k0 * 5)) + k1) + (o0 * 10)) + (o1 * 2)) - 6)] : -inf_f32()));
      }
    }
    y0[(((c * 4) + (o0 * 2)) + o1)] = best;
  }
}

// AveragePool (pool): float32[1,2,2,2] -> float32[1,2,1,1]
extern "C" __global__ void pool_2a8488a0e1e2(float* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 2) {
    const int c = task;
    float sum;
    sum = 0.0f;
    for (int k0 = 0; k0 < 2; ++k0) {
      for (int k1 = 0; k1 < 2; ++k1) {
        sum = (sum + x0[(((c * 4) + (k0 * 2)) + k1)]);
      }
    }
    y0[c] = (sum / 4.0f);
  }
}

// GlobalAveragePool (reduce): float32[1,2,1,1] -> float32[1,2,1,1]
extern "C" __global__ void reduce_e7e41f031ced(float* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 2) {
    const int c = task;
    float sum;
    sum = 0.0f;
    sum = (sum + x0[c]);
    y0[c] = (sum / 1.0f);
  }
}
