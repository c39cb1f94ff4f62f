// The tables of instruction sets; see isa.h.
#include "target/isa.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "target/processor.h"

namespace dnn {
namespace {

bool all_here(const std::vector<CpuFeature>& features) {
  return std::all_of(features.begin(), features.end(), [](CpuFeature feature) { return has_feature(feature); });
}

}  // namespace

const std::vector<Isa>& isas() {
  using enum CpuFeature;
  static const std::vector<Isa> rows = {
#define DNN_ISA(language_, name_, ...) {.language = language_, .name = name_, __VA_ARGS__},
#define DNN_ISA_EXTENSION(...)
#include "target/isas.def"
#undef DNN_ISA
#undef DNN_ISA_EXTENSION
  };
  return rows;
}

const std::vector<IsaExtension>& isa_extensions() {
  using enum CpuFeature;
  static const std::vector<IsaExtension> rows = {
#define DNN_ISA(...)
#define DNN_ISA_EXTENSION(language_, isa_, name_, ...) {.language = language_, .isa = isa_, .name = name_, __VA_ARGS__},
#include "target/isas.def"
#undef DNN_ISA
#undef DNN_ISA_EXTENSION
  };
  return rows;
}

const Backend* Isa::backend() const {
  for (const Backend& row : backends()) {
    if (row.language == language) return &row;
  }
  return nullptr;
}

int64_t Isa::lanes(DType dtype) const {
  return std::max<int64_t>(1, vector_bytes / std::max<int64_t>(1, static_cast<int64_t>(dtype_size(dtype))));
}

bool Isa::runs_here() const { return architecture == host_architecture().id && all_here(needs); }

bool Isa::pays_here() const { return dot.k == 0 || processor_for(processor_kind(), vector_bytes).fast_pairs; }

bool IsaExtension::is_here() const { return find_isa(language, isa)->runs_here() && all_here(needs); }

const Isa* find_isa(Language language, std::string_view name) {
  for (const Isa& row : isas()) {
    if (row.language == language && row.name == name) return &row;
  }
  return nullptr;
}

std::vector<const Isa*> isas_of(Language language, bool gpu, DType element) {
  std::vector<const Isa*> found;
  for (const Isa& row : isas()) {
    const bool for_others = row.architecture != Arch::None && row.architecture != host_architecture().id;
    if (row.language == language && row.gpu == gpu && !for_others && row.computes(element)) found.push_back(&row);
  }
  return found;
}

std::vector<std::string> known_targets() {
  std::vector<std::string> names;
  for (const Architecture& row : architectures()) names.emplace_back(row.name);
  for (const Isa& row : isas()) {
    if (row.architecture != Arch::None && std::find(names.begin(), names.end(), row.name) == names.end())
      names.emplace_back(row.name);
  }
  return names;
}

std::vector<std::string> isas_of_target(std::string_view name) {
  std::vector<std::string> found;
  const Architecture* architecture = find_architecture(name);
  for (const Isa& row : isas()) {
    if (row.architecture == Arch::None) continue;
    if (architecture != nullptr ? row.architecture == architecture->id : row.name == name) found.emplace_back(row.name);
  }
  if (found.empty()) {
    const std::vector<std::string> all = known_targets();
    const std::string near = nearest_word(std::string(name), all);
    fail_usage("target ", name, ": choose from ", join(all), near.empty() ? "" : "; did you mean " + near + "?");
  }
  return found;
}

std::vector<std::string> known_isas(DType element) {
  std::vector<std::string> names;
  for (const Isa* row : isas_of(Language::C, false, element)) names.emplace_back(row->name);
  return names;
}

std::vector<std::string> supported_isas(DType element) {
  std::vector<std::string> names;
  for (const Isa* row : isas_of(Language::C, false, element)) {
    if (row->runs_here() && row->pays_here()) names.emplace_back(row->name);
  }
  return names;
}

std::vector<std::string> supported_extensions() {
  std::vector<std::string> names;
  for (const IsaExtension& row : isa_extensions()) {
    if (row.is_here()) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace dnn
