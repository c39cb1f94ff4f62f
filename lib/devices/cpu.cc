// The CPU device: runs a package's compiled C kernels over a thread pool, in one arena.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

#include "base/cpu.h"
#include "base/threads.h"
#include "devices/activations.h"
#include "devices/cpu_kernels.h"
#include "devices/planned.h"
#include "target/isa.h"

namespace dnn {
namespace {

class CpuSession : public PlannedSession {
 public:
  CpuSession(std::shared_ptr<const Package> package, const Variant& variant, const DeviceOptions& options)
      : PlannedSession(std::move(package), variant),
        kernels_(*package_, *variant_),
        processors_(options.processors),
        pool_(options.threads, processors_) {
    for (const Step& step : variant_->steps) pointers_.emplace_back(step.arguments.size(), nullptr);
    keep_samples(false);
  }

  std::string isa() const override { return variant_->target.isa; }
  int threads() const override { return pool_.size(); }
  std::vector<int> pinned_to() const override { return processors_; }

 private:
  using Pointers = std::vector<void*>;

  // As many samples are on their way at once as there are threads. Pages that are not touched take no memory.
  void keep_samples(bool all) override {
    const int64_t samples = variant_->samples();
    reserve(variant_->arena_bytes +
            variant_->sample_arena_bytes * (all ? samples : std::min<int64_t>(samples, pool_.size())));
  }

  void reserve(int64_t bytes) {
    if (arena_.defined() && arena_.size() >= bytes) return;
    const TensorBudget budget(most_activations(*package_, *variant_));
    arena_ = Tensor(DType::UInt8, {bytes});
    arena_data_ = arena_.mutable_bytes();
  }

  void* address(const Argument& a) {
    const size_t at = a.at;
    switch (a.kind) {
      case Argument::Kind::Arena: return arena_data_ + a.at;
      case Argument::Kind::Sample: return arena_data_ + variant_->arena_bytes + a.at;
      case Argument::Kind::Constant: return const_cast<std::byte*>(package_->constants[at].bytes().data());
      case Argument::Kind::Input: return const_cast<std::byte*>(inputs()[at].bytes().data());
      case Argument::Kind::Output: return output(at).mutable_bytes();
      default: fail_internal("a kernel argument has no address");
    }
  }

  void find_pointers(size_t i) {
    const Step& step = variant_->steps[i];
    for (size_t a = 0; a < step.arguments.size(); ++a) pointers_[i][a] = address(step.arguments[a]);
  }

  // The pointers of a step for a sample that has the arena number `arena`.
  Pointers pointers_for(size_t i, int64_t sample, int64_t arena) const {
    const Step& step = variant_->steps[i];
    Pointers pointers = pointers_[i];
    for (size_t a = 0; a < pointers.size(); ++a) {
      const int64_t by = step.arguments[a].kind == Argument::Kind::Sample ? arena * variant_->sample_arena_bytes
                                                                          : sample * step.strides[a];
      pointers[a] = static_cast<std::byte*>(pointers[a]) + by;
    }
    return pointers;
  }

  void launch(size_t i) override {
    find_pointers(i);
    if (variant_->steps[i].samples > 1) return launch_together(i, 0, variant_->steps[i].samples);
    kernels_.run(pool_, i, pointers_[i].data());
  }

  // A step of the samples from `first` to before `last`, each in an arena of its own, all threads at them together.
  void launch_together(size_t i, int64_t first, int64_t last) {
    struct Call {
      CpuKernels::Function function;
      std::vector<Pointers> args;  // by sample
      int64_t tasks;
      bool flush;
    } call{kernels_.function(i), {}, kernels_.tasks(i), kernels_.flush_denormals()};
    for (int64_t s = first; s < last; ++s) call.args.push_back(pointers_for(i, s, s - first));
    auto job = [](void* context, int64_t begin, int64_t end) {
      const Call& c = *static_cast<const Call*>(context);
      FlushDenormals flush(c.flush);
      while (begin < end) {
        const int64_t sample = begin / c.tasks, from = begin % c.tasks;
        const int64_t to = std::min(c.tasks, from + end - begin);
        c.function(c.args[sample].data(), from, to);
        begin += to - from;
      }
    };
    pool_.run(call.tasks * (last - first), job, &call);
  }

  // Each thread brings one sample after the other through all of the steps; what is left when there are fewer than threads goes step by
  // step.
  void launch_samples(size_t first, size_t last, std::vector<int64_t>* times_ns) override {
    using Clock = std::chrono::steady_clock;
    const int64_t samples = variant_->steps[first].samples, threads = pool_.size();
    const int64_t alone = samples - samples % threads;
    for (size_t i = first; i <= last; ++i) find_pointers(i);
    std::mutex mutex;
    const auto timed = [&](size_t i, int64_t share, const auto& work) {
      if (times_ns == nullptr) return work();
      const Clock::time_point start = Clock::now();
      work();
      const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
      std::lock_guard lock(mutex);
      (*times_ns)[i] += ns / share;
    };
    std::atomic<int64_t> next{0};
    parallel_for(pool_, alone == 0 ? 0 : threads, [&](int64_t thread) {
      FlushDenormals flush(kernels_.flush_denormals());
      for (int64_t s = next++; s < alone; s = next++) {
        for (size_t i = first; i <= last; ++i) {
          Pointers args = pointers_for(i, s, thread);
          timed(i, threads, [&] { kernels_.function(i)(args.data(), 0, kernels_.tasks(i)); });
        }
      }
    });
    for (size_t i = first; i <= last && alone < samples; ++i) timed(i, 1, [&] { launch_together(i, alone, samples); });
  }

  void read_arena(int64_t offset, std::byte* to, size_t bytes) override {
    std::memcpy(to, arena_data_ + offset, bytes);
  }
  void write_arena(int64_t offset, const std::byte* from, size_t bytes) override {
    std::memcpy(arena_data_ + offset, from, bytes);
  }

  const CpuKernels kernels_;
  const std::vector<int> processors_;
  ThreadPool pool_;
  Tensor arena_;
  std::byte* arena_data_ = nullptr;
  std::vector<Pointers> pointers_;  // by step, of the first sample
};

}  // namespace

std::unique_ptr<Session> cpu_open(std::shared_ptr<const Package> package, const std::string&,
                                  const DeviceOptions& options) {
  const Variant& variant = choose_cpu_variant(*package, options.isa);
  return std::make_unique<CpuSession>(std::move(package), variant, options);
}

std::vector<std::string> cpu_list(const DeviceOptions&) {
  return {cat("cpu\t", cpu_name(), ", ", available_processors(), " processors, ", join(supported_isas(), " "))};
}

}  // namespace dnn
