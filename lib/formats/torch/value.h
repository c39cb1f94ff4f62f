// Values while a TorchScript program or an exported graph is read: Python's, known at load time, and tensors, which are values
// of the IR's graph.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace dnn::torch {

struct Function;
struct Any;

// How a quantised tensor's integers stand for numbers: (integer - zero point) * scale.
struct Quantizer {
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  int64_t axis = -1;  // of the scales; -1: one for all
  DType dtype = DType::UInt8;
};

// Tensors that share memory, by an operator that makes a view: a write to one goes to all.
struct Aliases {
  int version = 0;  // how often it was written to
};

struct TensorCell {
  ValueId value = kNoValue;                    // its numbers; integers where it is quantised
  std::shared_ptr<const Quantizer> quantizer;  // null: not quantised
  std::shared_ptr<Aliases> aliases;
  int version = 0;  // of the aliases that `value` is of; another one: it was written to through a view
  std::string not_made =
      {};  // what of an operator this is that no graph computes: who reads it is refused. Empty: it is there
};

// An integer that depends on the extents of inputs that are open.
struct SymbolicInt {
  ValueId of = kNoValue;  // the tensor whose extent it is
  int64_t axis = 0;
  ValueId value = kNoValue;    // int64[1], where a node makes it already
  Dim dim;                     // symbol, where it is an extent
  bool signed_number = false;  // it may be negative, as a difference may
};

struct ListCell {
  std::vector<Any> items;
  bool tuple = false;
};

// A module of the program, or an object that holds packed weights.
struct Object;

// A dotted name that is not a value: torch.nn.functional.relu
struct Dotted {
  std::string name;
};

struct Any {
  using Tensor = std::shared_ptr<TensorCell>;
  using Symbolic = std::shared_ptr<SymbolicInt>;
  using List = std::shared_ptr<ListCell>;
  using Dict = std::shared_ptr<std::vector<std::pair<Any, Any>>>;
  using Module = std::shared_ptr<Object>;
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, Symbolic, List, Dict, Module, Dotted> v;

  Any() = default;
  template <class T>
  requires(std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
           std::is_same_v<T, std::string> || std::is_same_v<T, Tensor> || std::is_same_v<T, Symbolic> ||
           std::is_same_v<T, List> || std::is_same_v<T, Dict> || std::is_same_v<T, Module> || std::is_same_v<T, Dotted>)
      Any(T value)
      : v(std::move(value)) {}  // NOLINT: implicit on purpose, like Python's values

  template <class T>
  const T* get() const {
    return std::get_if<T>(&v);
  }
  bool none() const { return std::holds_alternative<std::monostate>(v); }
  bool tensor() const { return std::holds_alternative<Tensor>(v); }
  bool list() const { return std::holds_alternative<List>(v); }
};

inline Any make_list(std::vector<Any> items, bool tuple = false) {
  return std::make_shared<ListCell>(ListCell{std::move(items), tuple});
}
inline Any make_ints(const std::vector<int64_t>& values) {
  return make_list(std::vector<Any>(values.begin(), values.end()));
}

// What kind of value it is, for errors: "an int".
std::string kind_of(const Any& value);

}  // namespace dnn::torch
