// What a processor could do: its highest rate of arithmetic and of memory traffic, measured.
#pragma once
#include <string>

namespace dnn {

struct Peaks {
  double gflops = 0;        // float32 multiply-adds as two operations, in registers
  double gbytes_per_s = 0;  // read and written, of buffers too large for any cache
  std::string isa;
  int threads = 1;
};

// Takes about 50 ms, on `threads` threads at once; `isa` as the packages name it (base/cpu.h), which must run here.
Peaks measure_peaks(const std::string& isa, int threads);

}  // namespace dnn
