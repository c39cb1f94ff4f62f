// MaxPool (pool): float32[1,2,5,5] -> float32[1,2,2,2]
void pool_66dd4f35cb43_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long c = task / 4;
    const long o0 = (task / 2) % 2;
    const long o1 = task % 2;
    float best;
    best = -inf_f32();
    for (long k0 = 0; k0 < 3; ++k0) {
      for (long k1 = 0; k1 < 3; ++k1) {
        best = max_f32(best, (((0 <= ((k0 + (o0 * 2)) - 1)) && (0 <= ((k1 + (o1 * 2)) - 1))) ? x0[((((((c * 25) + (k0 * 5)) + k1) + (o0 * 10)) + (o1 * 2)) - 6)] : -inf_f32()));
      }
    }
    y0[(((c * 4) + (o0 * 2)) + o1)] = best;
  }
}
__kernel void pool_66dd4f35cb43(__global float* restrict y0, __global float* restrict x0) {
  pool_66dd4f35cb43_task(y0, x0, get_global_id(0));
}

// AveragePool (pool): float32[1,2,2,2] -> float32[1,2,1,1]
void pool_2a8488a0e1e2_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long c = task;
    float sum;
    sum = 0.0f;
    for (long k0 = 0; k0 < 2; ++k0) {
      for (long k1 = 0; k1 < 2; ++k1) {
        sum = (sum + x0[(((c * 4) + (k0 * 2)) + k1)]);
      }
    }
    y0[c] = (sum / 4.0f);
  }
}
__kernel void pool_2a8488a0e1e2(__global float* restrict y0, __global float* restrict x0) {
  pool_2a8488a0e1e2_task(y0, x0, get_global_id(0));
}

// GlobalAveragePool (reduce): float32[1,2,1,1] -> float32[1,2,1,1]
void reduce_e7e41f031ced_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long c = task;
    float sum;
    sum = 0.0f;
    sum = (sum + x0[c]);
    y0[c] = (sum / 1.0f);
  }
}
__kernel void reduce_e7e41f031ced(__global float* restrict y0, __global float* restrict x0) {
  reduce_e7e41f031ced_task(y0, x0, get_global_id(0));
}
