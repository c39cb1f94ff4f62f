// CUDA's vector types that kernels use, for the stand-in compiler.
#pragma once
struct alignas(16) float4 {
  float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
