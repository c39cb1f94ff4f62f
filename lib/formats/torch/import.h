// Importing ATen operators, for TorchScript and exported programs alike: arguments by name with the schema's defaults, and
// steps to build nodes from. The rows are in ops.def.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "formats/draft.h"
#include "formats/leftovers.h"
#include "formats/torch/tensors.h"
#include "formats/torch/value.h"
#include "ops/type_inference.h"

namespace dnn::torch {

class Op;

struct OpRow {
  const char* name;    // "conv2d"; of other namespaces "quantized::conv2d"
  const char* schema;  // "input weight bias=None stride=1"
  Any (*import)(Op&);
  const char* op;  // for functions that serve many rows: the IR's operator
};
const std::vector<OpRow>& op_rows();
// The row of that name; of NAME for NAME_, the form that writes into its first argument. Null where there is none.
const OpRow* find_op_row(const std::string& name);

// Arguments that no function asks for, and that change nothing: irrelevant.cc says why.
const IrrelevantFields& irrelevant_arguments();

// An input's shape is needed that the file does not say, and this is what the operator that reads it wants.
struct InputGuess {
  size_t input;
  std::vector<Dim> shape;
};

// The graph that is made, with what its values are known to be.
class Importer {
 public:
  explicit Importer(IgnoredFields ignored = {});

  Draft draft;

  ValueId add_input(const std::string& name, Type type);
  // A tensor of the file, once under its first name.
  Any constant(const std::string& name, const StoredTensor& tensor);
  Any cell(ValueId value) const;
  // A tensor that is refused where it is read; `what` it would be.
  static Any not_made(const std::string& what);
  Any view(ValueId value, const Any::Tensor& of) const;
  // The value of a tensor. Unsupported where it was changed through a view since.
  ValueId value_of(const Any::Tensor& cell, const std::string& who) const;
  ValueId real_of(const Any::Tensor& cell, GraphBuilder& steps, const std::string& who);
  ValueId symbolic_value(const Any::Symbolic& symbolic, GraphBuilder& steps);
  // Integers with an open one among them: "Add", "Sub", "Mul", "Mod", "Min", "Max", or "Div", which rounds down.
  Any symbolic_math(const std::string& op, const Any& a, const Any& b, GraphBuilder& steps);
  // An extent: a number where it is fixed.
  Any extent(ValueId v, int64_t axis);
  const Type& type(ValueId v);
  // What a small value is known to be at load time; null: not known.
  const Tensor* known(ValueId v);
  // Throws InputGuess where `v` comes from an input of unknown shape element by element.
  void guess_input(ValueId v, std::vector<Dim> shape) const;

  // Calls an operator. `where` says its place for errors.
  Any call(const std::string& op, std::vector<Any> arguments, const std::vector<std::string>& keywords,
           const std::string& node_name, const std::string& where);

 private:
  // Throws Unsupported for an argument that is not the schema's default and that the row's function did not ask for.
  void refuse_leftovers(const Op& op, const std::vector<Any>& arguments) const;

  TypeInference types_;
  const IgnoredFields ignored_;
  std::map<ValueId, ValueId> reals_;  // of quantised values
};

// One call of an operator.
class Op : public DraftBuilder {
 public:
  Op(Importer& importer, const OpRow& row, std::string name, std::string where, std::vector<Any> arguments);

  const OpRow& row() const { return row_; }
  Importer& importer() { return importer_; }
  bool in_place() const { return in_place_; }
  void set_in_place() { in_place_ = true; }

  // Arguments are handed out, and what none of a row's function asked for is what is left over: see leftovers(). One that is
  // None has been answered by has(), one that cannot matter by without().
  const Any& argument(size_t i) const;
  bool has(size_t i) const;
  void without(size_t i) const { ask(i); }
  bool asked(size_t i) const { return i < asked_.size() && asked_[i]; }
  // Argument i as numbers of the graph: dequantised where it is quantised; a Python number as a constant.
  ValueId tensor(size_t i);
  bool is_tensor(size_t i) const { return i < arguments_.size() && arguments_[i].tensor(); }
  const Quantizer* quantizer(size_t i) const;
  int64_t integer(size_t i) const;
  int64_t integer(size_t i, int64_t fallback) const { return has(i) ? integer(i) : fallback; }
  double real(size_t i) const;
  bool flag(size_t i) const;
  std::string text(size_t i) const;
  DType dtype(size_t i) const;
  const std::vector<Any>& items(size_t i) const;
  // Known integers; one stands for `n` where n > 0. An empty list stays empty.
  std::vector<int64_t> ints(size_t i, size_t n = 0) const;
  // The tensors of a list.
  std::vector<ValueId> tensors(size_t i);

  const Type& type(ValueId v) { return importer_.type(v); }
  // Unsupported with advice where it is not known.
  size_t rank(ValueId v);
  std::vector<Dim> shape(ValueId v);
  int64_t extent(ValueId v, int64_t axis);
  // An axis of a tensor, counted from the front.
  int64_t axis(int64_t axis, ValueId v);
  bool fixed(ValueId v, int64_t axis);

  // A constant in all digits of its type; float32 where that is not known.
  ValueId scalar(double value, DType dtype);
  // The value where the file holds it, else null.
  const Tensor* constant(ValueId v) const { return importer_.draft.graph.constant(v); }
  // A number as a constant of the dtype that computing with `like` gives.
  ValueId number_like(size_t i, ValueId like);
  ValueId ints_value(const std::vector<Any>& values);
  ValueId reshape(ValueId x, const std::vector<Any>& shape);
  ValueId reshape(ValueId x, const std::vector<int64_t>& shape) {
    return reshape(x, std::vector<Any>(shape.begin(), shape.end()));
  }
  ValueId unsqueeze(ValueId x, const std::vector<int64_t>& axes) { return emit("Unsqueeze", {x, list(axes)}); }
  ValueId squeeze(ValueId x, const std::vector<int64_t>& axes) { return emit("Squeeze", {x, list(axes)}); }
  ValueId slice(ValueId x, int64_t axis, int64_t start, int64_t end, int64_t step = 1) {
    return emit("Slice", {x, list({start}), list({end}), list({axis}), list({step})});
  }

  // Results: a tensor of its own; one that shares memory with argument i; many.
  Any result(ValueId v) { return importer_.cell(v); }
  Any view(size_t i, ValueId v);
  Any result_many(const std::vector<ValueId>& values, bool tuple);
  // A result that is not computed, and what the others call it: refused where something reads it.
  Any not_made(const char* what) { return importer_.not_made(cat("the ", what, " of ", label())); }
  // A tensor quantised like argument i where that is, else plain. For operators that move or select numbers.
  Any like(size_t i, ValueId v);
  Any quantized(ValueId v, const Quantizer& quantizer);
  std::vector<ValueId> quantizer_inputs(const Quantizer& quantizer);

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(label(), ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(label(), ": ", parts...);
  }
  std::string label() const { return cat("torch.", row_.name, " at ", where_); }

 private:
  void ask(size_t i) const { asked_[i] = true; }
  void declare_shape(ValueId y, const Type& before, const std::vector<Any>& target);

  Importer& importer_;
  const OpRow& row_;
  std::string where_;
  std::vector<Any> arguments_;
  mutable std::vector<bool> asked_;  // by argument
  bool in_place_ = false;
};

// The element type of torch's number for it: 6 is float32.
DType dtype_of_code(int64_t code);   // Undefined for others
int64_t code_of_dtype(DType dtype);  // -1 for others

}  // namespace dnn::torch
