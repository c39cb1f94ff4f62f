// Attention layers, as products of matrices around a softmax.
#include <cmath>

#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

ValueId shares_of(Call& call, ValueId scores) { return call.emit("Softmax", {scores}, {{"axis", int64_t{-1}}}); }

ValueId both_seen(Call& call, ValueId a, ValueId b) {
  return a == kNoValue ? b : b == kNoValue ? a : call.emit("And", {a, b});
}

ValueId as_mask(Call& call, ValueId v) {
  return call.dtype(v) == DType::Bool ? v : call.emit("Cast", {v}, {{"to", static_cast<int64_t>(DType::Bool)}});
}

// A mask argument by its name, as truth values; none where it is left out.
ValueId mask_argument(Call& call, size_t place, const char* name) {
  const std::vector<ValueId> given = call.tensors(place, {name});
  if (given.size() > 1) call.refuse(given.size(), " tensors as ", name);
  return given.empty() ? kNoValue : as_mask(call, given[0]);
}

bool flag_argument(Call& call, size_t place, const char* name) {
  const Json& given = call.argument(place, {name});
  if (!given.is_null() && !given.is_boolean()) call.refuse("argument ", name, " is computed");
  return given.is_boolean() && given.get<bool>();
}

// Which keys a query sees: those up to its own place. [queries, keys]
ValueId causal_mask(Call& call, int64_t queries, int64_t keys) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (queries < 1 || keys < 1) call.refuse("a causal mask of open extents");
  if (queries > kMost / keys) call.refuse("a causal mask of ", queries, " x ", keys);
  Tensor seen(DType::Bool, {queries, keys});
  for (int64_t i = 0; i < seen.size(); ++i) seen.mutable_data<bool>()[i] = i % keys <= i / keys;
  return call.store("causal", seen);
}

// Query and key [N, T, D] added for each pair, through tanh: [N, Tq, Tv, D].
ValueId bent_sums(Call& call, ValueId query, ValueId key, ValueId scale) {
  const ValueId sum = call.emit(
      "Add", {call.emit("Unsqueeze", {query, call.list({2})}), call.emit("Unsqueeze", {key, call.list({1})})});
  return call.emit("Tanh", {scale == kNoValue ? sum : call.emit("Mul", {scale, sum})});
}

ValueId summed(Call& call, ValueId v) {
  return call.emit("ReduceSum", {v, call.list({3})}, {{"keepdims", int64_t{0}}});
}

ValueId single_weight(Call& call, size_t i, const char* role) {
  if (call.stored(i, role).size() != 1) call.fail("a ", role, " of ", call.stored(i, role).size(), " numbers");
  return call.weight(i, role, [](const Tensor& t) { return t.reshaped({}); });
}

// Products of query and key, or what is left of their sums, times numbers that are learnt.
ValueId scores_of(Call& call, ValueId query, ValueId key) {
  const bool scaled = call.flag("use_scale", false);
  const std::string mode = call.text("score_mode", "dot");
  if (mode != "dot" && mode != "concat") call.refuse("score_mode ", mode);
  const ValueId scale = scaled ? single_weight(call, 0, "scale") : kNoValue;
  if (mode == "concat") {
    const ValueId share = single_weight(call, scaled ? 1 : 0, "concat_score_weight");
    return call.emit("Mul", {share, summed(call, bent_sums(call, query, key, scale))});
  }
  const ValueId scores = call.emit("MatMul", {query, call.transpose(key, last_two_swapped(3))});
  return scaled ? call.emit("Mul", {scores, scale}) : scores;
}

ValueId additive_scores(Call& call, ValueId query, ValueId key) {
  const ValueId bent = bent_sums(call, query, key, kNoValue);
  return summed(call, call.flag("use_scale", true) ? call.emit("Mul", {call.weight(0, "scale"), bent}) : bent);
}

// Masks of query and value [N, T], of which either may be left out.
std::pair<ValueId, ValueId> masks_of(Call& call) {
  const Json& given = call.argument(1, {"mask"});
  if (given.is_null()) return {kNoValue, kNoValue};
  if (!given.is_array() || given.size() < 2) call.refuse("a mask that is no list");
  const auto one = [&](size_t i) -> ValueId {
    if (given[i].is_null()) return kNoValue;
    if (!is_value(given[i])) call.refuse("a mask that is no tensor");
    return as_mask(call, value_of(given[i]));
  };
  for (size_t i = 2; i < given.size(); ++i) {
    if (!given[i].is_null()) call.refuse("a mask of the key");
  }
  return {one(0), one(1)};
}

// Query, value and, where it is another one, key: [N, T, D]. Hidden scores are less by 1e9, which leaves them no share.
ValueId import_pairs(Call& call, ValueId (*score)(Call&, ValueId, ValueId)) {
  const std::vector<ValueId> inputs = call.inputs();
  if (inputs.size() < 2 || inputs.size() > 3) call.refuse(inputs.size(), " inputs; query, value and key are read");
  const ValueId query = inputs[0], value = inputs[1], key = inputs[inputs.size() - 1];
  for (ValueId v : inputs) {
    if (call.rank(v) != 3) call.refuse("an input of rank ", call.rank(v));
  }
  ValueId scores = score(call, query, key);
  const auto [of_query, of_value] = masks_of(call);
  const bool causal = call.flag("causal", false) || flag_argument(call, 4, "use_causal_mask");
  ValueId seen = of_value == kNoValue ? kNoValue : call.emit("Unsqueeze", {of_value, call.list({1})});
  if (causal) seen = both_seen(call, seen, causal_mask(call, call.shape(query)[1], call.shape(key)[1]));
  if (seen != kNoValue) {
    const double most = call.dtype(scores) == DType::Float16 ? 65504 : 1e9;
    scores = call.emit("Where", {seen, scores, call.emit("Sub", {scores, call.scalar(most, scores)})});
  }
  const ValueId shares = shares_of(call, scores);
  ValueId mixed = call.emit("MatMul", {shares, value});
  if (of_query != kNoValue)
    mixed = call.emit("Where", {call.emit("Unsqueeze", {of_query, call.list({2})}), mixed, call.scalar(0, mixed)});
  if (flag_argument(call, 3, "return_attention_scores")) call.add_output(shares);
  return mixed;
}

// Masks of MultiHeadAttention, for scores [N, heads, T, S]; none where every key is seen.
ValueId seen_of_heads(Call& call, ValueId query, ValueId value) {
  constexpr size_t kByName = 99;  // their places differ between versions of Keras
  ValueId seen = mask_argument(call, kByName, "attention_mask");
  if (seen != kNoValue) {
    const int64_t rank = call.rank(seen);
    if (rank < 2 || rank > 4) call.refuse("an attention mask of rank ", rank);
    if (rank == 3) seen = call.emit("Unsqueeze", {seen, call.list({1})});
  }
  for (const char* name : {"value_mask", "key_mask"}) {
    const ValueId mask = mask_argument(call, kByName, name);
    if (mask != kNoValue) seen = both_seen(call, seen, call.emit("Unsqueeze", {mask, call.list({1, 2})}));
  }
  if (!flag_argument(call, kByName, "use_causal_mask")) return seen;
  return both_seen(call, seen, causal_mask(call, call.shape(query)[2], call.shape(value)[2]));
}

// Each head of a key or value for all query heads of its group.
ValueId repeated(Call& call, ValueId v, int64_t heads) {
  const int64_t given = call.shape(v)[1];
  if (given == heads) return v;
  if (given < 1 || heads % given != 0) call.fail(heads, " heads of queries for ", given, " of keys");
  std::vector<int64_t> which;
  for (int64_t h = 0; h < heads; ++h) which.push_back(h / (heads / given));
  return call.emit("Gather", {v, call.list(which)}, {{"axis", int64_t{1}}});
}

// Attention over heads [N, heads, T, size], and the shares of the keys.
std::pair<ValueId, ValueId> mixed_heads(Call& call, ValueId query, ValueId key, ValueId value) {
  const int64_t size = call.shape(query)[3], heads = call.shape(query)[1];
  if (size < 1) call.fail("heads of size ", size);
  const ValueId seen = seen_of_heads(call, query, value);
  const ValueId scaled = call.emit("Mul", {query, call.scalar(1 / std::sqrt(static_cast<double>(size)), query)});
  ValueId scores = call.emit("MatMul", {scaled, call.transpose(repeated(call, key, heads), last_two_swapped(4))});
  if (seen != kNoValue) {
    const double least = call.dtype(scores) == DType::Float16 ? -3e4 : -1e9;
    scores = call.emit("Where", {seen, scores, call.scalar(least, scores)});
  }
  const ValueId shares = shares_of(call, scores);
  return {call.emit("MatMul", {shares, repeated(call, value, heads)}), shares};
}

}  // namespace

ValueId import_attention(Call& call) { return import_pairs(call, scores_of); }
ValueId import_additive_attention(Call& call) { return import_pairs(call, additive_scores); }

// Query, value and key as [N, T, D]; kernels are [D, heads, size], the last one [heads, size, D].
ValueId import_multi_head_attention(Call& call) {
  std::vector<ValueId> inputs = call.tensors(0, {"query"});
  for (const std::vector<ValueId>& more : {call.tensors(1, {"value"}), call.tensors(2, {"key"})})
    inputs.insert(inputs.end(), more.begin(), more.end());
  if (inputs.size() < 2 || inputs.size() > 3) call.refuse(inputs.size(), " inputs; query, value and key are read");
  const auto index = [&](const char* part, const char* old, const char* what, int64_t number) -> size_t {
    const auto& weights = call.layer().weights;
    for (size_t i = 0; i < weights.size(); ++i) {
      const std::string& role = weights[i].role;
      if (role == cat(old, "/", what) || role == cat(part, "/", number) || role == cat("_", part, "/", number))
        return i;
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
  const auto [mixed, shares] = mixed_heads(call, query, key, value);
  const ValueId rows = call.transpose(mixed, {0, 2, 1, 3});
  const ValueId flat = call.emit("Reshape", {rows, call.list({0, 0, call.shape(query)[1] * call.shape(value)[3]})});
  if (flag_argument(call, 99, "return_attention_scores")) call.add_output(shares);
  return projected(flat, "output_dense", "attention_output", true);
}

}  // namespace dnn::keras
