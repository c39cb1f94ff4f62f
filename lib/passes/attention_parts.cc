// Finding attention; see attention_parts.h.
#include "passes/attention_parts.h"

#include "layout/views.h"
#include "passes/recognize.h"

namespace dnn {
namespace {

// Reads batch, heads, sequence and size off a view [batch, heads, length, size] or [batch * heads, length, size] of rows of `width`.
bool place(View view, const std::vector<int64_t>& from, HeadProjection* p, HeadExtents* e) {
  const int64_t width = from.back();
  const size_t rank = view.shape.size();
  e->size = view.shape[rank - 1];
  e->length = view.shape[rank - 2];
  if (rank == 3) {  // batch and heads in one axis: apart again
    if (view.shape[0] < 1) return false;
    const int64_t rows = element_count(from) / width;
    if (e->length < 1 || rows % e->length != 0) return false;
    e->batch = rows / e->length;
    if (e->batch < 1 || view.shape[0] % e->batch != 0) return false;
    e->heads = view.shape[0] / e->batch;
    if (!view.split(0, e->batch, e->heads)) return false;
  } else {
    e->batch = view.shape[0];
    e->heads = view.shape[1];
  }
  if (e->batch * e->length * width != element_count(from)) return false;
  const auto stride = [&](size_t axis, int64_t wanted) {
    return view.shape[axis] == 1 || view.strides[axis] == wanted;
  };
  if (!stride(3, 1) || view.offset >= width) return false;
  const bool batch_first = stride(2, width) && stride(0, e->length * width);
  p->sequence_first = !batch_first;
  if (!batch_first && !(stride(2, e->batch * width) && stride(0, width))) return false;
  const int64_t step = e->heads == 1 ? 0 : view.strides[1];
  if (view.offset + (e->heads - 1) * step + e->size > width || step < 0) return false;
  for (int64_t h = 0; h < e->heads; ++h) {
    for (int64_t i = 0; i < e->size; ++i) p->columns.push_back(view.offset + h * step + i);
  }
  return true;
}

// The heads' results, seen as a view of [batch, length, heads, size], or with the sequence first.
View heads_of(const HeadExtents& e, bool sequence_first) {
  View view(sequence_first ? std::vector<int64_t>{e.length, e.batch, e.heads, e.size}
                           : std::vector<int64_t>{e.batch, e.length, e.heads, e.size});
  if (sequence_first) view.swap(0, 1);
  view.swap(1, 2);
  return view;
}

class HeadFinder {
 public:
  HeadFinder(const Graph& graph, const Uses& uses, const Types& types)
      : graph_(graph), types_(types), r_(graph, uses) {}

  std::optional<AttentionParts> around(NodeId softmax) const {
    AttentionParts parts;
    parts.softmax = softmax;
    if (!find_products(&parts)) return std::nullopt;
    // [.., queries, size] x [.., size, keys] and [.., queries, keys] x [.., keys, value size]
    const std::vector<ValueId>&qk = graph_.node(parts.product).inputs, &wv = graph_.node(parts.mix).inputs;
    const size_t rank = shape(wv[0]).size();
    if (shape(qk[0]).size() != rank || shape(qk[1]).size() != rank || shape(wv[1]).size() != rank) return std::nullopt;
    const auto query = projection(qk[0], rank, false);
    const auto key = projection(qk[1], rank, true);
    const auto value = projection(wv[1], rank, false);
    if (!query || !key || !value) return std::nullopt;
    const HeadExtents &q = query->second, &k = key->second, &v = value->second;
    if (q.heads != k.heads || q.heads != v.heads || q.batch != k.batch || q.batch != v.batch || q.size != k.size ||
        k.length != v.length || value->first.scale != 1)
      return std::nullopt;
    parts.joined = join_heads(graph_.node(parts.mix).outputs[0], rank, {q.batch, q.heads, q.length, v.size});
    if (parts.joined.value == kNoValue) return std::nullopt;
    parts.scale *= query->first.scale * key->first.scale;
    if (!(parts.scale > 0)) return std::nullopt;
    parts.query = query->first;
    parts.key = key->first;
    parts.value = value->first;
    parts.heads = q.heads;
    parts.value_size = v.size;
    return parts;
  }

 private:
  // The MatMul on either side of a Softmax over the last axis, and the number between.
  bool find_products(AttentionParts* parts) const {
    const Node& node = graph_.node(parts->softmax);
    const ValueId weights = node.outputs[0];
    parts->mix = only_reader(graph_, r_.uses(), weights);
    const size_t rank = shape(weights).size();
    if (parts->mix < 0 || !is_op(graph_.node(parts->mix), "MatMul") || graph_.node(parts->mix).inputs[0] != weights ||
        rank < 3 || rank > 4)
      return false;
    const int64_t axis = node.attribute_int("axis", -1);
    if (axis != -1 && axis != static_cast<int64_t>(rank) - 1) return false;
    const Scaled scores = scaled(node.inputs[0]);
    parts->scale = scores.by;
    parts->product = r_.producer(scores.value);
    return parts->product >= 0 && is_op(graph_.node(parts->product), "MatMul") && types_known(parts->product) &&
           types_known(parts->mix);
  }

  struct Scaled {
    ValueId value = kNoValue;
    double by = 1;
  };

  // A value times a number, through Mul and Div by numbers.
  Scaled scaled(ValueId v) const {
    Scaled result{v, 1};
    for (int steps = 0; steps < 8; ++steps) {
      const NodeId id = r_.producer(result.value);
      if (id < 0) break;
      const Node& node = graph_.node(id);
      const bool mul = is_op(node, "Mul"), div = is_op(node, "Div");
      if (!mul && !div) break;
      size_t side = 2;
      for (size_t i : {1, 0}) {
        if (r_.number(node.inputs[i]) && (mul || i == 1)) side = i;
      }
      if (side == 2 || graph_.constant(node.inputs[1 - side]) != nullptr) break;
      const double number = *r_.number(node.inputs[side]);
      result.by = mul ? result.by * number : result.by / number;
      result.value = node.inputs[1 - side];
    }
    return result;
  }

  std::vector<int64_t> shape(ValueId v) const { return extents_of(types_, v); }

  bool types_known(NodeId id) const {
    const Node& node = graph_.node(id);
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return !shape(v).empty(); }) &&
           !shape(node.outputs[0]).empty();
  }

  // The value that `v` is a view of, the steps to it last first, and the number that it is times on the way.
  ValueId origin(ValueId v, std::vector<std::pair<NodeId, ValueId>>* path, double* scale) const {
    for (int steps = 0; steps < 32; ++steps) {
      const Scaled s = scaled(v);
      *scale *= s.by;
      v = s.value;
      const NodeId id = r_.producer(v);
      if (id < 0 || !View::moves(graph_, graph_.node(id)) || graph_.constant(graph_.node(id).inputs[0]) != nullptr)
        break;
      path->emplace_back(id, v);
      v = graph_.node(id).inputs[0];
    }
    return v;
  }

  std::optional<std::pair<HeadProjection, HeadExtents>> projection(ValueId v, size_t rank, bool transposed) const {
    std::pair<HeadProjection, HeadExtents> result;
    HeadProjection& p = result.first;
    std::vector<std::pair<NodeId, ValueId>> path;
    const ValueId from = origin(v, &path, &p.scale);
    if (!dense(from, &p) || shape(from).size() < 2 || shape(from).size() > 3) return std::nullopt;
    View view(shape(from));
    for (size_t i = path.size(); i-- > 0;) {
      if (!view.apply(graph_, graph_.node(path[i].first), path[i].second, types_)) return std::nullopt;
    }
    if (view.shape.size() != rank) return std::nullopt;
    if (transposed) view.swap(rank - 2, rank - 1);
    return place(view, shape(from), &p, &result.second) ? std::optional(result) : std::nullopt;
  }

  // MatMul by a constant matrix with or without a row that is added, or Gemm.
  bool dense(ValueId v, HeadProjection* p) const {
    const NodeId id = r_.producer(v);
    if (id < 0) return false;
    const Node* node = &graph_.node(id);
    if (is_op(*node, "Add")) {
      for (size_t i : {1, 0}) {
        const Tensor* row = graph_.constant(node->inputs[i]);
        if (row != nullptr && row->size() == shape(v).back() && row->shape().back() == row->size())
          p->bias = node->inputs[i];
        if (p->bias != kNoValue) {
          const NodeId maker = r_.producer(node->inputs[1 - i]);
          if (maker < 0) return false;
          node = &graph_.node(maker);
          break;
        }
      }
      if (!is_op(*node, "MatMul")) return false;
    }
    const Tensor* weight = graph_.constant(node->input(1));
    if (weight == nullptr || weight->rank() != 2) return false;
    p->x = node->inputs[0];
    p->weight = node->inputs[1];
    if (is_op(*node, "MatMul")) return true;
    if (!is_op(*node, "Gemm") || node->attribute_int("transA", 0) != 0 || node->attribute_float("alpha", 1) != 1 ||
        node->attribute_float("beta", 1) != 1)
      return false;
    p->turned = node->attribute_int("transB", 0) != 0;
    if (node->input(2) == kNoValue) return true;
    const Tensor* row = graph_.constant(node->inputs[2]);
    p->bias = node->inputs[2];
    return row != nullptr && row->size() == shape(v).back() && row->shape().back() == row->size();
  }

  JoinedHeads join_heads(ValueId v, size_t rank, const HeadExtents& e) const {
    JoinedHeads result = join_heads(v, rank, e, false);
    return result.value == kNoValue ? join_heads(v, rank, e, true) : result;
  }

  JoinedHeads join_heads(ValueId v, size_t rank, const HeadExtents& e, bool sequence_first) const {
    View view = heads_of(e, sequence_first);
    JoinedHeads result;
    result.value = v;
    if (rank == 3 && !view.merge(0)) {  // the next step must take batch and heads apart
      const NodeId next = only_reader(graph_, r_.uses(), v);
      if (next < 0 || !is_op(graph_.node(next), "Reshape")) return {};
      result.value = graph_.node(next).outputs[0];
      if (shape(result.value) != std::vector<int64_t>{e.batch, e.heads, e.length, e.size}) return {};
      result.nodes.push_back(next);
      view = heads_of(e, sequence_first);
    }
    return walk(std::move(view), std::move(result), e, sequence_first);
  }

  JoinedHeads walk(View view, JoinedHeads result, const HeadExtents& e, bool sequence_first) const {
    const int64_t row = e.heads * e.size;
    for (int steps = 0; steps < 8; ++steps) {
      const size_t rank = view.shape.size();
      if (rank >= 2 && rank <= 3 && view.shape.back() == row && view.strides.back() == 1 && view.offset == 0) {
        result.sequence_first = sequence_first;
        if (rank == 2) return view.contiguous() ? result : JoinedHeads();
        const int64_t batch_stride = sequence_first ? row : e.length * row,
                      length_stride = sequence_first ? e.batch * row : row;
        const auto rows = [&](int64_t outer, int64_t outer_stride, int64_t inner, int64_t inner_stride) {
          return view.shape[0] == outer && view.shape[1] == inner && (outer == 1 || view.strides[0] == outer_stride) &&
                 (inner == 1 || view.strides[1] == inner_stride);
        };
        result.sequence_first = !rows(e.batch, batch_stride, e.length, length_stride);
        return !result.sequence_first || rows(e.length, length_stride, e.batch, batch_stride) ? result : JoinedHeads();
      }
      const NodeId next = only_reader(graph_, r_.uses(), result.value);
      if (next < 0 || !View::moves(graph_, graph_.node(next)) || graph_.node(next).inputs[0] != result.value) return {};
      const ValueId y = graph_.node(next).outputs[0];
      if (!view.apply(graph_, graph_.node(next), y, types_)) return {};
      result.value = y;
      result.nodes.push_back(next);
    }
    return {};
  }

  const Graph& graph_;
  const Types& types_;
  Recognizer r_;
};

}  // namespace

std::vector<int64_t> extents_of(const Types& types, ValueId v) {
  const Type& type = types[v];
  if (!type.fixed()) return {};
  return type.fixed_shape();
}

std::optional<AttentionParts> find_attention(const Graph& graph, const Uses& uses, const Types& types, NodeId softmax) {
  return HeadFinder(graph, uses, types).around(softmax);
}

}  // namespace dnn
