// Functions of the library that come in a version for each width of vectors, and the choice among them.
#pragma once
#include <cstdint>

#include "base/cpu.h"

namespace dnn {

#if defined(__x86_64__)
// Before a function: compiled with instructions that widest_vector_bytes() says are here.
#define DNN_FOR_AVX2 [[gnu::target("avx2,fma")]]
#define DNN_FOR_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#endif

// Of the vectors that such functions may have on this processor: 64, 32, or 16, for which no attribute is needed.
inline int64_t widest_vector_bytes() {
  if (!has_feature(CpuFeature::Avx2) || !has_feature(CpuFeature::Fma)) return 16;
  for (const CpuFeature f : {CpuFeature::Avx512F, CpuFeature::Avx512Bw, CpuFeature::Avx512Dq, CpuFeature::Avx512Vl}) {
    if (!has_feature(f)) return 32;
  }
  return 64;
}

// The version for vectors of so many bytes.
template <class Function>
Function* version_for(int64_t vector_bytes, Function* of_16, Function* of_32, Function* of_64) {
  return vector_bytes >= 64 ? of_64 : vector_bytes >= 32 ? of_32 : of_16;
}

}  // namespace dnn
