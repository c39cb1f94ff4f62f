// The kernels of a package on this processor, loaded: what the sessions of the CPU share.
#pragma once
#include <string>
#include <vector>

#include "base/threads.h"
#include "devices/code.h"
#include "package/package.h"

namespace dnn {

// The best of the package's variants that this processor runs, or the one for the instruction set `forced`. Throws Environment.
const Variant& choose_cpu_variant(const Package& package, const std::string& forced);

class CpuKernels {
 public:
  using Function = void (*)(void* const* args, int64_t begin, int64_t end);

  // Loads the variant's code. Both must outlive this.
  CpuKernels(const Package& package, const Variant& variant);

  Function function(size_t step) const { return functions_[variant_.steps[step].kernel]; }
  int64_t tasks(size_t step) const { return variant_.code.tasks[variant_.steps[step].kernel]; }
  bool flush_denormals() const { return flush_; }
  // Runs a step of all samples at once over the pool.
  void run(ThreadPool& pool, size_t step, void* const* args) const;

 private:
  const Variant& variant_;
  const bool flush_;
  LoadedCode code_;
  std::vector<Function> functions_;  // by kernel
};

}  // namespace dnn
