// Topology of processors; see topology.h.
#include "usage/topology.h"

#include <algorithm>
#include <array>
#include <compare>
#include <set>
#include <string>
#include <utility>

#include "base/affinity.h"
#include "base/printable.h"
#include "base/text.h"
#include "usage/kernel_file.h"

namespace dnn::usage {
namespace {

constexpr double kAlike = 0.8;

std::string text_in(const std::string& path) { return std::string(trimmed(KernelFile(path).read())); }

std::string folder_of(const Roots& roots, int processor) {
  return cat(roots.sys, "/devices/system/cpu/cpu", processor, "/");
}

// Empty where the file does not hold a list.
std::vector<int> list_in(const std::string& path) {
  return parse_processors(text_in(path)).value_or(std::vector<int>());
}

std::vector<int> online(const Roots& roots) { return list_in(roots.sys + "/devices/system/cpu/online"); }

// By the number that each processor has in a file of its folder; one class of all where not each has one.
std::vector<std::vector<int>> classes_by(const Roots& roots, const std::vector<int>& processors, const char* file) {
  std::vector<std::pair<int64_t, int>> speeds;  // less than 0: the fastest first
  for (const int processor : processors) {
    const std::optional<int64_t> speed = count_in(text_in(folder_of(roots, processor) + file));
    if (!speed) return {processors};
    speeds.emplace_back(-*speed, processor);
  }
  std::sort(speeds.begin(), speeds.end());
  std::vector<std::vector<int>> classes;
  double fastest = 0;
  for (const auto& [negative, processor] : speeds) {
    const auto speed = static_cast<double>(-negative);
    if (classes.empty() || speed < kAlike * fastest) {
      classes.emplace_back();
      fastest = speed;
    }
    classes.back().push_back(processor);
  }
  for (std::vector<int>& one : classes) std::sort(one.begin(), one.end());
  return classes;
}

struct Cache {
  std::string name;
  int64_t size_bytes;
  std::vector<int> sharing;  // the processors that have it
  auto operator<=>(const Cache&) const = default;
};

constexpr size_t kMostIndices = 16;

// Those that `processor` has, without those of instructions alone. `seen`: by index, whose caches were read already, as those of who
// shares them; of many processors most of the files are of such.
void add_caches(const Roots& roots, int processor, std::array<std::set<int>, kMostIndices>* seen,
                std::set<Cache>* caches) {
  for (size_t index = 0; index < kMostIndices; ++index) {
    std::set<int>& read = (*seen)[index];
    if (read.count(processor) != 0) continue;
    const std::string folder = cat(folder_of(roots, processor), "cache/index", index, "/");
    const std::string type = text_in(folder + "type");
    if (type.empty()) return;
    if (type == "Instruction") continue;
    const std::string size = text_in(folder + "size");
    const std::optional<int64_t> level = count_in(text_in(folder + "level"));
    const int64_t kib = ends_with(size, "K") ? count_in(size.substr(0, size.size() - 1)).value_or(0) : 0;
    std::vector<int> sharing = list_in(folder + "shared_cpu_list");
    read.insert(sharing.begin(), sharing.end());
    if (!level || kib == 0 || kib > INT32_MAX || sharing.empty()) continue;
    caches->insert({cat("L", *level, type == "Data" ? "d" : ""), kib * 1024, std::move(sharing)});
  }
}

}  // namespace

std::vector<std::vector<int>> core_classes(const Roots& roots) {
  std::vector<std::vector<int>> hybrid;
  for (const char* kind : {"cpu_core", "cpu_atom", "cpu_lowpower"}) {
    std::vector<int> processors = list_in(cat(roots.sys, "/devices/", kind, "/cpus"));
    if (!processors.empty()) hybrid.push_back(std::move(processors));
  }
  if (hybrid.size() > 1) return hybrid;
  const std::vector<int> processors = online(roots);
  if (processors.empty()) return {};
  for (const char* file : {"cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
    std::vector<std::vector<int>> classes = classes_by(roots, processors, file);
    if (classes.size() > 1) return classes;
  }
  return {processors};
}

std::optional<stream::Topology> read_topology(const Roots& roots) {
  const std::vector<int> processors = online(roots);
  if (processors.empty()) return std::nullopt;
  stream::Topology topology;
  topology.processors = static_cast<int>(processors.size());
  std::set<std::string> sockets, cores;
  std::set<Cache> caches;
  std::array<std::set<int>, kMostIndices> seen;
  for (const int processor : processors) {
    const std::string folder = folder_of(roots, processor) + "topology/";
    if (const std::string id = text_in(folder + "physical_package_id"); !id.empty()) sockets.insert(id);
    if (const std::string siblings = text_in(folder + "thread_siblings_list"); !siblings.empty())
      cores.insert(siblings);
    add_caches(roots, processor, &seen, &caches);
  }
  topology.sockets = static_cast<int>(sockets.size());
  topology.cores = static_cast<int>(cores.size());
  topology.numa_nodes = static_cast<int>(list_in(roots.sys + "/devices/system/node/online").size());
  for (const Cache& cache : caches) {
    const auto shared_by = static_cast<int>(cache.sharing.size());
    const auto same = [&](const stream::Topology::Cache& c) {
      return c.name == cache.name && c.size_bytes == cache.size_bytes && c.shared_by == shared_by;
    };
    auto it = std::find_if(topology.caches.begin(), topology.caches.end(), same);
    if (it == topology.caches.end()) it = topology.caches.insert(it, {cache.name, cache.size_bytes, shared_by, 0});
    ++it->count;
  }
  const std::vector<std::vector<int>> classes = core_classes(roots);
  for (const std::vector<int>& one : classes) {
    if (classes.size() > 1) topology.core_classes.push_back(processors_text(one));
  }
  return topology;
}

}  // namespace dnn::usage
