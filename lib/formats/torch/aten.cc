// The table of PyTorch's operators; see aten.h.
#include "formats/torch/aten.h"

#include <algorithm>

#include "base/error.h"

namespace dnn::torch {
namespace {

Signature signature(const char* name, const char* overload, const char* target, std::string_view arguments) {
  Signature row{name, overload, target, {}, 0};
  bool by_name = false;
  for (const std::string& argument : split(arguments, ' ')) {
    if (argument == "*") {
      by_name = true;
      continue;
    }
    row.arguments.push_back(argument);
    if (!by_name) ++row.positional;
  }
  return row;
}

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> rows = {
#define DNN_ATEN(name, overload, arguments) \
  signature(#name, #overload, "torch.ops.aten." #name "." #overload, arguments),
#define DNN_INTEGER(name, target) signature(#name, "", target, "a b"),
#include "formats/torch/aten.def"
  };
  return rows;
}

struct TypeRow {
  DType dtype;
  int number, exported;
};
constexpr TypeRow kTypes[] = {
    {DType::UInt8, 0, 1},  {DType::Int8, 1, 2},       {DType::Int16, 2, 3},   {DType::Int32, 3, 4},
    {DType::Int64, 4, 5},  {DType::Float16, 5, 6},    {DType::Float32, 6, 7}, {DType::Float64, 7, 8},
    {DType::Bool, 11, 12}, {DType::BFloat16, 15, 13},
};

const TypeRow& type_row(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row;
  }
  fail_unsupported("PyTorch has no tensors of ", dtype_name(dtype), " that can be written");
}

}  // namespace

const Signature& find_signature(std::string_view full_name) {
  const size_t dot = full_name.find('.');
  const std::string_view name = full_name.substr(0, dot);
  const std::string_view overload = dot == std::string_view::npos ? "default" : full_name.substr(dot + 1);
  for (const Signature& row : signatures()) {
    if (name == row.name && overload == row.overload) return row;
  }
  fail_internal("no signature of ", full_name, " in aten.def");
}

int scalar_type(DType dtype) { return type_row(dtype).number; }
int exported_scalar_type(DType dtype) { return type_row(dtype).exported; }

}  // namespace dnn::torch
