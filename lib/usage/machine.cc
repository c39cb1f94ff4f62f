// Describing this machine; see machine.h.
#include "usage/machine.h"

#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "base/affinity.h"
#include "base/cpu.h"
#include "base/threads.h"
#include "base/version.h"
#include "usage/topology.h"

namespace dnn::usage {

void describe_machine(stream::Header* header) {
  header->host["cpu"] = cpu_name();
  header->host["dnn_tools"] = cat(version(), " (", commit(), ")");
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (::gmtime_r(&now, &parts) != nullptr && std::strftime(date, sizeof date, "%Y-%m-%d", &parts) > 0)
    header->host["date"] = date;
  header->host["processors"] = std::to_string(available_processors());
  if (const std::vector<int> allowed = allowed_processors(); !allowed.empty())
    header->host["processor_list"] = processors_text(allowed);
  header->topology = read_topology();
  utsname system{};
  if (::uname(&system) == 0) header->host["kernel"] = cat(system.sysname, " ", system.release, " ", system.machine);
}

// qemu's user mode shows the files of the machine that it runs on.
bool is_emulated() {
#if defined(__x86_64__)
  constexpr const char* kOwnField = "vendor_id";
#else
  constexpr const char* kOwnField = "CPU implementer";
#endif
  static const bool emulated = [] {
    std::ifstream file("/proc/cpuinfo");
    bool lines = false;
    for (std::string line; std::getline(file, line); lines = true) {
      if (line.rfind(kOwnField, 0) == 0) return false;
    }
    return lines;
  }();
  return emulated;
}

}  // namespace dnn::usage
