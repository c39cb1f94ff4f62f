// The CPU device: runs a package's compiled C kernels over a thread pool, in one arena.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/cpu.h"
#include "base/threads.h"
#include "devices/planned.h"

namespace dnn {
namespace {

using KernelFunction = void (*)(void* const* args, int64_t begin, int64_t end);

// A shared object loaded from memory: nothing is left on disk. Its memory file stays open as long as it is loaded: dlopen
// takes a path that it has loaded before for the same object, and the number of a closed file is given out again.
class SharedObject {
 public:
  explicit SharedObject(const std::string& binary) {
    fd_ = ::memfd_create("dnn-kernels", MFD_CLOEXEC);
    if (fd_ < 0) fail_environment("cannot make a memory file: ", std::strerror(errno));
    size_t done = 0;
    while (done < binary.size()) {
      const ssize_t n = ::write(fd_, binary.data() + done, binary.size() - done);
      if (n <= 0) {
        ::close(fd_);
        fail_environment("cannot write a memory file: ", std::strerror(errno));
      }
      done += static_cast<size_t>(n);
    }
    handle_ = ::dlopen(("/proc/self/fd/" + std::to_string(fd_)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    ::close(fd_);
    fail_malformed("the package's code does not load: ", ::dlerror());
  }
  ~SharedObject() {
    ::dlclose(handle_);
    ::close(fd_);
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  KernelFunction function(const std::string& name) const {
    void* symbol = ::dlsym(handle_, name.c_str());
    if (symbol == nullptr) fail_malformed("the package's code lacks kernel ", name);
    return reinterpret_cast<KernelFunction>(symbol);
  }

 private:
  int fd_ = -1;
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

class CpuSession : public PlannedSession {
 public:
  CpuSession(std::shared_ptr<const Package> package, const DeviceOptions& options)
      : PlannedSession(std::move(package)),
        code_(choose_code(*package_, options.isa)),
        object_(code_.binary),
        pool_(options.threads),
        arena_(DType::UInt8, {package_->arena_bytes}),
        arena_data_(arena_.mutable_bytes()) {
    for (const KernelInfo& kernel : package_->kernels) functions_.push_back(object_.function(kernel.name));
    for (const Step& step : package_->steps) pointers_.emplace_back(step.arguments.size(), nullptr);
    // Huge pages where the system gives them: fewer TLB misses on large nets.
    constexpr size_t kPage = 4096;
    const auto bytes = static_cast<size_t>(package_->arena_bytes);
    if (bytes >= kPage * 1024) {
      const uintptr_t beyond = reinterpret_cast<uintptr_t>(arena_data_) % kPage;
      ::madvise(arena_data_ + (beyond == 0 ? 0 : kPage - beyond), bytes - kPage, MADV_HUGEPAGE);
    }
  }

  std::string isa() const override { return code_.isa; }
  int threads() const override { return pool_.size(); }

 private:
  void* address(const Argument& a) {
    const auto at = static_cast<size_t>(a.at);
    switch (a.kind) {
      case Argument::Kind::Arena: return arena_data_ + a.at;
      case Argument::Kind::Constant: return const_cast<std::byte*>(package_->constants[at].bytes().data());
      case Argument::Kind::Input: return const_cast<std::byte*>(inputs()[at].bytes().data());
      case Argument::Kind::Output: return output(at).mutable_bytes();
      default: fail_internal("a kernel argument has no address");
    }
  }

  void launch(size_t i) override {
    const Step& step = package_->steps[i];
    std::vector<void*>& pointers = pointers_[i];
    for (size_t a = 0; a < pointers.size(); ++a) pointers[a] = address(step.arguments[a]);
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

  void read_arena(int64_t offset, std::byte* to, size_t bytes) override {
    std::memcpy(to, arena_data_ + offset, bytes);
  }
  void write_arena(int64_t offset, const std::byte* from, size_t bytes) override {
    std::memcpy(arena_data_ + offset, from, bytes);
  }

  const Code& code_;
  SharedObject object_;
  ThreadPool pool_;
  std::vector<KernelFunction> functions_;
  Tensor arena_;
  std::byte* arena_data_ = nullptr;
  std::vector<std::vector<void*>> pointers_;  // by step
};

}  // namespace

std::unique_ptr<Session> cpu_open(std::shared_ptr<const Package> package, const std::string&,
                                  const DeviceOptions& options) {
  return std::make_unique<CpuSession>(std::move(package), options);
}

std::vector<std::string> cpu_list(const DeviceOptions&) {
  return {cat("cpu\t", cpu_name(), ", ", available_processors(), " processors, ", join(supported_isas(), " "))};
}

}  // namespace dnn
