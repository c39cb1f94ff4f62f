// Kernels of a package on this processor; see cpu_kernels.h.
#include "devices/cpu_kernels.h"

#include <tuple>

#include "target/isa.h"
#include "target/level.h"

namespace dnn {

const Variant& choose_cpu_variant(const Package& package, const std::string& forced) {
  const auto row_of = [](const Variant& variant) { return find_isa(Language::C, variant.target.isa); };
  const auto runs = [&](const Variant& variant) { return row_of(variant) != nullptr && row_of(variant)->runs_here(); };
  // The table has the best last, but for rows that are of no use to some processors. A name that it has not is of a newer version.
  const auto rank = [&](const Variant& variant) {
    const Isa* row = row_of(variant);
    return row == nullptr ? std::tuple(int64_t{0}, false, row) : std::tuple(row->vector_bytes, row->pays_here(), row);
  };
  const Variant* best = nullptr;
  std::vector<std::string> have;
  for (const Variant& variant : package.variants) {
    if (!variant.compiled()) continue;
    have.push_back(variant.target.isa);
    if (!forced.empty() ? variant.target.isa != forced : !runs(variant)) continue;
    if (best == nullptr || rank(*best) < rank(variant)) best = &variant;
  }
  if (best == nullptr) {
    fail_environment("the package holds code for ", have.empty() ? "no instruction set" : join(have), ", not for ",
                     forced.empty() ? "this processor" : forced, "; compile it with --isa");
  }
  if (!runs(*best))
    fail_environment("this processor does not run ", best->target.isa, " code; it has ", join(supported_isas()));
  return *best;
}

CpuKernels::CpuKernels(const Package& package, const Variant& variant)
    : variant_(variant), flush_(level_of(package.info.opt).flush_denormals), code_(variant.code.binary) {
  code_.start();
  for (const KernelInfo& kernel : variant.kernels)
    functions_.push_back(reinterpret_cast<Function>(code_.function(kernel.name)));
}

void CpuKernels::run(ThreadPool& pool, size_t step, void* const* args) const {
  struct Call {
    Function function;
    void* const* args;
    bool flush;
  } call{function(step), args, flush_};
  auto job = [](void* context, int64_t begin, int64_t end) {
    const Call& c = *static_cast<const Call*>(context);
    FlushDenormals flush(c.flush);
    c.function(c.args, begin, end);
  };
  pool.run(tasks(step), job, &call);
}

}  // namespace dnn
