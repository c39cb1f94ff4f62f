// The CPU device: runs a package's compiled C kernels over a thread pool, in one arena.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/cpu.h"
#include "base/threads.h"
#include "devices/device.h"
#include "loops/layout.h"

namespace dnn {
namespace {

using KernelFunction = void (*)(void* const* args, int64_t begin, int64_t end);

// A shared object loaded from memory: nothing is left on disk.
class SharedObject {
 public:
  explicit SharedObject(const std::string& binary) {
    const int fd = ::memfd_create("dnn-kernels", MFD_CLOEXEC);
    if (fd < 0) fail_environment("cannot make a memory file: ", std::strerror(errno));
    size_t done = 0;
    while (done < binary.size()) {
      const ssize_t n = ::write(fd, binary.data() + done, binary.size() - done);
      if (n <= 0) {
        ::close(fd);
        fail_environment("cannot write a memory file: ", std::strerror(errno));
      }
      done += static_cast<size_t>(n);
    }
    handle_ = ::dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
    ::close(fd);
    if (handle_ == nullptr) fail_malformed("the package's code does not load: ", ::dlerror());
  }
  ~SharedObject() { ::dlclose(handle_); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  KernelFunction function(const std::string& name) const {
    void* symbol = ::dlsym(handle_, name.c_str());
    if (symbol == nullptr) fail_malformed("the package's code lacks kernel ", name);
    return reinterpret_cast<KernelFunction>(symbol);
  }

 private:
  void* handle_ = nullptr;
};

const Code& choose_code(const Package& package, const std::string& forced) {
  const std::vector<std::string> supported = supported_isas();
  auto runs = [&](const std::string& isa) {
    return std::find(supported.begin(), supported.end(), isa) != supported.end();
  };
  const Code* best = nullptr;
  for (const Code& code : package.codes) {
    if (!forced.empty() ? code.isa != forced : !runs(code.isa)) continue;
    const auto rank = [&](const Code& c) { return std::find(known_isas().begin(), known_isas().end(), c.isa); };
    if (best == nullptr || rank(*best) < rank(code)) best = &code;
  }
  if (best == nullptr) {
    std::vector<std::string> have;
    for (const Code& code : package.codes) have.push_back(code.isa);
    fail_environment("the package holds code for ", have.empty() ? "no instruction set" : join(have), ", not for ",
                     forced.empty() ? "this processor" : forced, "; compile it with --isa");
  }
  if (!runs(best->isa)) fail_environment("this processor does not run ", best->isa, " code; it has ", join(supported));
  return *best;
}

class CpuSession : public Session {
 public:
  CpuSession(std::shared_ptr<const Package> package, const DeviceOptions& options)
      : Session(std::move(package)),
        code_(choose_code(*package_, options.isa)),
        object_(code_.binary),
        pool_(options.threads) {
    for (const KernelInfo& kernel : package_->kernels) functions_.push_back(object_.function(kernel.name));
    const size_t bytes = static_cast<size_t>(package_->arena_bytes);
    arena_ = Tensor(DType::UInt8, {package_->arena_bytes});
    arena_data_ = arena_.mutable_bytes();
    // Huge pages where the system gives them: fewer TLB misses on large nets.
    if (bytes >= (size_t{4} << 20))
      ::madvise(reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(arena_data_) + 4095) & ~uintptr_t{4095}),
                bytes - 4096, MADV_HUGEPAGE);
    slots_.resize(static_cast<size_t>(package_->slots));
    for (const Step& step : package_->steps) pointers_.emplace_back(step.arguments.size(), nullptr);
    profile_.resize(package_->steps.size());
  }

  std::string isa() const override { return code_.isa; }
  int threads() const override { return pool_.size(); }
  void enable_profile(bool on) override { profiling_ = on; }
  std::vector<StepProfile> profile() const override { return profile_; }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return run(inputs, {}); }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
    return run(inputs, observe);
  }

 private:
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Observer& observe) {
    check_inputs(inputs);
    const Graph& graph = package_->graph;
    outputs_.clear();
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Argument& where = place(graph.outputs[i]).where;
      const bool direct = where.kind == Argument::Kind::Output && where.at == static_cast<int64_t>(i);
      outputs_.push_back(direct ? Tensor(package_->output_types[i].dtype, package_->output_types[i].fixed_shape())
                                : Tensor());
    }
    inputs_ = &inputs;
    if (observe) {
      for (size_t i = 0; i < inputs.size(); ++i) observe(graph, graph.inputs[i], inputs[i]);
    }
    for (size_t i = 0; i < package_->steps.size(); ++i) {
      const Step& step = package_->steps[i];
      const auto start = profiling_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
      if (step.kernel >= 0) {
        launch(step, pointers_[i]);
      } else {
        interpret_step(step);
      }
      if (profiling_) {
        profile_[i].time_ns +=
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
        ++profile_[i].runs;
      }
      if (observe && (i + 1 == package_->steps.size() || package_->steps[i + 1].node != step.node)) {
        for (ValueId id : graph.node(step.node).outputs) {
          if (id != kNoValue) observe(graph, id, fetch(id));
        }
      }
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      if (!outputs_[i].defined()) outputs_[i] = fetch(graph.outputs[i]);
    }
    return std::move(outputs_);
  }

  const Placement& place(ValueId id) const { return package_->values[static_cast<size_t>(id)]; }

  void* address(const Argument& a) {
    switch (a.kind) {
      case Argument::Kind::Arena: return arena_data_ + a.at;
      case Argument::Kind::Constant:
        return const_cast<std::byte*>(package_->constants[static_cast<size_t>(a.at)].bytes().data());
      case Argument::Kind::Input: return const_cast<std::byte*>((*inputs_)[static_cast<size_t>(a.at)].bytes().data());
      case Argument::Kind::Output: return outputs_[static_cast<size_t>(a.at)].mutable_bytes();
      default: fail_internal("a kernel argument has no address");
    }
  }

  void launch(const Step& step, std::vector<void*>& pointers) {
    for (size_t i = 0; i < pointers.size(); ++i) pointers[i] = address(step.arguments[i]);
    struct Call {
      KernelFunction function;
      void* const* args;
      bool flush;
    } call{functions_[static_cast<size_t>(step.kernel)], pointers.data(), package_->info.opt >= 3};
    auto job = [](void* context, int64_t begin, int64_t end) {
      const Call& c = *static_cast<const Call*>(context);
      FlushDenormals flush(c.flush);
      c.function(c.args, begin, end);
    };
    pool_.run(code_.tasks[static_cast<size_t>(step.kernel)], job, &call);
  }

  // A value as a row-major tensor: a copy where it lies in the arena.
  Tensor fetch(ValueId id) {
    const Argument& where = place(id).where;
    const Value& value = package_->graph.value(id);
    switch (where.kind) {
      case Argument::Kind::Slot: return slots_[static_cast<size_t>(where.at)];
      case Argument::Kind::Input: return (*inputs_)[static_cast<size_t>(where.at)];
      case Argument::Kind::Output: return outputs_[static_cast<size_t>(where.at)];
      case Argument::Kind::Arena: break;
      default: return value.constant ? *value.constant : Tensor();
    }
    const Shape shape = value.type.fixed_shape();
    const loops::Layout layout = loops::Layout::parse(place(id).layout);
    Tensor packed(value.type.dtype, {layout.element_count(shape)});
    std::memcpy(packed.mutable_bytes(), arena_data_ + where.at, packed.size_bytes());
    return layout.row_major() ? packed.reshaped(shape) : loops::unpack(packed, shape, layout);
  }

  void interpret_step(const Step& step) {
    const Node& node = package_->graph.node(step.node);
    std::vector<Tensor> held;
    held.reserve(node.inputs.size());
    std::vector<const Tensor*> inputs;
    for (ValueId id : node.inputs) {
      if (id == kNoValue) {
        inputs.push_back(nullptr);
        continue;
      }
      held.push_back(fetch(id));
      inputs.push_back(&held.back());
    }
    std::map<std::string, Tensor> captured;
    for (ValueId id : captured_values(package_->graph, node)) captured[package_->graph.value(id).name] = fetch(id);
    std::vector<Tensor> results = interpret_node(node, inputs, captured);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      const Argument& where = place(id).where;
      const Value& value = package_->graph.value(id);
      if (where.kind == Argument::Kind::Slot) {
        slots_[static_cast<size_t>(where.at)] = std::move(results[i]);
        continue;
      }
      if (results[i].dtype() != value.type.dtype || results[i].shape() != value.type.fixed_shape()) {
        fail_internal(node.label(), ": made ", Type(results[i]).text(), " where ", value.type.text(), " was inferred");
      }
      if (where.kind == Argument::Kind::Output) {
        outputs_[static_cast<size_t>(where.at)] = std::move(results[i]);
      } else {
        std::memcpy(arena_data_ + where.at, results[i].bytes().data(), results[i].size_bytes());
      }
    }
  }

  const Code& code_;
  SharedObject object_;
  ThreadPool pool_;
  std::vector<KernelFunction> functions_;
  Tensor arena_;
  std::byte* arena_data_ = nullptr;
  std::vector<Tensor> slots_, outputs_;
  std::vector<std::vector<void*>> pointers_;  // by step
  const std::vector<Tensor>* inputs_ = nullptr;
  bool profiling_ = false;
  std::vector<StepProfile> profile_;
};

}  // namespace

std::unique_ptr<Session> cpu_open(std::shared_ptr<const Package> package, const std::string&,
                                  const DeviceOptions& options) {
  return std::make_unique<CpuSession>(std::move(package), options);
}

std::vector<std::string> cpu_list() {
  return {cat("cpu\t", cpu_name(), ", ", available_processors(), " processors, ", join(supported_isas(), " "))};
}

}  // namespace dnn
