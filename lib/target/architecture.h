// Architectures: families of instruction sets, one of which this program was made for; rows of architectures.def.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace dnn {

enum class Arch : uint8_t {
  None,  // no code, or code that a driver makes
#define DNN_ARCHITECTURE(enumerator, name, triple, packages, elf_machine) enumerator,
#include "target/architectures.def"
#undef DNN_ARCHITECTURE
};

struct Architecture {
  Arch id;
  const char* name;      // "aarch64"
  const char* triple;    // "aarch64-linux-gnu": GCC's cross compiler is "aarch64-linux-gnu-gcc"
  const char* packages;  // Debian's, that hold the compiler and what it needs
  uint16_t elf_machine;  // of object files
};

const std::vector<Architecture>& architectures();
const Architecture& architecture_of(Arch id);
// Null where there is none of that name.
const Architecture* find_architecture(std::string_view name);
// That of this program.
const Architecture& host_architecture();

}  // namespace dnn
