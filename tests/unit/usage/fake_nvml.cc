// A stand-in for NVIDIA's library: two GPUs, of which FAKE_NVML says what is wrong.
#include <cstdlib>
#include <cstring>

namespace {

int calls = 0;  // energy grows with each

bool wrong(const char* what) {
  const char* said = std::getenv("FAKE_NVML");
  return said != nullptr && std::strcmp(said, what) == 0;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's
extern "C" {

int nvmlInit_v2() { return wrong("init") ? 9 : 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = wrong("count") ? 4000000000U : wrong("none") ? 0 : 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[2];
  if (index > 1) return 2;
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned size) {
  std::memset(name, 'G', size);  // without an end
  if (!wrong("name")) std::strncpy(name, "GPU\n\033[1m", size);
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, void* result) {
  auto* rates = static_cast<unsigned*>(result);
  rates[0] = wrong("percent") ? 4000000000U : 75;
  rates[1] = 1;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, void* result) {
  auto* memory = static_cast<unsigned long long*>(result);
  memory[0] = 1ULL << 30;
  memory[1] = 0;
  memory[2] = wrong("memory") ? ~0ULL : 1000;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  if (wrong("energy")) return 3;
  *mj = wrong("back") ? 1000U - static_cast<unsigned>(++calls) : 50000U + 10U * static_cast<unsigned>(++calls);
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
