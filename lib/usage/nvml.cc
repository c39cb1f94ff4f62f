// NVML by dlopen; see nvml.h. Names, types and versions of its functions are those of NVIDIA's NVML API reference.
#include "usage/nvml.h"

#ifndef DNN_STATIC
#include <dlfcn.h>
#endif

#include <algorithm>
#include <limits>
#include <vector>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::usage {
namespace {

using Handle = void*;
struct Utilization {
  unsigned gpu = 0, memory = 0;  // percent
};
struct Memory {
  unsigned long long total = 0, free = 0, used = 0;
};
constexpr int kSuccess = 0;
constexpr unsigned kMostDevices = 256;

template <class T>
bool add_reading(std::optional<T>* sum, unsigned long long value) {
  if (value > static_cast<unsigned long long>(std::numeric_limits<int64_t>::max() / kMostDevices)) return false;
  **sum += static_cast<T>(value);
  return true;
}

#ifdef DNN_STATIC
// A static program has no libraries of others.
void* open_library(const char*) { return nullptr; }
void* find_symbol(void*, const char*) { return nullptr; }
void close_library(void*) {}
#else
void* open_library(const char* name) { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* find_symbol(void* library, const char* name) { return ::dlsym(library, name); }
void close_library(void* library) { ::dlclose(library); }
#endif

}  // namespace

struct Gpus::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Handle*) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*utilization)(Handle, void*) = nullptr;  // a Utilization
  int (*memory)(Handle, void*) = nullptr;       // a Memory
  int (*energy)(Handle, unsigned long long*) = nullptr;
  bool begun = false;
  std::vector<Handle> devices;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (begun && shutdown != nullptr) shutdown();
    if (handle != nullptr) close_library(handle);
  }

  template <class Function>
  void find(Function* function, const char* symbol) const {
    *function = reinterpret_cast<Function>(find_symbol(handle, symbol));
  }
};

Gpus::Gpus(const std::string& library) : library_(std::make_unique<Library>()) {
  Library& l = *library_;
  l.handle = open_library(library.c_str());
  if (l.handle == nullptr) {
    text_ = cat("none: no ", plain(library));
    return;
  }
  l.find(&l.init, "nvmlInit_v2");
  l.find(&l.shutdown, "nvmlShutdown");
  l.find(&l.count, "nvmlDeviceGetCount_v2");
  l.find(&l.device, "nvmlDeviceGetHandleByIndex_v2");
  l.find(&l.name, "nvmlDeviceGetName");
  l.find(&l.utilization, "nvmlDeviceGetUtilizationRates");
  l.find(&l.memory, "nvmlDeviceGetMemoryInfo");
  l.find(&l.energy, "nvmlDeviceGetTotalEnergyConsumption");
  if (l.init == nullptr || l.count == nullptr || l.device == nullptr) {
    text_ = cat("none: ", plain(library), " lacks NVML's functions");
    return;
  }
  if (const int code = l.init(); code != kSuccess) {
    text_ = cat("none: NVML does not start (code ", code, ")");
    return;
  }
  l.begun = true;
  unsigned count = 0;
  if (l.count(&count) != kSuccess) count = 0;
  std::vector<std::string> names;
  for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
    Handle device = nullptr;
    if (l.device(i, &device) != kSuccess) continue;
    l.devices.push_back(device);
    char name[97] = {};
    names.push_back(l.name != nullptr && l.name(device, name, sizeof name - 1) == kSuccess ? plain(name) : "a GPU");
  }
  text_ = names.empty() ? "none: NVML knows no GPU" : join(names);
}

Gpus::~Gpus() = default;

bool Gpus::any() const { return !library_->devices.empty(); }

GpuReading Gpus::read() const {
  const Library& l = *library_;
  if (l.devices.empty()) return {};
  GpuReading sum{0.0, 0, 0};
  for (const Handle device : l.devices) {
    Utilization use;
    if (l.utilization == nullptr || l.utilization(device, &use) != kSuccess || use.gpu > 100) {
      sum.percent.reset();
    } else if (sum.percent) {
      *sum.percent += use.gpu;
    }
    Memory memory;
    const bool memory_known = l.memory != nullptr && l.memory(device, &memory) == kSuccess;
    if (sum.memory_bytes && !(memory_known && add_reading(&sum.memory_bytes, memory.used))) sum.memory_bytes.reset();
    unsigned long long energy_mj = 0;
    const bool energy_known = l.energy != nullptr && l.energy(device, &energy_mj) == kSuccess;
    if (sum.energy_mj && !(energy_known && add_reading(&sum.energy_mj, energy_mj))) sum.energy_mj.reset();
  }
  return sum;
}

}  // namespace dnn::usage
