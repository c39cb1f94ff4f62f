// The tables of processors; see processor.h.
#include "target/processor.h"

#include <algorithm>

#include "base/cpu.h"
#include "base/error.h"

namespace dnn {
namespace {

constexpr double kAll = std::numeric_limits<double>::infinity();

struct Models {
  const char *name, *vendor;
  unsigned family, first, last;
};
constexpr Models kModels[] = {
#define DNN_PROCESSOR(...)
#define DNN_PROCESSOR_MODELS(...) {__VA_ARGS__},
#include "target/processors.def"
#undef DNN_PROCESSOR
#undef DNN_PROCESSOR_MODELS
};

const Processor* find_row(std::string_view name, int64_t vector_bytes) {
  for (const Processor& row : processors()) {
    if (row.name == name && row.vector_bytes <= vector_bytes) return &row;
  }
  return nullptr;
}

}  // namespace

const std::vector<Processor>& processors() {
  static const std::vector<Processor> rows = {
#define DNN_PROCESSOR(name_, ...) {.name = name_, __VA_ARGS__},
#define DNN_PROCESSOR_MODELS(...)
#include "target/processors.def"
#undef DNN_PROCESSOR
#undef DNN_PROCESSOR_MODELS
  };
  return rows;
}

const Processor& processor_for(std::string_view name, int64_t vector_bytes) {
  const Processor* found = find_row(name, vector_bytes);
  if (found == nullptr) found = find_row(kGeneric, vector_bytes);
  DNN_CHECK(found != nullptr);
  return *found;
}

const std::vector<std::string>& known_processors() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (auto row = processors().rbegin(); row != processors().rend(); ++row) {
      const bool listed = std::find(result.begin(), result.end(), row->name) != result.end();
      if (!listed && std::string_view(row->name) != kGpu) result.emplace_back(row->name);
    }
    return result;
  }();
  return names;
}

std::string processor_kind() {
  const CpuModel cpu = cpu_model();
  for (const Models& row : kModels) {
    if (cpu.vendor == row.vendor && cpu.family == row.family && row.first <= cpu.model && cpu.model <= row.last)
      return row.name;
  }
  return kGeneric;
}

}  // namespace dnn
