// Aten programs: a network as a list of calls of PyTorch's operators, which TorchScript prints as text and .pt2 as JSON.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace dnn::torch {

// One row per operator and overload that is written, from aten.def.
struct Signature {
  const char* name;      // "conv2d"
  const char* overload;  // "default"; "" for Python's own arithmetic on integers
  const char* target;    // in a .pt2: "torch.ops.aten.conv2d.default"
  std::vector<std::string> arguments;
  size_t positional;  // of them; the rest are given by name
};
// The signature "name.overload"; Internal where there is none.
const Signature& find_signature(std::string_view full_name);

using VarId = int32_t;

enum class Kind { Tensor, Tensors, Int };  // Tensors: a list of them
enum class Role { None, Parameter, Buffer, Constant };

// What a call makes, an input, or a tensor that the file holds.
struct Var {
  std::string name;  // unique, an identifier of Python
  Kind kind = Kind::Tensor;
  Type type;           // of a Tensor
  std::string extent;  // of an Int: the extent or product of extents that it is, as text over symbols
  Role role = Role::None;
  std::string key;  // of what the file holds: its name there
  Tensor tensor;    // and its value
};

// An element of a list of integers: a number, or a variable.
struct Item {
  int64_t number = 0;
  VarId var = -1;
  Item(int64_t n) : number(n) {}  // NOLINT: implicit on purpose, lists read as numbers
  static Item of(VarId var) {
    Item item(0);
    item.var = var;
    return item;
  }
  bool fixed() const { return var < 0; }
  bool operator==(const Item&) const = default;
};
using Items = std::vector<Item>;

struct TensorArg {
  VarId var;
};
using Arg = std::variant<std::monostate,      // None
                         TensorArg,           // a tensor
                         std::vector<VarId>,  // a list of tensors
                         Item, Items, double, bool, std::string, DType>;
inline Arg none() { return {}; }
inline Arg tensor(VarId var) { return TensorArg{var}; }
inline Arg ints(const std::vector<int64_t>& values) { return Items(values.begin(), values.end()); }
inline Arg number(int64_t value) { return Item(value); }

struct Call {
  const Signature* signature;
  std::vector<Arg> args;       // as many of the signature's as are not left to their defaults
  std::vector<VarId> outputs;  // one, several of a tuple, or the elements of a list
  bool list = false;           // the elements of a list
};

struct Program {
  std::vector<Var> vars;
  std::vector<Call> calls;
  std::vector<VarId> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> symbols;  // open extents: the model's symbol, the program's

  const Var& var(VarId id) const { return vars[id]; }
};

// Number of PyTorch's element type, as TorchScript has it and as .pt2 has it (they differ). Unsupported for types it lacks.
int scalar_type(DType dtype);
int exported_scalar_type(DType dtype);

}  // namespace dnn::torch
