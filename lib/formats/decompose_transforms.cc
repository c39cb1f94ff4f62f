// Definitions of transforms and of attention, in products of matrices; see definitions.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "formats/definitions.h"

namespace dnn {
namespace {

constexpr int64_t kMostNumbers = int64_t{1} << 22;  // of a transform's matrix

// A DFT along one axis. Numbers have one part, or two that are real and imaginary.
struct Transform {
  int64_t values = 0, parts = 0, length = 0, bins = 0, out_parts = 2;
  bool inverse = false;
};

// One row for each part of each value, one column for each part of each bin.
Tensor matrix_of(const Transform& t, DType dtype) {
  const int64_t columns = t.bins * t.out_parts;
  std::vector<double> matrix(t.values * t.parts * columns, 0.0);
  const auto length = static_cast<double>(t.length);
  const bool half = t.inverse && t.out_parts == 1;
  const int64_t used = std::min(t.values, half ? t.length / 2 + 1 : t.length);
  for (int64_t k = 0; k < used; ++k) {
    const bool mirrored = half && k > 0 && 2 * k != t.length;  // stands for its conjugate, too
    for (int64_t j = 0; j < t.bins; ++j) {
      const double angle = (t.inverse ? 2 : -2) * M_PI * static_cast<double>(j * k % t.length) / length;
      const double scale = (mirrored ? 2 : 1) / (t.inverse ? length : 1);
      for (int64_t part = 0; part < t.parts; ++part) {
        double* to = matrix.data() + (k * t.parts + part) * columns + j * t.out_parts;
        to[0] = scale * (part == 0 ? std::cos(angle) : half && !mirrored ? 0 : -std::sin(angle));
        if (t.out_parts == 2) to[1] = scale * (part == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  }
  return convert(Tensor::of<double>({t.values * t.parts, columns}, matrix), dtype);
}

// Extents for a Reshape, which may leave one open; none where more are.
std::optional<std::vector<int64_t>> reshaped_to(const std::vector<Dim>& dims) {
  std::vector<int64_t> extents;
  int64_t open = 0;
  for (const Dim& dim : dims) {
    extents.push_back(dim.fixed() ? dim.size : -1);
    open += dim.fixed() ? 0 : 1;
  }
  return open > 1 ? std::nullopt : std::optional(extents);
}

std::optional<int64_t> number_at(const Decomposition& s, size_t input, int64_t otherwise) {
  if (s.node().input(input) == kNoValue) return otherwise;
  const Tensor* known = s.constant(input);
  return known == nullptr || known->size() != 1 ? std::nullopt : std::optional(to_int64s(*known)[0]);
}

bool dft(Decomposition& s) {
  if (!s.has_rank() || s.rank() < 2) return false;
  const std::vector<Dim>& x = *s.type().shape;
  const bool inverse = int_attribute(s.node(), "inverse") != 0, onesided = int_attribute(s.node(), "onesided") != 0;
  std::optional<int64_t> axis = number_at(s, 2, -2);
  if (axis && *axis < 0) *axis += s.rank();
  if (!axis || *axis < 0 || *axis > s.rank() - 2 || !x[*axis].fixed() || !x.back().fixed()) return false;
  Transform t{x[*axis].size, x.back().size, 0, 0, inverse && onesided ? 1 : 2, inverse};
  const std::optional<int64_t> length = number_at(s, 1, inverse && onesided ? 2 * (t.values - 1) : t.values);
  if (!length || *length < 1) return false;
  t.length = *length;
  t.bins = onesided && !inverse ? t.length / 2 + 1 : t.length;
  if (t.values * t.parts > kMostNumbers / (t.bins * t.out_parts)) return false;
  std::vector<int64_t> forth, back(s.rank());  // the axis in front of the parts, and where it was
  for (int64_t d = 0; d + 1 < s.rank(); ++d) {
    if (d != *axis) forth.push_back(d);
  }
  forth.insert(forth.end(), {*axis, s.rank() - 1});
  for (int64_t d = 0; d < s.rank(); ++d) back[forth[d]] = d;
  std::vector<Dim> rows, bins;
  for (int64_t d = 0; d + 2 < s.rank(); ++d) rows.push_back(x[forth[d]]);
  bins = rows;
  rows.emplace_back(t.values * t.parts);
  bins.insert(bins.end(), {Dim(t.bins), Dim(t.out_parts)});
  const auto from = reshaped_to(rows), to = reshaped_to(bins);
  if (!from || !to) return false;
  const bool moves = *axis != s.rank() - 2;
  const ValueId first = moves ? s.emit("Transpose", {s.x()}, {{"perm", forth}}) : s.x();
  const ValueId flat = s.emit("Reshape", {first, s.list(*from)});
  const ValueId product = s.emit("MatMul", {flat, s.store("turns", matrix_of(t, s.type().dtype))});
  const std::vector<ValueId> shaped = {product, s.list(*to)};
  if (!moves) return s.end("Reshape", shaped), true;
  s.end("Transpose", {s.emit("Reshape", shaped)}, {{"perm", back}});
  return true;
}

// Blocks are the windows of a convolution by weights that each take one element: its gradient puts them back.
bool col2im(Decomposition& s) {
  const Tensor *image = s.constant(1), *block = s.constant(2);
  if (image == nullptr || block == nullptr || image->size() != 2 || block->size() != 2 || !s.has_rank() ||
      !(*s.type().shape)[1].fixed() || !is_float(s.type().dtype))
    return false;
  const std::vector<int64_t> size = to_int64s(*image), kernel = to_int64s(*block);
  const auto given = [&](const char* name, std::vector<int64_t> usual) {
    return s.node().attribute_ints(name, std::move(usual));
  };
  const std::vector<int64_t> strides = given("strides", {1, 1}), dilations = given("dilations", {1, 1}),
                             pads = given("pads", {0, 0, 0, 0});
  const int64_t taps = kernel[0] * kernel[1];
  std::vector<int64_t> places, rest;
  for (int64_t d = 0; d < 2; ++d) {
    const int64_t reach = dilations[d] * (kernel[d] - 1) + 1, whole = size[d] + pads[d] + pads[d + 2];
    if (whole < reach) return false;
    places.push_back((whole - reach) / strides[d] + 1);
    rest.push_back((whole - reach) % strides[d]);
  }
  Tensor weights(s.type().dtype, {taps, 1, kernel[0], kernel[1]});
  std::vector<double> ones(taps * taps, 0.0);
  for (int64_t i = 0; i < taps; ++i) ones[i * taps + i] = 1;
  weights = convert(Tensor::of<double>(weights.shape(), ones), weights.dtype());
  const ValueId columns = s.emit("Reshape", {s.x(), s.list({-1, taps, places[0], places[1]})});
  const Attributes attributes = {
      {"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"output_padding", rest}};
  const ValueId planes = s.emit("ConvTranspose", {columns, s.store("ones", weights)}, attributes);
  s.end("Reshape", {planes, s.list({-1, (*s.type().shape)[1].size / taps, size[0], size[1]})});
  return true;
}

// [B, H, S, D] of one of attention's operands.
struct Heads {
  ValueId value = kNoValue;
  int64_t heads = 0, length = 0, size = 0;
};

std::optional<Heads> heads_of(Decomposition& s, size_t input, const char* attribute) {
  const ValueId v = s.node().inputs[input];
  const auto& shape = s.type_of(v).shape;
  if (!shape || shape->size() < 3) return std::nullopt;
  for (size_t d = 1; d < shape->size(); ++d) {
    if (!(*shape)[d].fixed()) return std::nullopt;
  }
  if (shape->size() == 4) return Heads{v, (*shape)[1].size, (*shape)[2].size, (*shape)[3].size};
  const int64_t heads = int_attribute(s.node(), attribute), length = (*shape)[1].size;
  if (heads < 1) return std::nullopt;
  const int64_t size = (*shape)[2].size / heads;
  const ValueId apart = s.emit("Reshape", {v, s.list({-1, length, heads, size})});
  return Heads{s.emit("Transpose", {apart}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}), heads, length, size};
}

// The same key or value for each query head of its group.
void repeat_heads(Decomposition& s, int64_t heads, Heads* of) {
  if (of->heads == heads || of->heads == 0) return;
  std::vector<int64_t> which(heads);
  for (int64_t h = 0; h < heads; ++h) which[h] = h / (heads / of->heads);
  of->value =
      s.emit("Gather", {of->value, s.store("groups", Tensor::of<int64_t>({heads}, which))}, {{"axis", int64_t{1}}});
}

// Attention with nothing but a mask: no past, no window, no count of keys, and its scores are read by nobody.
bool is_plain_attention(const Decomposition& s) {
  const Node& node = s.node();
  const auto absent = [&](size_t i) { return node.input(i) == kNoValue; };
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) return false;
  }
  return absent(4) && absent(5) && absent(6) && int_attribute(node, "left_window_size") == -1 &&
         int_attribute(node, "right_window_size") == -1 && int_attribute(node, "softmax_precision") == 0 &&
         is_float(s.type().dtype) && dtype_size(s.type().dtype) >= 4;
}

// Where(visible, ...) before and behind the softmax: a query that may see no key gives zeros.
ValueId visible_keys(Decomposition& s, int64_t queries, int64_t keys) {
  ValueId visible = kNoValue;
  if (int_attribute(s.node(), "is_causal") != 0) {
    Tensor past(DType::Bool, {queries, keys});
    for (int64_t i = 0; i < queries * keys; ++i) past.mutable_data<bool>()[i] = i % keys <= i / keys;
    visible = s.store("past", past);
  }
  if (s.node().input(3) == kNoValue || s.dtype(3) != DType::Bool) return visible;
  const ValueId mask = s.node().inputs[3];
  return visible == kNoValue ? mask : s.emit("And", {mask, visible});
}

bool attention(Decomposition& s) {
  if (!is_plain_attention(s)) return false;
  const ValueId mask = s.node().input(3);
  std::optional<Heads> q = heads_of(s, 0, "q_num_heads"), k = heads_of(s, 1, "kv_num_heads"),
                       v = heads_of(s, 2, "kv_num_heads");
  if (!q || !k || !v || k->heads == 0) return false;
  if (mask != kNoValue) {  // columns that a mask lacks are hidden, not repeated
    const auto& shape = s.type_of(mask).shape;
    if (!shape || shape->empty() || !(shape->back() == Dim(k->length))) return false;
  }
  repeat_heads(s, q->heads, &*k);
  repeat_heads(s, q->heads, &*v);
  const double scale = s.node().has_attribute("scale") ? static_cast<double>(float_attribute(s.node(), "scale"))
                                                       : 1 / std::sqrt(static_cast<double>(q->size));
  if (scale < 0) return false;
  const ValueId root = s.number(std::sqrt(scale));
  const ValueId turned = s.emit("Transpose", {k->value}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  ValueId scores = s.emit("MatMul", {s.emit("Mul", {q->value, root}), s.emit("Mul", {turned, root})});
  if (const float cap = float_attribute(s.node(), "softcap"); cap > 0) {
    const ValueId most = s.number(static_cast<double>(cap));
    scores = s.emit("Mul", {s.emit("Tanh", {s.emit("Div", {scores, most})}), most});
  }
  const double infinite = std::numeric_limits<double>::infinity();
  const ValueId visible = visible_keys(s, q->length, k->length);
  if (mask != kNoValue && s.dtype(3) != DType::Bool) scores = s.emit("Add", {scores, mask});
  if (visible != kNoValue) scores = s.emit("Where", {visible, scores, s.number(-infinite)});
  ValueId shares = s.emit("Softmax", {scores}, {{"axis", int64_t{-1}}});
  if (mask != kNoValue) shares = s.emit("Where", {s.emit("Equal", {scores, s.number(-infinite)}), s.number(0), shares});
  if (s.rank() == 4) return s.end("MatMul", {shares, v->value}), true;
  const ValueId mixed = s.emit("MatMul", {shares, v->value});
  const ValueId beside = s.emit("Transpose", {mixed}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  s.end("Reshape", {beside, s.list({-1, q->length, q->heads * v->size})});
  return true;
}

}  // namespace

const std::vector<Definition>& transform_definitions() {
  static const std::vector<Definition> all = {{"Attention", attention}, {"Col2Im", col2im}, {"DFT", dft}};
  return all;
}

}  // namespace dnn
