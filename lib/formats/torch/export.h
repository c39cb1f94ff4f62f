// What writing one IR node as ATen calls needs: its values as variables, and steps to add calls.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/torch/aten.h"
#include "formats/torch/parameters.h"

namespace dnn::torch {

// A program while it grows.
class Builder {
 public:
  explicit Builder(const Graph& graph);

  const Graph& graph() const { return graph_; }
  // The variable of a value; of a list of integers, a tensor made of it.
  VarId var(ValueId v);
  const Type& var_type(VarId var) const { return program_.var(var).type; }
  void set_type(VarId var, Type type) { program_.vars[var].type = std::move(type); }
  void set(ValueId v, VarId var) { vars_of_[v] = var; }
  // A list (or single number) of integers that are constants or extents; nothing where it is computed otherwise.
  std::optional<Items> items(ValueId v);
  void set_items(ValueId v, Items items) { items_of_[v] = std::move(items); }

  // Whether all that a node makes is known without running it.
  bool known(const Node& node) const;

  VarId add(const std::string& wanted_name, Type type);
  VarId add_integer(const std::string& wanted_name, std::string extent);
  VarId constant(const std::string& wanted_name, const Tensor& value);
  void call(std::string_view op, std::vector<Arg> args, std::vector<VarId> outputs, bool list = false);
  // The extent of an axis: its number, or the variable that asks for it.
  Item extent(VarId tensor, int64_t axis);
  // a op b for "add", "sub", "mul", "floordiv"; computed here where both are known.
  Item arithmetic(const std::string& op, const Item& a, const Item& b);
  // An open extent as text over the program's symbols.
  std::string symbol(const Dim& dim);
  std::string extent_text(const Item& item) const;
  // What an element of a list says of an extent: its number, the model's symbol, or nothing.
  Dim dim(const Item& item) const;

  // The program, with the graph's outputs.
  Program finish();

 private:
  std::string unused_name(const std::string& wanted);
  VarId add_var(const std::string& wanted_name, Kind kind);

  const Graph& graph_;
  Program program_;
  std::set<std::string> names_;
  std::map<ValueId, Held> held_;
  std::map<ValueId, VarId> vars_of_;
  std::map<ValueId, Items> items_of_;
  std::vector<Tensor> known_;
  std::map<std::pair<VarId, int64_t>, Item> extents_;
};

// One node while it is written.
class Export {
 public:
  Export(Builder& builder, const Node& node) : builder_(builder), node_(node) {}

  const Node& node() const { return node_; }
  const Graph& graph() const { return builder_.graph(); }
  Builder& builder() { return builder_; }

  bool has_input(size_t i) const { return node_.input(i) != kNoValue; }
  VarId input(size_t i) { return builder_.var(node_.inputs[i]); }
  // Input i, or None where it is left out.
  Arg optional(size_t i) { return has_input(i) ? tensor(input(i)) : none(); }
  const Tensor* constant(size_t i) const { return graph().constant(node_.input(i)); }
  // A constant input; Unsupported where it is computed.
  const Tensor& known(size_t i, const char* what) const;
  std::vector<int64_t> known_ints(size_t i, const char* what);
  // A list of integers that may follow from extents; Unsupported where it is computed from data.
  Items items(size_t i, const char* what);
  // Input i as a number where it is a single constant that can stand in a call, else as a tensor.
  std::optional<double> scalar(size_t i) const;

  const Type& type(size_t i) const { return graph().value(node_.inputs[i]).type; }
  const Type& output_type(size_t i = 0) const { return graph().value(node_.outputs[i]).type; }
  DType dtype() const { return type(0).dtype; }
  // Extents of input i; -1: open. Unsupported where the rank is unknown.
  std::vector<int64_t> shape(size_t i) const;
  std::vector<int64_t> output_shape(size_t i = 0) const;
  int64_t rank(size_t i) const { return static_cast<int64_t>(shape(i).size()); }
  // An attribute that counts axes of input 0, from the front.
  int64_t axis(const char* name, int64_t fallback) const;

  // A call on the way; `what` goes into its name.
  VarId step(std::string_view op, std::vector<Arg> args, const char* what, Type type);
  // The call that makes output 0.
  void define(std::string_view op, std::vector<Arg> args);
  // The call that makes several outputs, as a tuple or as a list.
  void define_many(std::string_view op, std::vector<Arg> args, bool list);
  // Output 0 is this variable; or these integers.
  void define(VarId var) { builder_.set(node_.outputs[0], var); }
  void define_items(Items items);
  VarId store(const char* what, const Tensor& value) { return builder_.constant(name(what), value); }
  VarId output_var() { return builder_.var(node_.outputs[0]); }
  // A variable for output i that a call is to fill.
  VarId output(size_t i = 0);

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(node_.label(), " cannot be written for PyTorch: ", parts...);
  }

 private:
  std::string name(const char* what) const { return graph().value(node_.outputs[0]).name + "_" + what; }

  Builder& builder_;
  const Node& node_;
};

// One row per IR operator that can be written, from exports.def.
struct ExportRow {
  const char* op;
  void (*write)(Export&);
};
const std::vector<ExportRow>& export_rows();

// The graph as a program of ATen calls. A node without a counterpart is Unsupported, by its name.
Program to_program(const Graph& graph);

}  // namespace dnn::torch
