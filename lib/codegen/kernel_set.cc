// The distinct kernels of one target; see kernel_set.h.
#include "codegen/kernel_set.h"

#include "base/sha256.h"
#include "codegen/print.h"
#include "codegen/reduced_floats.h"
#include "codegen/stated_text.h"

namespace dnn::codegen {
namespace {

using loops::Kernel;

// Scheduled, and with buffers as memory has them.
Kernel in_memory(const Kernel& kernel, const std::set<const loops::Buffer*>& packable, ScheduleOptions options,
                 const NarrowBuffers& narrow) {
  options.narrow.insert(narrow.names.begin(), narrow.names.end());
  options.factors = narrow.factors;
  options.exact = narrow.exact;
  const Kernel scheduled =
      options.target.isa->gpu ? schedule_gpu(kernel, packable, options) : schedule_cpu(kernel, packable, options);
  return narrow_buffers(scheduled, narrow.names, options.target.element);
}

}  // namespace

KernelSet::KernelSet(const GenerateOptions& options, const Target& target) : options_(options), target_(target) {
  if (const auto chosen = options.schedules.find(target.isa->name); chosen != options.schedules.end())
    chosen_ = chosen->second;
}

Kernel KernelSet::schedule(Kernel kernel, const std::set<const loops::Buffer*>& packable, double flops,
                           const NarrowBuffers& narrow) const {
  kernel.exact = kernel.exact || has_stated_functions(kernel.body);
  std::string lowered = loops::to_text(kernel);
  if (kernel.exact) lowered += " exact";
  for (const loops::BufferRef& b : kernel.arguments)
    lowered += packable.count(b.get()) != 0 ? " packable " + b->name : "";
  for (const std::string& name : narrow.names) lowered += cat(" ", dtype_name(target_.element), " ", name);
  for (const std::string& name : narrow.factors) lowered += cat(" factor ", name);
  for (const std::string& name : narrow.exact) lowered += cat(" exact ", name);
  kernel.name = kernel.pattern + "_" + sha256_hex(as_bytes(lowered)).substr(0, 12);
  if (options_.on_workload && index_.count(kernel.name) == 0) {
    options_.on_workload(
        {kernel.name, kernel.comment, flops, [kernel, packable, narrow, target = target_](const ScheduleParameters& p) {
           return print_kernel(in_memory(kernel, packable, {target, p}, narrow), vocabulary_of(*target.isa));
         }});
  }
  ScheduleOptions schedule = {target_};
  schedule.any_byte_order = options_.on_c_text != nullptr;
  if (const auto chosen = chosen_.find(kernel.name); chosen != chosen_.end()) {
    schedule.parameters = chosen->second;
    kernel.comment += " " + to_text(chosen->second);
  }
  return in_memory(kernel, packable, std::move(schedule), narrow);
}

int32_t KernelSet::add(Kernel kernel) {
  const auto [entry, fresh] = index_.try_emplace(kernel.name, static_cast<int32_t>(kernels_.size()));
  if (fresh) kernels_.push_back(std::move(kernel));
  return entry->second;
}

const Vocabulary& vocabulary_of(const Isa& isa) {
  switch (isa.language) {
    case Language::C: return c_vocabulary(isa.architecture);
    case Language::OpenCl: return opencl_vocabulary();
    case Language::Cuda: return cuda_vocabulary();
    case Language::None: break;
  }
  fail_internal("kernels are printed for a device that interprets");
}

}  // namespace dnn::codegen
