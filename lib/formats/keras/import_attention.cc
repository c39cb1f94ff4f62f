// Attention layers, as products of matrices around a softmax.
#include <cmath>

#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

ValueId mixed_by(Call& call, ValueId scores, ValueId value) {
  return call.emit("MatMul", {call.emit("Softmax", {scores}, {{"axis", int64_t{-1}}}), value});
}

}  // namespace

// Query, value and, where it is another one, key: [N, T, D]; scores are their products, times a number where that is learnt.
ValueId import_attention(Call& call) {
  const std::vector<ValueId> inputs = call.inputs();
  if (inputs.size() < 2 || inputs.size() > 3) call.refuse(inputs.size(), " inputs; query, value and key are read");
  if (call.text("score_mode", "dot") != "dot") call.refuse("score_mode ", call.text("score_mode", ""));
  if (call.flag("causal", false)) call.refuse("option causal");
  const ValueId query = inputs[0], value = inputs[1], key = inputs[inputs.size() - 1];
  for (ValueId v : inputs) {
    if (call.rank(v) != 3) call.refuse("an input of rank ", call.rank(v));
  }
  ValueId scores = call.emit("MatMul", {query, call.transpose(key, last_two_swapped(3))});
  if (call.flag("use_scale", false)) {
    if (call.stored(0, "scale").size() != 1) call.fail("a scale of ", call.stored(0, "scale").size(), " numbers");
    scores = call.emit("Mul", {scores, call.weight(0, "scale", [](const Tensor& t) { return t.reshaped({}); })});
  }
  return mixed_by(call, scores, value);
}

// Query, value and key as [N, T, D]; kernels are [D, heads, size], the last one [heads, size, D].
ValueId import_multi_head_attention(Call& call) {
  std::vector<ValueId> inputs = call.tensors(0, {"query"});
  for (const std::vector<ValueId>& more : {call.tensors(1, {"value"}), call.tensors(2, {"key"})})
    inputs.insert(inputs.end(), more.begin(), more.end());
  if (inputs.size() < 2 || inputs.size() > 3) call.refuse(inputs.size(), " inputs; query, value and key are read");
  const auto index = [&](const char* part, const char* old, const char* what, int64_t number) -> size_t {
    const auto& weights = call.layer().weights;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i].role == cat(old, "/", what) || weights[i].role == cat(part, "/", number)) return i;
    }
    return weights.size();
  };
  const auto projected = [&](ValueId v, const char* part, const char* old, bool out) {
    const size_t i = index(part, old, "kernel", 0), b = index(part, old, "bias", 1);
    const Tensor& kernel = call.stored(i, part);
    if (kernel.rank() != 3 || call.rank(v) != 3) call.refuse("attention over more than one axis");
    const int64_t in = out ? kernel.dim(0) * kernel.dim(1) : kernel.dim(0);
    const int64_t units = out ? kernel.dim(2) : kernel.dim(1) * kernel.dim(2);
    const std::string role = cat(old, "/kernel"), bias_role = cat(old, "/bias");
    ValueId y = call.emit("MatMul", {v, call.weight(i, role.c_str(), [&](const Tensor& t) {
                                       return t.reshaped({in, units});
                                     })});
    if (call.has_weight(b)) {
      y = call.emit("Add",
                    {y, call.weight(b, bias_role.c_str(), [&](const Tensor& t) { return t.reshaped({units}); })});
    }
    if (out) return y;
    const ValueId heads = call.emit("Reshape", {y, call.list({0, 0, kernel.dim(1), kernel.dim(2)})});
    return call.transpose(heads, {0, 2, 1, 3});
  };
  const ValueId query = projected(inputs[0], "query_dense", "query", false);
  const ValueId key = projected(inputs[inputs.size() - 1], "key_dense", "key", false);
  const ValueId value = projected(inputs[1], "value_dense", "value", false);
  const int64_t size = call.shape(query)[3];
  if (size < 1) call.fail("heads of size ", size);
  const ValueId scaled = call.emit("Mul", {query, call.scalar(1 / std::sqrt(static_cast<double>(size)), query)});
  const ValueId scores = call.emit("MatMul", {scaled, call.transpose(key, last_two_swapped(4))});
  const ValueId mixed = mixed_by(call, scores, value);
  const ValueId rows = call.transpose(mixed, {0, 2, 1, 3});
  const ValueId flat = call.emit("Reshape", {rows, call.list({0, 0, call.shape(value)[1] * call.shape(value)[3]})});
  return projected(flat, "output_dense", "attention_output", true);
}

}  // namespace dnn::keras
