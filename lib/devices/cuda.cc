// CUDA devices: a package's kernels compiled by NVRTC for the GPU at hand, a task a thread or a block of them, launched through the driver in the order
// of the steps. Neither library is needed to build this; both are loaded where they are.
#include <algorithm>
#include <utility>

#include "devices/cuda_driver.h"
#include "devices/nvrtc.h"
#include "devices/planned.h"
#include "target/level.h"

namespace dnn {
namespace {

constexpr int64_t kBlockThreads = 128;  // of kernels whose tasks are threads
constexpr int64_t kAlign = 256;         // bytes, between constants that share an allocation

// A module, an allocation, a context: released by the driver that made it.
class Released {
 public:
  explicit Released(const CudaDriver& driver) : driver_(driver) {}
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 protected:
  const CudaDriver& driver_;
};

class PrimaryContext : Released {
 public:
  PrimaryContext(const CudaDriver& driver, CudaDriver::Device device) : Released(driver), device_(device) {
    driver.check(driver.retain_context(&context_, device), "taking the device");
  }
  ~PrimaryContext() { driver_.release_context(device_); }
  CudaDriver::Context get() const { return context_; }
  // Of this thread from now on.
  void use() const { driver_.check(driver_.set_context(context_), "taking the device"); }

 private:
  CudaDriver::Device device_;
  CudaDriver::Context context_ = nullptr;
};

class CudaMemory : Released {
 public:
  CudaMemory(const CudaDriver& driver, const PrimaryContext& context, int64_t bytes)
      : Released(driver), context_(context) {
    driver.check(driver.allocate(&at_, std::max<int64_t>(bytes, 1)), "allocating memory");
  }
  ~CudaMemory() { driver_.release(at_); }
  CudaDriver::Pointer at() const { return at_; }
  void write(int64_t offset, const void* from, size_t bytes) const {
    if (bytes == 0) return;
    context_.use();
    driver_.check(driver_.to_device(at_ + static_cast<size_t>(offset), from, bytes), "writing memory");
  }
  void read(int64_t offset, void* to, size_t bytes) const {
    if (bytes == 0) return;
    context_.use();
    driver_.check(driver_.to_host(to, at_ + static_cast<size_t>(offset), bytes), "reading memory");
  }

 private:
  const PrimaryContext& context_;
  CudaDriver::Pointer at_ = 0;
};

class Module : Released {
 public:
  Module(const CudaDriver& driver, const std::string& code) : Released(driver) {
    driver.check(driver.load_module(&module_, code.data()), "loading the kernels");
  }
  ~Module() { driver_.unload_module(module_); }
  CudaDriver::Function function(const std::string& name) const {
    CudaDriver::Function found = nullptr;
    driver_.check(driver_.find_function(&found, module_, name.c_str()), "finding a kernel");
    return found;
  }

 private:
  CudaDriver::Module module_ = nullptr;
};

// Kernels that were launched while it began and ended, in their order: launched again at once.
class RecordedLaunches : Released {
 public:
  RecordedLaunches(const CudaDriver& driver, CudaDriver::Stream stream, const std::function<void()>& launch)
      : Released(driver) {
    constexpr int kRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED: what other threads call meanwhile is their own
    CudaDriver::Graph graph = nullptr;
    driver.check(driver.begin_capture(stream, kRelaxed), "recording launches");
    try {
      launch();
    } catch (...) {
      driver.end_capture(stream, &graph);
      if (graph != nullptr) driver.destroy_graph(graph);
      throw;
    }
    driver.check(driver.end_capture(stream, &graph), "recording launches");
    const int status = driver.instantiate(&launches_, graph, 0);
    driver.destroy_graph(graph);
    driver.check(status, "recording launches");
  }
  ~RecordedLaunches() { driver_.destroy_launches(launches_); }
  void launch(CudaDriver::Stream stream) const {
    driver_.check(driver_.launch_recorded(launches_, stream), "launching kernels");
  }

 private:
  CudaDriver::Launches launches_ = nullptr;
};

// One that waits for copies to and from memory, and these for it (CU_STREAM_DEFAULT).
class Stream : Released {
 public:
  explicit Stream(const CudaDriver& driver) : Released(driver) {
    driver.check(driver.create_stream(&stream_, 0), "making a stream");
  }
  ~Stream() { driver_.destroy_stream(stream_); }
  CudaDriver::Stream get() const { return stream_; }

 private:
  CudaDriver::Stream stream_ = nullptr;
};

// What keeps each rounding of levels 0 to 2 where the operators' documents have it; from 3 on as on other devices.
// `exact`: for kernels that are told to share their bits with other levels (codegen/print.h).
std::vector<std::string> compiler_options(int opt, bool exact) {
  const Level& level = level_of(opt);
  std::vector<std::string> result = {level.contract && !exact ? "--fmad=true" : "--fmad=false",
                                     level.flush_denormals ? "--ftz=true" : "--ftz=false"};
  if (!level.approximate_division || exact) result.insert(result.end(), {"--prec-div=true", "--prec-sqrt=true"});
  return result;
}

std::string variable_of(const DeviceOptions& options, const std::string& name) {
  return options.variable ? options.variable(name) : "";
}

// `path`: NVRTC's, or "".
std::string machine_code(const Package& package, const Variant& variant, const CudaDriver& driver,
                         CudaDriver::Device device, const std::string& path) {
  if (!variant.compiled()) fail_usage("the package holds no code; compile it with --device cuda");
  std::string why;
  const std::unique_ptr<Nvrtc> nvrtc = Nvrtc::open(path, &why);
  if (nvrtc == nullptr) fail_environment(why);
  const Nvrtc::Compiled compiled =
      nvrtc->compile(variant.code.source, driver.compute_capability(device),
                     compiler_options(package.info.opt, holds_exact_kernels(variant.code.source)));
  if (compiled.code.empty()) {
    const size_t error = compiled.log.find("error");
    fail_environment("NVRTC ", nvrtc->version(), " does not compile the kernels: ",
                     compiled.log.substr(error == std::string::npos ? 0 : error, 200));
  }
  return compiled.code;
}

class CudaSession : public PlannedSession {
 public:
  CudaSession(std::shared_ptr<const Package> package, const Variant& variant, std::unique_ptr<CudaDriver> driver,
              int index, const std::string& nvrtc)
      : PlannedSession(std::move(package), variant),
        driver_(std::move(driver)),
        name_(driver_->name(driver_->device(index))),
        context_(*driver_, driver_->device(index)) {
    context_.use();
    module_ =
        std::make_unique<Module>(*driver_, machine_code(*package_, *variant_, *driver_, driver_->device(index), nvrtc));
    stream_ = std::make_unique<Stream>(*driver_);
    allocate();
    for (const KernelInfo& kernel : variant_->kernels) functions_.push_back(module_->function(kernel.name));
    for (const Step& step : variant_->steps) {
      arguments_.emplace_back();
      for (size_t a = 0; step.kernel >= 0 && a < step.arguments.size(); ++a)
        arguments_.back().push_back(pointer_of(step.arguments[a]));
    }
  }

  // What it holds is released on the thread that destroys it, which may have been at another device.
  ~CudaSession() override { driver_->set_context(context_.get()); }
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;

  std::string isa() const override { return name_; }
  std::map<std::string, std::string> facts() const override { return {{"cuda", driver_->version()}}; }

 private:
  std::unique_ptr<CudaMemory> memory(int64_t bytes) const {
    return std::make_unique<CudaMemory>(*driver_, context_, bytes);
  }

  void allocate() {
    const auto bytes_of = [](const Type& type) {
      return element_count(type.fixed_shape()) * static_cast<int64_t>(dtype_size(type.dtype));
    };
    arena_ = memory(variant_->arena_bytes);
    for (const Tensor& constant : package_->constants.all()) {
      constant_at_.push_back(constants_bytes_);
      constants_bytes_ += (static_cast<int64_t>(constant.size_bytes()) + kAlign - 1) / kAlign * kAlign;
    }
    constants_ = memory(constants_bytes_);
    for (size_t i = 0; i < package_->constants.size(); ++i)
      constants_->write(constant_at_[i], package_->constants[i].bytes().data(), package_->constants[i].size_bytes());
    for (const Type& type : package_->input_types) inputs_.push_back(memory(bytes_of(type)));
    for (const Type& type : package_->output_types) outputs_.push_back(memory(type.fixed() ? bytes_of(type) : 0));
  }

  CudaDriver::Pointer pointer_of(const Argument& a) const {
    const size_t at = a.at;
    switch (a.kind) {
      case Argument::Kind::Arena: return arena_->at() + at;
      case Argument::Kind::Constant: return constants_->at() + static_cast<size_t>(constant_at_[at]);
      case Argument::Kind::Input: return inputs_[at]->at();
      case Argument::Kind::Output: return outputs_[at]->at();
      default: fail_internal("a kernel argument has no memory");
    }
  }

  // As far as the next node that is interpreted; what is recorded of them the first time is one launch from then on.
  size_t launch_from(size_t i) override {
    size_t end = i;
    while (end < variant_->steps.size() && variant_->steps[end].kernel >= 0) ++end;
    if (!driver_->records() || end == i + 1) return PlannedSession::launch_from(i);
    context_.use();
    std::unique_ptr<RecordedLaunches>& recorded = recorded_[i];
    if (recorded == nullptr) {
      recorded = std::make_unique<RecordedLaunches>(*driver_, stream_->get(), [&] {
        for (size_t step = i; step < end; ++step) launch(step);
      });
    }
    recorded->launch(stream_->get());
    return end;
  }
  void launch(size_t i) override {
    const size_t kernel = variant_->steps[i].kernel;
    const int64_t tasks = variant_->code.tasks[kernel], own = variant_->code.threads[kernel];
    const int64_t threads = own > 0 ? own : kBlockThreads;
    const int64_t blocks = own > 0 ? tasks : (tasks + threads - 1) / threads;
    if (blocks > INT32_MAX) fail_unsupported("a kernel of ", tasks, " tasks is more than a GPU launches at once");
    context_.use();  // whichever thread runs it, and whatever that ran before
    std::vector<void*> pointers;
    for (CudaDriver::Pointer& argument : arguments_[i]) pointers.push_back(&argument);
    driver_->check(driver_->launch(functions_[kernel], static_cast<unsigned>(blocks), 1, 1,
                                   static_cast<unsigned>(threads), 1, 1, 0, stream_->get(), pointers.data(), nullptr),
                   "launching a kernel");
  }
  void finish() override {
    context_.use();
    driver_->check(driver_->synchronize(), "running the kernels");
  }
  void upload_inputs() override {
    for (size_t i = 0; i < inputs_.size(); ++i)
      inputs_[i]->write(0, inputs()[i].bytes().data(), inputs()[i].size_bytes());
  }
  void read_arena(int64_t offset, std::byte* to, size_t bytes) override { arena_->read(offset, to, bytes); }
  void write_arena(int64_t offset, const std::byte* from, size_t bytes) override { arena_->write(offset, from, bytes); }
  void read_output(size_t i) override { outputs_[i]->read(0, output(i).mutable_bytes(), output(i).size_bytes()); }
  void write_output(size_t i) override { outputs_[i]->write(0, output(i).bytes().data(), output(i).size_bytes()); }

  std::unique_ptr<CudaDriver> driver_;
  std::string name_;
  PrimaryContext context_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Module> module_;
  std::vector<CudaDriver::Function> functions_;                   // by kernel
  std::vector<std::vector<CudaDriver::Pointer>> arguments_;       // by step
  std::map<size_t, std::unique_ptr<RecordedLaunches>> recorded_;  // by their first step
  std::unique_ptr<CudaMemory> arena_, constants_;
  std::vector<std::unique_ptr<CudaMemory>> inputs_, outputs_;
  std::vector<int64_t> constant_at_;  // bytes into constants_
  int64_t constants_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Session> cuda_open(std::shared_ptr<const Package> package, const std::string& index,
                                   const DeviceOptions& options) {
  std::string why;
  std::unique_ptr<CudaDriver> driver = CudaDriver::open(variable_of(options, "DNN_CUDA"), &why);
  if (driver == nullptr) fail_environment(why);
  int64_t n = 0;
  parse_int(index, &n);
  if (n >= driver->device_count()) {
    fail_environment("device cuda:", n, ": no such device, ", driver->device_count(),
                     " found (see dnn-infer --list-devices)");
  }
  const Variant& variant = package->variants.front();
  return std::make_unique<CudaSession>(std::move(package), variant, std::move(driver), static_cast<int>(n),
                                       variable_of(options, "DNN_NVRTC"));
}

// A driver, or a device, that does not answer is as if it were not there: others are.
std::vector<std::string> cuda_list(const DeviceOptions& options) {
  std::vector<std::string> lines;
  try {
    std::string why;
    const std::unique_ptr<CudaDriver> driver = CudaDriver::open(variable_of(options, "DNN_CUDA"), &why);
    for (int i = 0; driver != nullptr && i < driver->device_count(); ++i) {
      const CudaDriver::Device device = driver->device(i);
      const int capability = driver->compute_capability(device);
      lines.push_back(cat("cuda:", i, "\t", driver->name(device), ", compute capability ", capability / 10, ".",
                          capability % 10, ", CUDA ", driver->version()));
    }
  } catch (const Error&) {
    return lines;
  }
  return lines;
}

}  // namespace dnn
