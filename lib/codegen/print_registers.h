// Locals that printed kernels keep in registers: variables of scalars or vectors in place of arrays.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "codegen/print.h"
#include "loops/ir.h"

namespace dnn::codegen {

// A local that lives in registers: every access has constant indices after unrolling, but for one lane position.
struct Registers {
  int lane_position = -1;  // -1: scalars
  int64_t lanes = 1;

  bool operator==(const Registers&) const = default;
};
using RegisterMap = std::map<const loops::Buffer*, Registers>;

// The locals of `body` that the language can hold so.
RegisterMap find_registers(const loops::Stmt& body, const Vocabulary& words);

// The variable that is the local's element, or vector of elements, at `indices`.
std::string register_name(const loops::Buffer& buffer, const Registers& registers,
                          const std::vector<loops::Expr>& indices);
// All of the local's variables.
std::vector<std::string> register_names(const loops::Buffer& buffer, const Registers& registers);

}  // namespace dnn::codegen
