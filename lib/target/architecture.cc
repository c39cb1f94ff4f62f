// The table of architectures; see architecture.h.
#include "target/architecture.h"

#include "base/error.h"

namespace dnn {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> rows = {
#define DNN_ARCHITECTURE(enumerator, name, triple, packages, elf_machine) \
  {Arch::enumerator, name, triple, packages, elf_machine},
#include "target/architectures.def"
#undef DNN_ARCHITECTURE
  };
  return rows;
}

const Architecture& architecture_of(Arch id) {
  for (const Architecture& row : architectures()) {
    if (row.id == id) return row;
  }
  fail_internal("an architecture that is no row");
}

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& row : architectures()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const Architecture& host_architecture() {
#if defined(__aarch64__)
  return architecture_of(Arch::Aarch64);
#else
  return architecture_of(Arch::X86_64);
#endif
}

}  // namespace dnn
