// fma_peak: the rate of float32 multiply-adds in registers, in GFLOP/s, that this processor reaches right now.
//
//   fma_peak ISA THREADS      prints one number; takes about 50 ms
#include <iostream>

#include "base/error.h"
#include "devices/peaks.h"

int main(int argc, char** argv) {
  try {
    int64_t threads = 0;
    if (argc != 3 || !dnn::parse_int(argv[2], &threads) || threads < 1 || threads > 1024)
      dnn::fail_usage("fma_peak ISA THREADS");
    std::cout << dnn::measure_peaks(argv[1], static_cast<int>(threads)).gflops << '\n';
  } catch (const dnn::Error& error) {
    std::cerr << "fma_peak: error: " << error.what() << '\n';
    return error.exit_code();
  }
}
