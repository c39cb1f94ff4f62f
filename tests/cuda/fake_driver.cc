// A stand-in for NVIDIA's driver with one device, which is this processor: memory is the host's, kernels are the shared objects of
// fake_nvrtc.cc, and the threads of a block are fibers that take turns at barriers. It is strict where a GPU would be silent: copies and
// frees must lie in one allocation, new memory is full of NaNs, and a barrier that some threads of a block miss is an error.
//
// $DNN_FAKE_CUDA_CAPABILITY: the device's, 90 unless set; $DNN_FAKE_CUDA_MEMORY: bytes that it has; $DNN_FAKE_CUDA_DEVICES: 1 unless set.
#include <dlfcn.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kInvalidImage = 200,
              kInvalidContext = 201, kNotFound = 500, kLaunchFailed = 719;
constexpr size_t kStack = size_t{64} << 10;

struct Index {
  unsigned x, y, z;
};

struct Function {
  void (*call)(void** arguments);
  size_t n_arguments;
  Index *thread, *block, *threads, *blocks;
  void (**barrier)();
};

struct Module {
  void* handle;
  std::map<std::string, Function> functions;
};

std::recursive_mutex g_mutex;  // one call at a time, as a session may be on any thread
using Locked = std::lock_guard<std::recursive_mutex>;
std::map<char*, size_t> g_allocations;
size_t g_used = 0;
thread_local bool t_current = false;  // the context, of this thread
bool g_failed = false;                // as a context is, for good, after a launch that failed

int number(const char* variable, int otherwise) {
  const char* text = getenv(variable);
  return text == nullptr ? otherwise : atoi(text);
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): a CUdeviceptr is an integer
char* memory(unsigned long long at) { return reinterpret_cast<char*>(at); }

// Whether [at, at + n) lies in one allocation.
bool held(unsigned long long at, size_t n) {
  char* const p = memory(at);
  auto after = g_allocations.upper_bound(p);
  if (after == g_allocations.begin()) return false;
  --after;
  return p + n <= after->first + after->second;
}

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  bool ended = false;
};

struct Launch {
  const Function* function = nullptr;
  std::vector<void*> arguments;
  ucontext_t scheduler;
  std::vector<Fiber> fibers;
  size_t current = 0;
} g_launch;

void fiber_main() {
  g_launch.function->call(g_launch.arguments.data());
  g_launch.fibers[g_launch.current].ended = true;
}

void wait_at_barrier() { swapcontext(&g_launch.fibers[g_launch.current].context, &g_launch.scheduler); }

// All threads of a block, from barrier to barrier; whether all met at each.
bool run_block(unsigned threads) {
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = g_launch.fibers[t];
    fiber.ended = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &g_launch.scheduler;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (size_t ended = 0; ended < threads;) {
    ended = 0;
    for (unsigned t = 0; t < threads; ++t) {
      g_launch.current = t;
      g_launch.function->thread->x = t;
      swapcontext(&g_launch.scheduler, &g_launch.fibers[t].context);
      ended += g_launch.fibers[t].ended ? 1 : 0;
    }
    if (ended != 0 && ended != threads) return false;
  }
  return true;
}

struct RecordedLaunch {
  const Function* function;
  unsigned blocks, threads;
  std::vector<void*> arguments;
};
using Graph = std::vector<RecordedLaunch>;

struct Stream {
  Graph* recording = nullptr;
};

// A barrier that some threads of a block miss fails, which a launch does not tell.
void run_blocks(const RecordedLaunch& one) {
  const Function& f = *one.function;
  g_launch.function = &f;
  g_launch.arguments = one.arguments;
  *f.blocks = {one.blocks, 1, 1};
  *f.threads = {one.threads, 1, 1};
  *f.barrier = wait_at_barrier;
  if (g_launch.fibers.size() < one.threads) g_launch.fibers = std::vector<Fiber>(one.threads);
  for (unsigned b = 0; b < one.blocks && !g_failed; ++b) {
    *f.block = {b, 0, 0};
    g_failed = !run_block(one.threads);
  }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names are NVIDIA's
extern "C" {

int cuInit(unsigned) { return number("DNN_FAKE_CUDA_DEVICES", 1) < 0 ? kLaunchFailed : kSuccess; }

int cuDeviceGetCount(int* n) {
  *n = number("DNN_FAKE_CUDA_DEVICES", 1);
  return kSuccess;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return index == 0 ? kSuccess : kInvalidDevice;
}

int cuDeviceGetName(char* text, int n, int) {
  std::strncpy(text, "stand-in", static_cast<size_t>(n));
  return kSuccess;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = number("DNN_FAKE_CUDA_CAPABILITY", 90);
  if (attribute != 75 && attribute != 76) return kInvalidValue;
  *value = attribute == 75 ? capability / 10 : capability % 10;
  return kSuccess;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  const Locked locked(g_mutex);
  *context = &g_launch;
  g_failed = false;
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
int cuCtxSetCurrent(void* context) {
  t_current = context == &g_launch;
  return t_current ? kSuccess : kInvalidValue;
}
int cuCtxSynchronize() { return !t_current ? kInvalidContext : g_failed ? kLaunchFailed : kSuccess; }

int cuModuleLoadData(Module** module, const char* image) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  void* const handle = dlopen(image, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return kInvalidImage;
  std::error_code ignored;  // loaded is loaded: nothing is left on disk
  std::filesystem::remove_all(std::filesystem::path(image).parent_path(), ignored);
  *module = new Module{handle, {}};
  return kSuccess;
}

int cuModuleUnload(Module* module) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  dlclose(module->handle);
  delete module;
  return kSuccess;
}

int cuModuleGetFunction(const Function** function, Module* module, const char* name) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  void* const call = dlsym(module->handle, (std::string("dnn_fake_call_") + name).c_str());
  const auto* const n =
      static_cast<const int*>(dlsym(module->handle, (std::string("dnn_fake_arguments_") + name).c_str()));
  if (call == nullptr || n == nullptr) return kNotFound;
  const auto index = [&](const char* what) { return static_cast<Index*>(dlsym(module->handle, what)); };
  Function& found = module->functions[name];
  found = {reinterpret_cast<decltype(Function::call)>(call),
           static_cast<size_t>(*n),
           index("threadIdx"),
           index("blockIdx"),
           index("blockDim"),
           index("gridDim"),
           reinterpret_cast<void (**)()>(dlsym(module->handle, "dnn_fake_barrier"))};
  *function = &found;
  return kSuccess;
}

int cuMemAlloc_v2(unsigned long long* at, size_t n) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  const char* const most = getenv("DNN_FAKE_CUDA_MEMORY");
  if (n == 0) return kInvalidValue;
  if (most != nullptr && g_used + n > static_cast<size_t>(atoll(most))) return kOutOfMemory;
  auto* const p = static_cast<char*>(aligned_alloc(256, (n + 255) / 256 * 256));
  if (p == nullptr) return kOutOfMemory;
  std::memset(p, 0xff, n);
  g_allocations[p] = n;
  g_used += n;
  *at = reinterpret_cast<unsigned long long>(p);
  return kSuccess;
}

int cuMemFree_v2(unsigned long long at) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  const auto found = g_allocations.find(memory(at));
  if (found == g_allocations.end()) return kInvalidValue;
  g_used -= found->second;
  free(found->first);
  g_allocations.erase(found);
  return kSuccess;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t n) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (!held(to, n)) return kInvalidValue;
  std::memcpy(memory(to), from, n);
  return kSuccess;
}

int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t n) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (!held(from, n)) return kInvalidValue;
  std::memcpy(to, memory(from), n);
  return kSuccess;
}

int cuStreamCreate(Stream** stream, unsigned flags) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (flags != 0) return kInvalidValue;
  *stream = new Stream;
  return kSuccess;
}

int cuStreamDestroy_v2(Stream* stream) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  delete stream;
  return kSuccess;
}

int cuStreamBeginCapture_v2(Stream* stream, int) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (stream == nullptr || stream->recording != nullptr) return kInvalidValue;
  stream->recording = new Graph;
  return kSuccess;
}

int cuStreamEndCapture(Stream* stream, Graph** graph) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (stream->recording == nullptr) return kInvalidValue;
  *graph = stream->recording;
  stream->recording = nullptr;
  return kSuccess;
}

int cuGraphInstantiateWithFlags(Graph** launches, const Graph* graph, unsigned long long) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  *launches = new Graph(*graph);
  return kSuccess;
}

int cuGraphDestroy(Graph* graph) {
  delete graph;
  return kSuccess;
}

int cuGraphExecDestroy(Graph* graph) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  delete graph;
  return kSuccess;
}

int cuGraphLaunch(const Graph* graph, Stream* stream) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (stream->recording != nullptr) return kInvalidValue;
  for (const RecordedLaunch& one : *graph) run_blocks(one);
  return kSuccess;
}

int cuLaunchKernel(const Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned, Stream* stream, void** arguments, void**) {
  const Locked locked(g_mutex);
  if (!t_current) return kInvalidContext;
  if (gx == 0 || gx > INT32_MAX || bx == 0 || gy != 1 || gz != 1 || by != 1 || bz != 1 || bx > 1024)
    return kInvalidValue;
  RecordedLaunch one{f, gx, bx, {}};
  for (size_t i = 0; i < f->n_arguments; ++i) {
    const auto at = *static_cast<unsigned long long*>(arguments[i]);
    if (!held(at, 1)) return kInvalidValue;
    one.arguments.push_back(memory(at));
  }
  if (stream != nullptr && stream->recording != nullptr)
    stream->recording->push_back(std::move(one));
  else
    run_blocks(one);
  return kSuccess;
}

int cuGetErrorName(int status, const char** name) {
  switch (status) {
    case kInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case kInvalidDevice: *name = "CUDA_ERROR_INVALID_DEVICE"; break;
    case kInvalidContext: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
    case kInvalidImage: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
    case kNotFound: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case kLaunchFailed: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: return kInvalidValue;
  }
  return kSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
