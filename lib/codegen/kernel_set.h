// The distinct kernels of one target: scheduled, named by what they compute, in first-use order.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "codegen/print.h"
#include "codegen/schedule.h"

namespace dnn::codegen {

// A kernel's buffers of float32 that memory has in 16 bits, constants that it may have so, and those that hold such numbers in 32 bits, by
// name.
struct NarrowBuffers {
  std::vector<std::string> names;
  std::set<std::string> factors, exact = {};
};

class KernelSet {
 public:
  // `options` and `target` must outlive it.
  KernelSet(const GenerateOptions& options, const Target& target);

  // The kernel scheduled, and with buffers as memory has them. Its name says what it computes, whatever the instruction set and the
  // schedule. `packable`: see schedule_cpu(). `flops`: of one launch.
  loops::Kernel schedule(loops::Kernel kernel, const std::set<const loops::Buffer*>& packable, double flops,
                         const NarrowBuffers& narrow) const;
  // The number of a kernel that schedule() made; those of one name are one.
  int32_t add(loops::Kernel kernel);

  std::vector<loops::Kernel> take() { return std::move(kernels_); }

 private:
  const GenerateOptions& options_;
  const Target& target_;
  std::map<std::string, ScheduleParameters> chosen_;  // by kernel
  std::vector<loops::Kernel> kernels_;
  std::map<std::string, int32_t> index_;
};

// How an instruction set's kernels are printed.
const Vocabulary& vocabulary_of(const Isa& isa);

}  // namespace dnn::codegen
