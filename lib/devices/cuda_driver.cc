// NVIDIA's driver; see cuda_driver.h.
#include "devices/cuda_driver.h"

#include <vector>

#include "base/error.h"

namespace dnn {
namespace {

constexpr int kCudaSuccess = 0;
constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR

}  // namespace

CudaDriver::CudaDriver(std::unique_ptr<SharedLibrary> library) : library_(std::move(library)) {
  const auto find = [this](auto* function, const char* name) {
    *function = library_->function<std::remove_pointer_t<std::remove_pointer_t<decltype(function)>>>(name);
  };
  find(&retain_context, "cuDevicePrimaryCtxRetain");
  find(&release_context, "cuDevicePrimaryCtxRelease_v2");
  find(&set_context, "cuCtxSetCurrent");
  find(&load_module, "cuModuleLoadData");
  find(&unload_module, "cuModuleUnload");
  find(&find_function, "cuModuleGetFunction");
  find(&allocate, "cuMemAlloc_v2");
  find(&release, "cuMemFree_v2");
  find(&to_device, "cuMemcpyHtoD_v2");
  find(&to_host, "cuMemcpyDtoH_v2");
  find(&launch, "cuLaunchKernel");
  find(&synchronize, "cuCtxSynchronize");
  find(&create_stream, "cuStreamCreate");
  find(&destroy_stream, "cuStreamDestroy_v2");
  bool all = true;
  const auto look_for = [&](auto* function, const char* name) {
    *function = library_->function_or_null<std::remove_pointer_t<std::remove_pointer_t<decltype(function)>>>(name);
    all = all && *function != nullptr;
  };
  look_for(&begin_capture, "cuStreamBeginCapture_v2");
  look_for(&end_capture, "cuStreamEndCapture");
  look_for(&instantiate, "cuGraphInstantiateWithFlags");
  look_for(&destroy_graph, "cuGraphDestroy");
  look_for(&destroy_launches, "cuGraphExecDestroy");
  look_for(&launch_recorded, "cuGraphLaunch");
  if (!all) begin_capture = nullptr;
}

std::unique_ptr<CudaDriver> CudaDriver::open(const std::string& path, std::string* why) {
  std::vector<std::string> names = {"libcuda.so.1", "libcuda.so"};
  if (!path.empty()) names = {path};
  auto library = SharedLibrary::open(names);
  if (library == nullptr) {
    *why = cat("no CUDA driver: ", join(names), " not found; install NVIDIA's driver");
    return nullptr;
  }
  auto driver = std::unique_ptr<CudaDriver>(new CudaDriver(std::move(library)));
  int status = driver->library_->function<int(unsigned)>("cuInit")(0);
  if (status == kCudaSuccess) status = driver->library_->function<int(int*)>("cuDeviceGetCount")(&driver->count_);
  if (status == kCudaSuccess && driver->count_ > 0) return driver;
  *why = status == kCudaSuccess ? "the CUDA driver finds no device"
                                : cat("the CUDA driver does not start: error ", status);
  return nullptr;
}

int CudaDriver::device_count() const { return count_; }

CudaDriver::Device CudaDriver::device(int index) const {
  Device device = 0;
  check(library_->function<int(Device*, int)>("cuDeviceGet")(&device, index), "finding a device");
  return device;
}

std::string CudaDriver::name(Device device) const {
  char text[256] = {};
  check(library_->function<int(char*, int, Device)>("cuDeviceGetName")(text, sizeof text - 1, device),
        "asking a device's name");
  return text;
}

int CudaDriver::compute_capability(Device device) const {
  int major = 0, minor = 0;
  auto* const attribute = library_->function<int(int*, int, Device)>("cuDeviceGetAttribute");
  check(attribute(&major, kMajor, device), "asking a device's compute capability");
  check(attribute(&minor, kMinor, device), "asking a device's compute capability");
  return 10 * major + minor;
}

std::string CudaDriver::version() const {
  int number = 0;
  check(library_->function<int(int*)>("cuDriverGetVersion")(&number), "asking for the version");
  return cat(number / 1000, ".", number % 1000 / 10);
}

void CudaDriver::check(int status, const char* what) const {
  if (status == kCudaSuccess) return;
  const char* name = nullptr;
  library_->function<int(int, const char**)>("cuGetErrorName")(status, &name);
  fail_environment("CUDA: ", what, " failed with ", name == nullptr ? std::to_string(status) : std::string(name));
}

}  // namespace dnn
