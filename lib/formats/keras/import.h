// What importing one call of a Keras layer needs: its options, weights and inputs, and steps to build nodes from.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/draft.h"
#include "formats/keras/archive.h"
#include "formats/keras/config.h"

namespace dnn::keras {

inline constexpr int64_t kLargestInteger = int64_t{1} << 40;  // of options and arguments

// A model while it is read.
struct Session {
  Draft draft;
  int version = 2;
  bool flips_kernels = false;
  IgnoredFields ignored;  // see formats/leftovers.h
  // Constants made of weights, by layer and role: a shared layer's are made once.
  std::map<std::pair<const Layer*, std::string>, ValueId> constants;
  size_t calls = 0;
  // Calls a layer that is part of another; arguments as Call's. Gives its outputs.
  std::function<std::vector<ValueId>(const Layer&, const std::string& name, Json args, Json kwargs)> call;
};

// One call of a layer. Its options and arguments are handed out one by one; finish() refuses those that nobody asked for.
class Call : public DraftBuilder {
 public:
  // `args` and `kwargs` as in CallConfig, tensors replaced by {"value": id}.
  Call(Session& session, const Layer& layer, std::string name, Json args, Json kwargs);

  const Layer& layer() const { return layer_; }
  int version() const { return session_.version; }
  bool flips_kernels() const { return session_.flips_kernels; }

  // The tensors of the first argument, in order; `x` is the only one.
  std::vector<ValueId> inputs() const { return tensors(0, {"inputs", "x", "input_tensor"}); }
  ValueId x() const;
  // An argument by its place or its names; null where it is left out.
  const Json& argument(size_t place, std::initializer_list<const char*> names) const;
  // The tensors that it is or lists; Unsupported where anything else is among them.
  std::vector<ValueId> tensors(size_t place, std::initializer_list<const char*> names) const;
  // The dtype of the first tensor among all arguments.
  DType first_dtype() const;
  // Extents of a value; -1: open. Unsupported where even the rank is unknown.
  std::vector<int64_t> shape(ValueId v) const;
  int64_t rank(ValueId v) const { return static_cast<int64_t>(shape(v).size()); }
  DType dtype(ValueId v) const { return draft().graph.value(v).type.dtype; }
  // Its value where it is known, else null.
  const Tensor* constant_of(ValueId v) const { return draft().graph.constant(v); }
  // Floating-point inputs of another dtype become that one.
  void cast_inputs(DType dtype);

  // Options of the layer. Malformed where one is of another kind than asked for.
  bool has(const char* key) const { return options_.has(key); }        // and not null
  bool states(const char* key) const { return options_.states(key); }  // or null
  const Json& option(const char* key) const { return options_.take(key); }
  std::string text(const char* key, const std::string& fallback) const;
  bool flag(const char* key, bool fallback) const;
  double number(const char* key, double fallback) const;
  int64_t integer(const char* key, int64_t fallback) const;
  int64_t axis(const char* key, int64_t fallback, int64_t rank) const;  // not negative, below rank
  // A number or a list of `n` numbers.
  std::vector<int64_t> integers(const char* key, size_t n, int64_t fallback) const;
  std::vector<int64_t> list_option(const char* key) const;  // any length
  bool channels_first() const;

  // The weight of that place among the layer's, as a constant; `role` is its name where the file has none. Malformed when it is
  // missing. `arrange` gives the tensor in the order that the IR wants.
  template <class Arrange>
  ValueId weight(size_t i, const char* role, const Arrange& arrange) {
    const Tensor& tensor = stored(i, role);
    const auto [at, fresh] = session_.constants.try_emplace({&layer_, role}, kNoValue);
    if (fresh) at->second = add_weight(i, role, computed(arrange(tensor)));
    return at->second;
  }
  ValueId weight(size_t i, const char* role) {
    return weight(i, role, [](const Tensor& t) { return t; });
  }
  bool has_weight(size_t i) const { return i < layer_.weights.size(); }
  const Tensor& stored(size_t i, const char* role) const;
  // A constant that the layer stands for but the file does not hold.
  ValueId constant(const char* role, Tensor tensor);

  // A new node whose output's type is inferred; see DraftBuilder.
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                 size_t outputs);
  ValueId transpose(ValueId v, const Permutation& perm) { return emit("Transpose", {v}, {{"perm", perm}}); }
  ValueId scalar(double value, ValueId like);  // of that value's dtype
  // The activation that an option names: a name, or a layer.
  ValueId activated(ValueId v, const Json& activation);
  ValueId activated(ValueId v) { return has("activation") ? activated(v, option("activation")) : v; }

  // An output behind the one that the import gives.
  void add_output(ValueId v) { more_outputs_.push_back(v); }
  const std::vector<ValueId>& more_outputs() const { return more_outputs_; }
  // Calls a layer of layer().inner.
  std::vector<ValueId> call_inner(size_t i, Json args, Json kwargs) {
    const Layer& inner = layer_.inner[i];
    return session_.call(inner, name() + "/" + inner.name, std::move(args), std::move(kwargs));
  }

  // Throws Unsupported where an option or argument is left that is not known to be irrelevant; see fields.h.
  void finish() const;

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(layer_.label(), ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(layer_.label(), ": ", parts...);
  }

 private:
  ValueId add_weight(size_t i, const char* role, Tensor tensor);
  // In the dtype that the layer computes in, where weights are kept in another.
  Tensor computed(Tensor tensor) const;
  void infer(const std::vector<ValueId>& outputs);

  Session& session_;
  const Layer& layer_;
  Fields options_;
  Json given_;                         // its arguments, those with a place by its number
  Fields arguments_;                   // the same
  DType computes_ = DType::Undefined;  // as cast_inputs() was told
  std::vector<ValueId> more_outputs_;
};

// True for {"value": id}, as args() and kwargs() name a tensor.
bool is_value(const Json& argument);
ValueId value_of(const Json& argument);

// What a class's import makes of a call, all of whose options and arguments it has to have taken.
template <class Import, class... T>
ValueId import_all(Call& call, const Import& import, const T&... detail) {
  const ValueId result = import(call, detail...);
  call.finish();
  return result;
}

// One row per layer class, from layers.def.
struct LayerRow {
  const char* name;
  ValueId (*import)(Call&);
};
const std::vector<LayerRow>& layer_rows();
// The same for Keras 3's operations and tf_keras' TFOpLambda layers, from operations.def.
const LayerRow* find_layer(const std::string& class_name);

// The floating-point type that a layer computes in.
DType compute_dtype(const Call& call);

// Applies an activation by its name; see Call::activated.
ValueId apply_activation(Call& call, ValueId v, const std::string& name);

}  // namespace dnn::keras
