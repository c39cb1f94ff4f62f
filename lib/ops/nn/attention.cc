// Attention: scaled dot-product attention with heads in groups, masks, windows, caches, soft cap.
//
// Steps, each rounded to the tensors' type as in the operator's ONNX function body (float32 and float64: each operation
// as usual): q * r and k * r with r = sqrt(scale); their product, summed over the head from 0 on; softcap * tanh(x /
// softcap); + bias; softmax (in softmax_precision); the product with v, summed over the keys from 0 on. A query that may
// see no key gives zeros.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elementwise.h"
#include "ops/multiply.h"
#include "ops/outputs.h"
#include "ops/quantization.h"

namespace dnn::attention_ops {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };

// q: [B, Hq, Sq, D] or [B, Sq, Hq * D]; k: [B, Hkv, Sk, D] or [B, Sk, Hkv * D]; v alike with Dv.
// mask: broadcasts to [B, Hq, Sq, P + Sk]; past key and value: [B, Hkv, P, D or Dv]; valid keys: [B]
struct Heads {
  Dim batch, heads, length, size;
};

Heads heads_of(const InferContext& context, size_t i, const char* attribute) {
  const auto& dims = context.shape(i);
  const int64_t heads = int_attribute(context.node, attribute);
  if (dims.size() == 4) {
    if (heads != 0 && dims[1].fixed() && dims[1].size != heads)
      context.fail(attribute, " ", heads, " for input ", i, " of ", context.input(i).text());
    return {dims[0], dims[1], dims[2], dims[3]};
  }
  if (dims.size() != 3) context.fail("input ", i, " is ", context.input(i).text(), ", three or four axes expected");
  if (heads < 1) context.fail("inputs of three axes need ", attribute);
  Dim size;
  if (dims[2].fixed()) {
    if (dims[2].size % heads != 0) context.fail(attribute, " ", heads, " does not divide ", context.input(i).text());
    size = dims[2].size / heads;
  }
  return {dims[0], Dim(heads), dims[1], size};
}

void agree(const InferContext& context, const Dim& a, const Dim& b, const char* what) {
  if (a.fixed() && b.fixed() && a.size != b.size)
    context.fail("inputs disagree in ", what, ": ", a.size, " and ", b.size);
}

// What the first dims (batch, heads, length) of a past are, checked.
Dim past_length(const InferContext& context, size_t i, const Heads& current) {
  if (!context.has_input(i)) return Dim(0);
  if (!context.has_shape(i)) return {};
  const auto& dims = context.shape(i, 4);
  agree(context, dims[0], current.batch, "batch");
  agree(context, dims[1], current.heads, "heads of the past");
  agree(context, dims[3], current.size, "head size of the past");
  return dims[2];
}

void check_mask(const InferContext& context, const std::vector<Dim>& full) {
  const auto& mask = context.shape(kMask);
  bool fits = mask.size() <= 4 && !mask.empty();
  for (size_t i = 0; fits && i + 1 < mask.size(); ++i) {
    const Dim& to = full[4 - mask.size() + i];
    fits = !mask[i].fixed() || mask[i].size == 1 || !to.fixed() || mask[i].size == to.size;
  }
  if (fits && mask.back().fixed() && full[3].fixed()) fits = mask.back().size <= full[3].size;
  if (!fits) context.fail("mask ", context.input(kMask).text(), " does not fit ", Type(DType::Undefined, full).text());
}

void infer(InferContext& context) {
  const DType dtype = context.input(kQuery).dtype;
  for (size_t i : {kQuery, kKey, kValue, kPastKey, kPastValue}) {
    expect_float(context, i);
    if (context.has_input(i) && context.input(i).dtype != dtype && context.input(i).dtype != DType::Undefined &&
        dtype != DType::Undefined)
      fail_unsupported(context.node.label(), ": Attention of ", dtype_name(dtype), " and ",
                       dtype_name(context.input(i).dtype), " tensors together");
  }
  if (context.has_input(kPastKey) != context.has_input(kPastValue))
    context.fail("past key and past value come together");
  if (context.has_input(kPastKey) && context.has_input(kValidKeys))
    context.fail("a past and a count of valid keys do not go together");
  expect_dtype(context, kValidKeys, DType::Int64);
  for (size_t i = 0; i < 4; ++i) context.set_output(i, Type());
  Type type;
  type.dtype = dtype;
  for (size_t i = 0; i < 4; ++i) context.set_output(i, type);
  if (!context.has_shape(kQuery) || !context.has_shape(kKey) || !context.has_shape(kValue)) return;
  const size_t rank = context.shape(kQuery).size();
  if (context.shape(kKey).size() != rank || context.shape(kValue).size() != rank)
    context.fail("query, key and value differ in rank");
  const Heads q = heads_of(context, kQuery, "q_num_heads"), k = heads_of(context, kKey, "kv_num_heads"),
              v = heads_of(context, kValue, "kv_num_heads");
  agree(context, q.batch, k.batch, "batch");
  agree(context, q.batch, v.batch, "batch");
  agree(context, k.heads, v.heads, "key and value heads");
  agree(context, k.length, v.length, "key and value length");
  agree(context, q.size, k.size, "head size");
  if (q.heads.fixed() && k.heads.fixed() && (k.heads.size == 0 ? q.heads.size != 0 : q.heads.size % k.heads.size != 0))
    context.fail(q.heads.size, " query heads do not divide among ", k.heads.size, " key heads");
  const Dim past = past_length(context, kPastKey, k);
  agree(context, past, past_length(context, kPastValue, v), "length of the past");
  const Dim total = past.fixed() && k.length.fixed() ? Dim(past.size + k.length.size) : Dim();
  if (context.has_shape(kMask)) check_mask(context, {q.batch, q.heads, q.length, total});
  if (context.has_shape(kValidKeys)) agree(context, context.shape(kValidKeys, 1)[0], q.batch, "batch");
  if (rank == 4) {
    type.shape = {q.batch, q.heads, q.length, v.size};
  } else {
    const bool fixed = q.heads.fixed() && v.size.fixed();
    type.shape = {q.batch, q.length, fixed ? Dim(element_count({q.heads.size, v.size.size})) : Dim()};
  }
  context.set_output(0, type);
  type.shape = {k.batch, k.heads, total, k.size};
  context.set_output(1, type);
  type.shape = {v.batch, v.heads, total, v.size};
  context.set_output(2, type);
  type.shape = {q.batch, q.heads, q.length, total};
  context.set_output(3, type);
}

// A tensor [B, S, H * D] as [B, H, S, D]; one of four axes as it is.
template <class T>
Tensor by_head(const Tensor& tensor, const Shape& shape) {
  if (tensor.rank() == 4) return tensor;
  Tensor result(tensor.dtype(), shape);
  T* out = result.mutable_data<T>();
  const int64_t heads = shape[1], length = shape[2], size = shape[3];
  for (int64_t b = 0; b < shape[0]; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t s = 0; s < length; ++s, out += size)
        std::copy_n(tensor.data<T>() + ((b * length + s) * heads + h) * size, size, out);
    }
  }
  return result;
}

// The past and the current along axis 2.
template <class T>
Tensor appended(const Tensor* past, const Tensor& current) {
  if (past == nullptr) return current;
  Shape shape = current.shape();
  shape[2] += past->dim(2);
  Tensor result(current.dtype(), shape);
  T* out = result.mutable_data<T>();
  const int64_t old_run = past->dim(2) * shape[3], new_run = current.dim(2) * shape[3];
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
    out = std::copy_n(past->data<T>() + i * old_run, old_run, out);
    out = std::copy_n(current.data<T>() + i * new_run, new_run, out);
  }
  return result;
}

template <class T>
struct Kernel {
  using C = Compute<T>;
  static C rounded(C value) { return widen(narrow<T>(value)); }

  explicit Kernel(ReferenceContext& c) : context(c), node(c.node), types(infer_outputs(c, infer)) {
    const Shape scores_shape = types[3].fixed_shape(), key_shape = types[1].fixed_shape(),
                value_shape = types[2].fixed_shape();
    batch = scores_shape[0], heads = scores_shape[1], queries = scores_shape[2], keys = scores_shape[3];
    kv_heads = key_shape[1], size = key_shape[3], value_size = value_shape[3];
    const int64_t past = c.has_input(kPastKey) ? c.input(kPastKey).dim(2) : 0;
    query = by_head<T>(c.input(kQuery), {batch, heads, queries, size});
    key = appended<T>(past_of(kPastKey), by_head<T>(c.input(kKey), {batch, kv_heads, keys - past, size}));
    value = appended<T>(past_of(kPastValue), by_head<T>(c.input(kValue), {batch, kv_heads, keys - past, value_size}));
    offset = past;
    softcap = static_cast<C>(float_attribute(node, "softcap"));
    mode = int_attribute(node, "qk_matmul_output_mode");
    if (mode < 0 || mode > 3) c.fail("qk_matmul_output_mode ", mode, " is not 0, 1, 2 or 3");
    causal = flag_attribute(node, "is_causal");
    left = int_attribute(node, "left_window_size"), right = int_attribute(node, "right_window_size");
    if (left < -1 || right < -1) c.fail("window sizes ", left, ", ", right, " must be at least -1");
    const int64_t code = int_attribute(node, "softmax_precision");
    precision = code == 0 ? kDTypeOf<T> : dtype_from_onnx(code);
    round_to(precision, 0);  // refuses other types
    const C scale = node.has_attribute("scale") ? static_cast<C>(float_attribute(node, "scale"))
                                                : C(1) / std::sqrt(static_cast<C>(size));
    root = rounded(std::sqrt(scale));
    prepare_mask();
  }

  const Tensor* past_of(size_t i) const { return context.has_input(i) ? context.inputs[i] : nullptr; }

  void prepare_mask() {
    if (!context.has_input(kMask)) return;
    const Tensor& tensor = context.input(kMask);
    if (tensor.dtype() != DType::Bool && !(is_float(tensor.dtype()) && dtype_size(tensor.dtype()) > 1))
      fail_unsupported(node.label(), ": a mask of ", dtype_name(tensor.dtype()));
    mask_columns = tensor.shape().back();
    const Tensor wide = convert(tensor, kDTypeOf<T>);
    for (const T& element : wide.template values<T>()) {
      const C number = widen(element);
      mask.push_back(tensor.dtype() != DType::Bool ? number : number != 0 ? C(0) : -kInfinity);
    }
    Shape full = {batch, heads, queries, mask_columns};
    mask_offsets = broadcast_offsets(full, {tensor.shape()})[0];
  }

  // The additive bias of one query row; false when it hides every key.
  bool fill_bias(int64_t b, int64_t h, int64_t i, std::vector<C>& bias) const {
    const int64_t valid = context.has_input(kValidKeys) ? context.input(kValidKeys).template data<int64_t>()[b] : keys;
    const int64_t first = context.has_input(kValidKeys) ? std::max(valid, -kFar) - queries : offset;
    bool any = false;
    for (int64_t j = 0; j < keys; ++j) {
      const int64_t ahead = j - (std::min(first, kFar) + i);  // how far the key lies after the query
      const bool hidden =
          (causal && ahead > 0) || (left >= 0 && -ahead > left) || (right >= 0 && ahead > right) || j >= valid;
      C number = 0;
      if (!mask.empty() || mask_columns == 0) {
        const int64_t row = (b * heads + h) * queries + i;
        number = j >= mask_columns ? -kInfinity : mask[mask_offsets[row * mask_columns + j]];
      }
      if (hidden) number += -kInfinity;
      bias[j] = number;
      any = any || number != -kInfinity;
    }
    return any;
  }

  template <class S>
  void softmax(const C* logits, C* out) const {
    const auto step = [&](S x) { return precision == kDTypeOf<S> ? x : static_cast<S>(round_to(precision, x)); };
    S best = -std::numeric_limits<S>::infinity();
    for (int64_t j = 0; j < keys; ++j) best = best > S(logits[j]) ? best : step(static_cast<S>(logits[j]));
    if (best == -std::numeric_limits<S>::infinity()) return std::fill_n(out, keys, C(0)), void();
    std::vector<S> powers;
    S sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      powers.push_back(step(std::exp(step(step(static_cast<S>(logits[j])) - best))));
      sum += powers.back();
    }
    sum = step(sum);
    for (int64_t j = 0; j < keys; ++j) out[j] = rounded(static_cast<C>(step(powers[j] / sum)));
  }

  void run() {
    const bool wants_scores = context.wants_output(3);
    Tensor y(kDTypeOf<T>, {batch, heads, queries, value_size}),
        scores(kDTypeOf<T>, {batch, heads, queries, wants_scores ? keys : 0});
    T *out = y.mutable_data<T>(), *shown = scores.mutable_data<T>();
    std::vector<C> q(queries * size), k(keys * size);
    std::vector<C> logits(queries * keys), bias(keys);
    const auto scaled = [&](const T* from, std::vector<C>& to) {
      for (size_t i = 0; i < to.size(); ++i) to[i] = rounded(widen(from[i]) * root);
    };
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t group = b * kv_heads + h / (heads / kv_heads);
        scaled(query.data<T>() + (b * heads + h) * queries * size, q);
        scaled(key.data<T>() + group * keys * size, k);
        const MatrixView<C> left_view{q.data(), size, 1}, right_view{k.data(), size, 1};
        multiply<C>(context.pool, queries, keys, size, left_view, right_view.transposed(),
                    [&](int64_t i, int64_t j, C sum) { logits[i * keys + j] = rounded(sum); });
        for (int64_t i = 0; i < queries; ++i) {
          C* row = logits.data() + i * keys;
          const auto show = [&](int64_t when) {
            if (!wants_scores || mode != when) return;
            T* to = shown + ((b * heads + h) * queries + i) * keys;
            for (int64_t j = 0; j < keys; ++j) to[j] = narrow<T>(row[j]);
          };
          show(0);
          if (softcap > 0) {
            for (int64_t j = 0; j < keys; ++j)
              row[j] = rounded(rounded(std::tanh(rounded(row[j] / softcap))) * softcap);
          }
          show(1);
          const bool any = fill_bias(b, h, i, bias);
          for (int64_t j = 0; j < keys; ++j) row[j] = rounded(row[j] + bias[j]);
          show(2);
          if (!any) {
            std::fill_n(row, keys, C(0));
          } else if (precision == DType::Float64) {
            softmax<double>(row, row);
          } else {
            softmax<float>(row, row);
          }
          show(3);
        }
        const MatrixView<C> weights{logits.data(), keys, 1};
        const MatrixView<T> values{value.data<T>() + group * keys * value_size, value_size, 1};
        T* to = out + (b * heads + h) * queries * value_size;
        multiply<C>(context.pool, queries, value_size, keys, weights, values,
                    [&](int64_t i, int64_t j, C sum) { to[i * value_size + j] = narrow<T>(sum); });
      }
    }
    context.outputs[0] = types[0].shape->size() == 4 ? y : joined_heads(y);
    if (context.wants_output(1)) context.outputs[1] = key;
    if (context.wants_output(2)) context.outputs[2] = value;
    if (wants_scores) context.outputs[3] = scores;
  }

  // [B, H, S, D] as [B, S, H * D].
  Tensor joined_heads(const Tensor& y) const {
    Tensor result(y.dtype(), types[0].fixed_shape());
    T* out = result.mutable_data<T>();
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < queries; ++i) {
        for (int64_t h = 0; h < heads; ++h)
          out = std::copy_n(y.data<T>() + ((b * heads + h) * queries + i) * value_size, value_size, out);
      }
    }
    return result;
  }

  static constexpr C kInfinity = std::numeric_limits<C>::infinity();
  static constexpr int64_t kFar = int64_t{1} << 60;
  ReferenceContext& context;
  const Node& node;
  std::vector<Type> types;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0, kv_heads = 0, size = 0, value_size = 0, offset = 0, mode = 0;
  int64_t left = -1, right = -1, mask_columns = -1;
  bool causal = false;
  C softcap = 0, root = 0;
  DType precision = DType::Float32;
  Tensor query, key, value;
  std::vector<C> mask;
  std::vector<int64_t> mask_offsets;
};

void reference(ReferenceContext& context) {
  if (context.outputs.size() < 4) context.outputs.resize(4);
  infer_outputs(context, infer);
  dispatch_float(context.input(kQuery).dtype(), [&](auto tag) { Kernel<typename decltype(tag)::type>(context).run(); });
  context.outputs.resize(context.node.outputs.size());
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const double keys =
      inputs[kKey].size() == 4 ? static_cast<double>(inputs[kKey][2]) : static_cast<double>(inputs[kKey][1]);
  return 2.0 * keys * static_cast<double>(element_count(inputs[kQuery]) + element_count(outputs[0]));
}

}  // namespace

OpDef define_Attention() {
  OpDef op;
  op.name = "Attention";
  op.since = 25;
  op.min_inputs = 3;
  op.max_inputs = 7;
  op.max_outputs = 4;
  op.traits = kNoTraits;
  op.attributes = {
      {"is_causal", 0, "no query sees a later key"},
      {"kv_num_heads", optional(AttributeType::Int), "heads of keys and values of rank 3"},
      {"left_window_size", -1, "keys before a query that it sees; -1: all"},
      {"q_num_heads", optional(AttributeType::Int), "heads of queries of rank 3"},
      {"qk_matmul_output_mode", 0, "which scores the fourth output holds"},
      {"right_window_size", -1, "keys after a query that it sees; -1: all"},
      {"scale", optional(AttributeType::Float), "factor of the scores; left out: 1 / sqrt(head size)"},
      {"softcap", 0.0F, "bound c of the scores, c tanh(x / c); 0: none"},
      {"softmax_precision", optional(AttributeType::Int), "dtype of the softmax; left out: the operands' own"}};
  op.infer = infer;
  op.reference = reference;
  op.flops = flops;
  return op;
}

}  // namespace dnn::attention_ops
