// OpenCL devices: a package's kernels built by the driver, one work-item per task, in one arena buffer.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "devices/opencl_steps.h"
#include "devices/planned.h"
#include "loops/layout.h"

namespace dnn {
namespace {

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) fail_environment("OpenCL: ", what, " failed with ", status);
}

template <class T, cl_int (*release)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (handle_ != nullptr) release(handle_);
  }
  T get() const { return handle_; }

 private:
  T handle_ = nullptr;
};
using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Memory = Handle<cl_mem, clReleaseMemObject>;
using Program = Handle<cl_program, clReleaseProgram>;
using ClKernel = Handle<cl_kernel, clReleaseKernel>;

struct FoundDevice {
  cl_platform_id platform;
  cl_device_id device;
};

// PoCL's threads each stay on a processor of their own, unless the user says otherwise or this process may not use all of
// them. Where two share one, as wake-ups can leave them for milliseconds, each waits for the other's time slice to end.
void keep_pocl_threads_apart() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == sysconf(_SC_NPROCESSORS_CONF))
    setenv("POCL_AFFINITY", "1", 0);
}

// All devices of all platforms, in the loader's order: the N of opencl:N.
std::vector<FoundDevice> find_devices() {
  keep_pocl_threads_apart();
  std::vector<FoundDevice> found;
  cl_uint n_platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &n_platforms) != CL_SUCCESS || n_platforms == 0) return found;
  std::vector<cl_platform_id> platforms(n_platforms);
  check(clGetPlatformIDs(n_platforms, platforms.data(), nullptr), "listing platforms");
  for (cl_platform_id platform : platforms) {
    cl_uint n_devices = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n_devices) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(n_devices);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n_devices, devices.data(), nullptr), "listing devices");
    for (cl_device_id device : devices) found.push_back({platform, device});
  }
  return found;
}

std::string device_text(cl_device_id device, cl_device_info what) {
  size_t n = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &n) != CL_SUCCESS || n == 0) return {};
  std::string text(n, '\0');
  check(clGetDeviceInfo(device, what, n, text.data(), nullptr), "asking a device");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

constexpr const char* kGpuCode = "gpu";

bool is_gpu(cl_device_id device) {
  cl_device_type type = 0;
  return clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS &&
         (type & CL_DEVICE_TYPE_GPU) != 0;
}

// The code with the widest vectors, "floatN", that the device's registers hold whole; the narrowest where they hold none, as they do not
// where the only one is a GPU's.
const Code& code_for(const Package& package, cl_device_id device) {
  if (package.codes.empty()) fail_usage("the package holds no code; compile it with --device opencl");
  cl_uint native = 0;
  clGetDeviceInfo(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof native, &native, nullptr);
  const auto width = [](const Code& code) {
    int64_t n = 0;
    return code.isa.rfind("float", 0) == 0 && parse_int(code.isa.substr(5), &n) ? n : 0;
  };
  const Code* best = nullptr;
  for (const Code& code : package.codes) {
    const bool fits = width(code) <= native, held = best != nullptr && width(*best) <= native;
    if (best == nullptr || (fits ? !held || width(code) > width(*best) : !held && width(code) < width(*best)))
      best = &code;
  }
  return *best;
}

class OpenClSession : public PlannedSession {
 public:
  OpenClSession(std::shared_ptr<const Package> package, cl_device_id device)
      : PlannedSession(std::move(package)),
        device_(device),
        name_(device_text(device, CL_DEVICE_NAME)),
        code_(code_for(*package_, device)),
        together_(steps_together()) {
    cl_int status = 0;
    context_ = Context(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
    check(status, "making a context");
    queue_ = Queue(clCreateCommandQueue(context_.get(), device_, 0, &status));
    check(status, "making a queue");
    build();
    allocate();
  }

  int threads() const override { return on_processors() ? static_cast<int>(units()) : 1; }
  std::string isa() const override { return name_; }

 private:
  void build() {
    const std::string source = together_ ? code_.source + opencl_steps_source(*package_, n_memories()) : code_.source;
    const char* text = source.c_str();
    const size_t length = source.size();
    cl_int status = 0;
    program_ = Program(clCreateProgramWithSource(context_.get(), 1, &text, &length, &status));
    check(status, "making a program");
    cl_device_fp_config config = 0;
    clGetDeviceInfo(device_, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, nullptr);
    std::string options = "-cl-std=CL1.2";
    if (package_->info.opt >= 3) {
      options += " -DDNN_CONTRACT -cl-denorms-are-zero";
    } else if ((config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0) {
      options += " -cl-fp32-correctly-rounded-divide-sqrt";
    }
    if (clBuildProgram(program_.get(), 1, &device_, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
      size_t n = 0;
      clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &n);
      std::string log(n, '\0');
      clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, n, log.data(), nullptr);
      const size_t error = log.find("error");
      fail_environment("OpenCL device ", name_,
                       " does not build the kernels: ", log.substr(error == std::string::npos ? 0 : error, 200));
    }
    if (together_) {
      steps_kernel_ = ClKernel(clCreateKernel(program_.get(), kStepsKernel, &status));
      check(status, "finding the kernel of steps");
    }
    for (const Step& step : package_->steps) {  // a kernel object per step: its arguments are set once
      if (step.kernel < 0) {
        kernels_.emplace_back();
        continue;
      }
      kernels_.emplace_back(
          clCreateKernel(program_.get(), package_->kernels[static_cast<size_t>(step.kernel)].name.c_str(), &status));
      check(status, "finding a kernel");
    }
  }

  Memory buffer(size_t bytes, const void* contents) {
    cl_int status = 0;
    const cl_mem_flags flags = contents == nullptr ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    Memory memory(
        clCreateBuffer(context_.get(), flags, std::max<size_t>(bytes, 1), const_cast<void*>(contents), &status));
    check(status, "allocating memory");
    return memory;
  }

  void allocate() {
    arena_ = buffer(static_cast<size_t>(package_->arena_bytes), nullptr);
    allocate_constants();
    for (const Type& type : package_->input_types) inputs_.push_back(buffer(bytes_of(type), nullptr));
    for (const Type& type : package_->output_types)
      outputs_.push_back(type.fixed() ? buffer(bytes_of(type), nullptr) : Memory());
    for (size_t i = 0; i < package_->steps.size(); ++i) {
      const Step& step = package_->steps[i];
      for (size_t a = 0; step.kernel >= 0 && a < step.arguments.size(); ++a) {
        cl_mem memory = memory_of(step.arguments[a]);
        check(clSetKernelArg(kernels_[i].get(), static_cast<cl_uint>(a), sizeof(cl_mem), &memory),
              "setting an argument");
      }
    }
    if (together_) allocate_steps();
  }

  // Steps go together where constants lie in one buffer, as the arguments of a kernel are few.
  void allocate_constants() {
    if (together_) constant_memory_ = buffer(static_cast<size_t>(constant_offsets().back()), nullptr);
    const std::vector<int64_t> offsets = constant_offsets();
    for (size_t i = 0; i < package_->constants.size(); ++i) {
      const Tensor& constant = package_->constants[i];
      const size_t bytes = constant.size_bytes();
      if (together_) {
        write(constant_memory_.get(), static_cast<size_t>(offsets[i]), constant.bytes().data(), bytes);
        constants_.push_back(
            part(constant_memory_.get(), offsets[i], std::max<int64_t>(1, static_cast<int64_t>(bytes))));
      } else {
        constants_.push_back(bytes > 0 ? buffer(bytes, constant.bytes().data()) : buffer(1, nullptr));
      }
    }
  }

  // Where each constant lies among all of them, and behind the last one their size.
  std::vector<int64_t> constant_offsets() const {
    const int64_t align = std::max<int64_t>(256, device_number<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
    std::vector<int64_t> offsets = {0};
    for (const Tensor& constant : package_->constants.all()) {
      const auto bytes = std::max<int64_t>(1, static_cast<int64_t>(constant.size_bytes()));
      offsets.push_back(offsets.back() + (bytes + align - 1) / align * align);
    }
    return offsets;
  }

  template <class T>
  T device_number(cl_device_info what) const {
    T value = 0;
    clGetDeviceInfo(device_, what, sizeof value, &value, nullptr);
    return value;
  }

  bool on_processors() const { return (device_number<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0; }
  cl_uint units() const { return std::max<cl_uint>(1, device_number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS)); }
  // On processors; a GPU's launches cost little, and it runs more at once than one kernel for all steps has registers for.
  bool steps_together() const {
    return on_processors() && opencl_steps_known(*package_, code_) &&
           n_memories() + 4 <= device_number<size_t>(CL_DEVICE_MAX_PARAMETER_SIZE) / sizeof(void*) &&
           static_cast<cl_ulong>(constant_offsets().back()) <= device_number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  }
  size_t n_memories() const { return 2 + package_->input_types.size() + package_->output_types.size(); }

  void allocate_steps() {
    const std::vector<int64_t> offsets = constant_offsets();
    const size_t n_inputs = inputs_.size();
    const auto find = [&](const Argument& a) -> MemoryAt {
      const auto at = static_cast<size_t>(a.at);
      switch (a.kind) {
        case Argument::Kind::Arena: return {0, a.at};
        case Argument::Kind::Constant: return {1, offsets[at]};
        case Argument::Kind::Input: return {2 + at, 0};
        case Argument::Kind::Output: return {2 + n_inputs + at, 0};
        default: fail_internal("a kernel argument has no memory");
      }
    };
    const std::vector<int64_t> plan = opencl_steps_plan(*package_, code_, units(), find);
    plan_ = buffer(plan.size() * sizeof plan[0], plan.data());
    const std::vector<std::byte> zeros(kTurnBytes);
    turns_ = buffer(kTurnBytes, nullptr);
    write(turns_.get(), 0, zeros.data(), kTurnBytes);
    std::vector<cl_mem> memories = {arena_.get(), constant_memory_.get()};
    for (const std::vector<Memory>* more : {&inputs_, &outputs_}) {
      for (const Memory& memory : *more) memories.push_back(memory.get());
    }
    memories.insert(memories.end(), {plan_.get(), turns_.get()});
    for (size_t a = 0; a < memories.size(); ++a)
      check(clSetKernelArg(steps_kernel_.get(), static_cast<cl_uint>(a), sizeof(cl_mem), &memories[a]),
            "setting an argument");
  }

  static size_t bytes_of(const Type& type) {
    return static_cast<size_t>(element_count(type.fixed_shape())) * dtype_size(type.dtype);
  }

  cl_mem memory_of(const Argument& a) {
    const auto at = static_cast<size_t>(a.at);
    switch (a.kind) {
      case Argument::Kind::Arena: return part_of_arena(a.at);
      case Argument::Kind::Constant: return constants_[at].get();
      case Argument::Kind::Input: return inputs_[at].get();
      case Argument::Kind::Output: return outputs_[at].get();
      default: fail_internal("a kernel argument has no memory");
    }
  }

  // From the offset to the arena's end: kernels address within their value.
  cl_mem part_of_arena(int64_t offset) {
    auto [entry, fresh] = parts_.try_emplace(offset);
    if (fresh) {
      entry->second = part(arena_.get(), offset, package_->arena_bytes - offset);
    }
    return entry->second.get();
  }

  Memory part(cl_mem whole, int64_t offset, int64_t bytes) {
    cl_buffer_region region{static_cast<size_t>(offset), static_cast<size_t>(bytes)};
    cl_int status = 0;
    Memory memory(clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    check(status, "dividing memory");
    return memory;
  }

  void launch(size_t i) override {
    const auto kernel = static_cast<size_t>(package_->steps[i].kernel);
    // A task is a group, or an item, of which a GPU decides how many go together.
    const auto tasks = static_cast<size_t>(code_.tasks[kernel]), threads = static_cast<size_t>(code_.threads[kernel]);
    const size_t group = std::max<size_t>(1, threads), items = tasks * group;
    const bool open = threads == 0 && code_.isa == kGpuCode;
    check(clEnqueueNDRangeKernel(queue_.get(), kernels_[i].get(), 1, nullptr, &items, open ? nullptr : &group, 0,
                                 nullptr, nullptr),
          "launching a kernel");
  }
  size_t launch_from(size_t i) override {
    if (!together_) return PlannedSession::launch_from(i);
    size_t end = i;
    while (end < package_->steps.size() && package_->steps[end].kernel >= 0) ++end;
    const cl_int numbers[] = {static_cast<cl_int>(i), static_cast<cl_int>(end)};
    for (size_t a = 0; a < 2; ++a)
      check(
          clSetKernelArg(steps_kernel_.get(), static_cast<cl_uint>(n_memories() + 2 + a), sizeof(cl_int), &numbers[a]),
          "setting an argument");
    const size_t items = units(), one = 1;
    check(clEnqueueNDRangeKernel(queue_.get(), steps_kernel_.get(), 1, nullptr, &items, &one, 0, nullptr, nullptr),
          "launching steps");
    return end;
  }
  void finish() override { check(clFinish(queue_.get()), "waiting"); }
  void upload_inputs() override {
    for (size_t i = 0; i < inputs_.size(); ++i)
      write(inputs_[i].get(), 0, inputs()[i].bytes().data(), inputs()[i].size_bytes());
  }
  void read_arena(int64_t offset, std::byte* to, size_t bytes) override {
    read(arena_.get(), static_cast<size_t>(offset), to, bytes);
  }
  void write_arena(int64_t offset, const std::byte* from, size_t bytes) override {
    write(arena_.get(), static_cast<size_t>(offset), from, bytes);
  }
  void read_output(size_t i) override { read(outputs_[i].get(), 0, output(i).mutable_bytes(), output(i).size_bytes()); }
  void write_output(size_t i) override {
    write(outputs_[i].get(), 0, output(i).bytes().data(), output(i).size_bytes());
  }

  void read(cl_mem memory, size_t offset, void* to, size_t bytes) {
    if (bytes == 0) return;
    check(clEnqueueReadBuffer(queue_.get(), memory, CL_TRUE, offset, bytes, to, 0, nullptr, nullptr), "reading memory");
  }
  void write(cl_mem memory, size_t offset, const void* from, size_t bytes) {
    if (bytes == 0) return;
    check(clEnqueueWriteBuffer(queue_.get(), memory, CL_TRUE, offset, bytes, from, 0, nullptr, nullptr),
          "writing memory");
  }

  cl_device_id device_;
  std::string name_;
  const Code& code_;
  bool together_;  // a single launch takes steps that stand one after another
  Context context_;
  Queue queue_;
  Program program_;
  std::vector<ClKernel> kernels_;  // by step
  ClKernel steps_kernel_;
  Memory arena_, constant_memory_, plan_, turns_;
  std::vector<Memory> constants_, inputs_, outputs_;
  std::map<int64_t, Memory> parts_;
};

}  // namespace

std::unique_ptr<Session> opencl_open(std::shared_ptr<const Package> package, const std::string& index,
                                     const DeviceOptions&) {
  const std::vector<FoundDevice> found = find_devices();
  int64_t n = 0;
  parse_int(index, &n);
  if (found.empty()) fail_environment("no OpenCL device found; install a driver (pocl-opencl-icd runs on the CPU)");
  if (n >= static_cast<int64_t>(found.size())) {
    fail_environment("device opencl:", n, ": no such device, ", found.size(), " found (see dnn-infer --list-devices)");
  }
  return std::make_unique<OpenClSession>(std::move(package), found[static_cast<size_t>(n)].device);
}

bool opencl_on_gpu(const std::string& index) {
  const std::vector<FoundDevice> found = find_devices();
  int64_t n = 0;
  parse_int(index, &n);
  return n < static_cast<int64_t>(found.size()) && is_gpu(found[static_cast<size_t>(n)].device);
}

std::vector<std::string> opencl_list(const DeviceOptions&) {
  std::vector<std::string> lines;
  for (const FoundDevice& found : find_devices()) {
    lines.push_back(cat("opencl:", lines.size(), "\t", device_text(found.device, CL_DEVICE_NAME), ", ",
                        device_text(found.device, CL_DEVICE_VERSION)));
  }
  return lines;
}

}  // namespace dnn
