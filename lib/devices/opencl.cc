// OpenCL devices: a package's kernels built by the driver, one work-item per task, in one arena buffer.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/child.h"
#include "devices/opencl_steps.h"
#include "devices/planned.h"
#include "loops/layout.h"
#include "target/isa.h"
#include "target/level.h"

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
using OpenclMemory = Handle<cl_mem, clReleaseMemObject>;
using OpenclProgram = Handle<cl_program, clReleaseProgram>;
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

// Set once drivers were loaded into this process. A copy of the process (fork) is then none that they work in.
std::atomic<bool> drivers_are_here = false;

// All devices of all platforms, in the loader's order: the N of opencl:N.
std::vector<FoundDevice> find_devices() {
  drivers_are_here = true;
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

std::string device_lines() {
  std::string lines;
  int64_t n = 0;
  for (const FoundDevice& found : find_devices()) {
    lines += cat("opencl:", n++, "\t", device_text(found.device, CL_DEVICE_NAME), ", ",
                 device_text(found.device, CL_DEVICE_VERSION), "\n");
  }
  return lines;
}

bool sys_is_there() { return access("/sys/devices", F_OK) == 0; }

// device_lines(). A driver may end the process that loads it, as PoCL does where there is no /sys: a copy of this one goes first.
std::string lines_of_drivers_that_live() {
  if (drivers_are_here) return device_lines();
  try {
    constexpr double kLimit_s = 60;
    return try_in_child("the OpenCL driver", kLimit_s, device_lines);
  } catch (const Error& error) {
    if (sys_is_there()) throw;
    std::string why = error.what();
    if (why.ends_with('.')) why.pop_back();
    fail_environment(why, "; it may want /sys, which is not mounted here");
  }
}

// Loading drivers twice would cost each run time, so that the copy goes first only where a driver is known to end the process.
std::vector<FoundDevice> find_devices_for_work() {
  if (!sys_is_there()) lines_of_drivers_that_live();
  return find_devices();
}

// None for a package of another language.
const Isa* isa_of(const Variant& variant) { return find_isa(Language::OpenCl, variant.target.isa); }
bool for_gpu(const Variant& variant) { return isa_of(variant) != nullptr && isa_of(variant)->gpu; }

bool is_gpu(cl_device_id device) {
  cl_device_type type = 0;
  return clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS &&
         (type & CL_DEVICE_TYPE_GPU) != 0;
}

// The variant with the widest vectors, "floatN", that the device's registers hold whole; the narrowest where they hold none, as they do not
// where the only one is a GPU's.
const Variant& variant_for(const Package& package, cl_device_id device) {
  if (!package.variants.front().compiled()) fail_usage("the package holds no code; compile it with --device opencl");
  cl_uint native = 0;
  clGetDeviceInfo(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof native, &native, nullptr);
  const auto width = [](const Variant& variant) {
    return isa_of(variant) == nullptr || for_gpu(variant) ? 0 : isa_of(variant)->lanes(DType::Float32);
  };
  const Variant* best = nullptr;
  for (const Variant& variant : package.variants) {
    const bool fits = width(variant) <= native, held = best != nullptr && width(*best) <= native;
    if (best == nullptr || (fits ? !held || width(variant) > width(*best) : !held && width(variant) < width(*best)))
      best = &variant;
  }
  return *best;
}

class OpenClSession : public PlannedSession {
  struct Place {
    MemoryAt at;
    int64_t bytes;
  };

 public:
  OpenClSession(std::shared_ptr<const Package> package, const Variant& variant, cl_device_id device)
      : PlannedSession(std::move(package), variant),
        device_(device),
        name_(device_text(device, CL_DEVICE_NAME)),
        together_(!for_gpu(*variant_) && opencl_steps_known(*variant_)) {
    cl_int status = 0;
    context_ = Context(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
    check(status, "making a context");
    queue_ = Queue(clCreateCommandQueue(context_.get(), device_, 0, &status));
    check(status, "making a queue");
    place_all();
    build();
    allocate();
  }

  int threads() const override { return on_processors() ? static_cast<int>(units()) : 1; }
  std::string isa() const override { return name_; }

 private:
  void build() {
    const std::string source =
        together_ ? variant_->code.source + opencl_steps_source(*variant_, sizes_.size()) : variant_->code.source;
    const char* text = source.c_str();
    const size_t length = source.size();
    cl_int status = 0;
    program_ = OpenclProgram(clCreateProgramWithSource(context_.get(), 1, &text, &length, &status));
    check(status, "making a program");
    cl_device_fp_config config = 0;
    clGetDeviceInfo(device_, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, nullptr);
    std::string options = "-cl-std=CL1.2";
    const Level& level = level_of(package_->info.opt);
    const bool exact = holds_exact_kernels(variant_->code.source);
    if (level.contract && !exact) options += " -DDNN_CONTRACT";
    if (level.flush_denormals) options += " -cl-denorms-are-zero";
    if ((!level.approximate_division || exact) && (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0)
      options += " -cl-fp32-correctly-rounded-divide-sqrt";
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
      return;
    }
    for (const Step& step : variant_->steps) {  // a kernel object per step: its arguments are set once
      if (step.kernel < 0) {
        kernels_.emplace_back();
        continue;
      }
      kernels_.emplace_back(clCreateKernel(program_.get(), variant_->kernels[step.kernel].name.c_str(), &status));
      check(status, "finding a kernel");
    }
  }

  // The arena, and constants, inputs and outputs in as few more memories as the device allows: the arguments of a kernel are few.
  void place_all() {
    sizes_ = {variant_->arena_bytes + 1, 0};  // an empty value may lie at its end
    for (const Tensor& constant : package_->constants.all()) constants_.push_back(place(constant.size_bytes()));
    for (const Type& type : package_->input_types) inputs_.push_back(place(bytes_of(type)));
    for (const Type& type : package_->output_types) outputs_.push_back(place(type.fixed() ? bytes_of(type) : 0));
  }

  Place place(size_t bytes) {
    const int64_t align = std::max<int64_t>(256, device_number<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
    const int64_t size = (std::max<int64_t>(1, static_cast<int64_t>(bytes)) + align - 1) / align * align;
    if (sizes_.back() > 0 && sizes_.back() + size > device_number<cl_long>(CL_DEVICE_MAX_MEM_ALLOC_SIZE))
      sizes_.push_back(0);
    sizes_.back() += size;
    return {{sizes_.size() - 1, sizes_.back() - size}, size};
  }

  OpenclMemory buffer(size_t bytes, const void* contents = nullptr) {
    cl_int status = 0;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (contents == nullptr ? 0 : CL_MEM_COPY_HOST_PTR);
    OpenclMemory memory(
        clCreateBuffer(context_.get(), flags, std::max<size_t>(bytes, 1), const_cast<void*>(contents), &status));
    check(status, "allocating memory");
    return memory;
  }

  void allocate() {
    for (const int64_t size : sizes_) memories_.push_back(buffer(size));
    for (size_t i = 0; i < constants_.size(); ++i) {
      const Tensor& constant = package_->constants[i];
      write(constants_[i].at, constant.bytes().data(), constant.size_bytes());
    }
    if (together_) return allocate_steps();
    for (size_t i = 0; i < variant_->steps.size(); ++i) {
      const Step& step = variant_->steps[i];
      for (size_t a = 0; step.kernel >= 0 && a < step.arguments.size(); ++a) {
        cl_mem memory = part(place_of(step.arguments[a]));
        check(clSetKernelArg(kernels_[i].get(), static_cast<cl_uint>(a), sizeof(cl_mem), &memory),
              "setting an argument");
      }
    }
  }

  template <class T>
  T device_number(cl_device_info what) const {
    T value = 0;
    clGetDeviceInfo(device_, what, sizeof value, &value, nullptr);
    return value;
  }

  bool on_processors() const { return (device_number<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0; }
  cl_uint units() const { return std::max<cl_uint>(1, device_number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS)); }
  // Work-items that take tickets: of a GPU one for each task of a step, as its launches cost little.
  int64_t workers() const { return on_processors() ? units() : int64_t{1} << 20; }

  void allocate_steps() {
    const std::vector<int64_t> plan =
        opencl_steps_plan(*variant_, workers(), [&](const Argument& a) { return place_of(a).at; });
    plan_ = buffer(plan.size() * sizeof plan[0], plan.data());
    const std::vector<std::byte> zeros(kTurnBytes);
    turns_ = buffer(kTurnBytes, zeros.data());
    std::vector<cl_mem> memories;
    for (const OpenclMemory& memory : memories_) memories.push_back(memory.get());
    memories.insert(memories.end(), {plan_.get(), turns_.get()});
    for (size_t a = 0; a < memories.size(); ++a)
      check(clSetKernelArg(steps_kernel_.get(), static_cast<cl_uint>(a), sizeof(cl_mem), &memories[a]),
            "setting an argument");
  }

  static size_t bytes_of(const Type& type) {
    return static_cast<size_t>(element_count(type.fixed_shape())) * dtype_size(type.dtype);
  }

  // Of the arena all from there on: kernels address within their value.
  Place place_of(const Argument& a) const {
    const size_t at = a.at;
    switch (a.kind) {
      case Argument::Kind::Arena: return {{0, a.at}, sizes_[0] - a.at};
      case Argument::Kind::Constant: return constants_[at];
      case Argument::Kind::Input: return inputs_[at];
      case Argument::Kind::Output: return outputs_[at];
      default: fail_internal("a kernel argument has no memory");
    }
  }

  cl_mem part(const Place& place) {
    auto [entry, fresh] = parts_.try_emplace({place.at.memory, place.at.offset});
    if (!fresh) return entry->second.get();
    cl_buffer_region region{static_cast<size_t>(place.at.offset), static_cast<size_t>(place.bytes)};
    cl_int status = 0;
    entry->second = OpenclMemory(clCreateSubBuffer(memories_[place.at.memory].get(), CL_MEM_READ_WRITE,
                                                   CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    check(status, "dividing memory");
    return entry->second.get();
  }

  void launch(size_t i) override {
    if (together_) return launch_steps(i, i + 1);
    const size_t kernel = variant_->steps[i].kernel;
    // A task is a group, or an item, of which a GPU decides how many go together.
    const auto tasks = static_cast<size_t>(variant_->code.tasks[kernel]),
               threads = static_cast<size_t>(variant_->code.threads[kernel]);
    const size_t group = std::max<size_t>(1, threads), items = tasks * group;
    const bool open = threads == 0 && for_gpu(*variant_);
    check(clEnqueueNDRangeKernel(queue_.get(), kernels_[i].get(), 1, nullptr, &items, open ? nullptr : &group, 0,
                                 nullptr, nullptr),
          "launching a kernel");
  }
  size_t launch_from(size_t i) override {
    if (!together_ || !on_processors()) return PlannedSession::launch_from(i);
    size_t end = i;
    while (end < variant_->steps.size() && variant_->steps[end].kernel >= 0) ++end;
    launch_steps(i, end);
    return end;
  }
  void launch_steps(size_t i, size_t end) {
    const cl_int numbers[] = {static_cast<cl_int>(i), static_cast<cl_int>(end)};
    for (size_t a = 0; a < 2; ++a)
      check(clSetKernelArg(steps_kernel_.get(), static_cast<cl_uint>(memories_.size() + 2 + a), sizeof(cl_int),
                           &numbers[a]),
            "setting an argument");
    int64_t tasks = 0;
    for (size_t step = i; step < end; ++step) tasks += variant_->code.tasks[variant_->steps[step].kernel];
    const size_t items = std::clamp<int64_t>(tasks, 1, workers());
    const size_t one = 1;
    check(clEnqueueNDRangeKernel(queue_.get(), steps_kernel_.get(), 1, nullptr, &items, &one, 0, nullptr, nullptr),
          "launching steps");
  }
  void finish() override { check(clFinish(queue_.get()), "waiting"); }
  void upload_inputs() override {
    for (size_t i = 0; i < inputs_.size(); ++i)
      write(inputs_[i].at, inputs()[i].bytes().data(), inputs()[i].size_bytes());
  }
  void read_arena(int64_t offset, std::byte* to, size_t bytes) override { read({0, offset}, to, bytes); }
  void write_arena(int64_t offset, const std::byte* from, size_t bytes) override { write({0, offset}, from, bytes); }
  void read_output(size_t i) override { read(outputs_[i].at, output(i).mutable_bytes(), output(i).size_bytes()); }
  void write_output(size_t i) override { write(outputs_[i].at, output(i).bytes().data(), output(i).size_bytes()); }

  void read(const MemoryAt& at, void* to, size_t bytes) {
    if (bytes == 0) return;
    check(clEnqueueReadBuffer(queue_.get(), memories_[at.memory].get(), CL_TRUE, at.offset, bytes, to, 0, nullptr,
                              nullptr),
          "reading memory");
  }
  void write(const MemoryAt& at, const void* from, size_t bytes) {
    if (bytes == 0) return;
    check(clEnqueueWriteBuffer(queue_.get(), memories_[at.memory].get(), CL_TRUE, at.offset, bytes, from, 0, nullptr,
                               nullptr),
          "writing memory");
  }

  cl_device_id device_;
  std::string name_;
  bool together_;  // one kernel runs any steps that stand one after another
  Context context_;
  Queue queue_;
  OpenclProgram program_;
  std::vector<ClKernel> kernels_;  // by step
  ClKernel steps_kernel_;
  std::vector<int64_t> sizes_;  // of the memories in bytes; the first is the arena
  std::vector<OpenclMemory> memories_;
  std::vector<Place> constants_, inputs_, outputs_;
  std::map<std::pair<size_t, int64_t>, OpenclMemory> parts_;  // where each step has a kernel of its own
  OpenclMemory plan_, turns_;                                 // of the kernel of steps
};

}  // namespace

std::unique_ptr<Session> opencl_open(std::shared_ptr<const Package> package, const std::string& index,
                                     const DeviceOptions&) {
  const std::vector<FoundDevice> found = find_devices_for_work();
  int64_t n = 0;
  parse_int(index, &n);
  if (found.empty()) fail_environment("no OpenCL device found; install a driver (pocl-opencl-icd runs on the CPU)");
  if (n >= static_cast<int64_t>(found.size())) {
    fail_environment("device opencl:", n, ": no such device, ", found.size(), " found (see dnn-infer --list-devices)");
  }
  cl_device_id const device = found[n].device;
  const Variant& variant = variant_for(*package, device);
  return std::make_unique<OpenClSession>(std::move(package), variant, device);
}

bool opencl_on_gpu(const std::string& index) {
  const std::vector<FoundDevice> found = find_devices_for_work();
  int64_t n = 0;
  parse_int(index, &n);
  return n < static_cast<int64_t>(found.size()) && is_gpu(found[n].device);
}

std::vector<std::string> opencl_list(const DeviceOptions&) {
  std::vector<std::string> lines = split(lines_of_drivers_that_live(), '\n');
  lines.pop_back();  // behind the last line
  return lines;
}

}  // namespace dnn
