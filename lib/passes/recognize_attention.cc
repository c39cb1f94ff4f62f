// recognize-attention: the heads of scaled dot-product attention that a model splits, mixes and joins become one Attention of [batch,
// sequence, features], and the dense layer that made queries, keys and values at once becomes three.
#include "layout/settle.h"
#include "layout/trial.h"
#include "layout/views.h"
#include "ops/movement.h"
#include "passes/recognize.h"

namespace dnn {
namespace {

// The dense layer behind a queries', keys' or values' view: rows of `x`, times columns of a matrix, plus a row.
struct Projection {
  ValueId x = kNoValue, weight = kNoValue, bias = kNoValue;
  bool turned = false;           // the matrix is [out, in]
  std::vector<int64_t> columns;  // of the matrix, in the order of heads and places in them
  bool sequence_first = false;   // x is [sequence, batch, features]
  double scale = 1;
};

struct Extents {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
};

class Finder {
 public:
  Finder(const Graph& graph, const Uses& uses, const Types& types) : graph_(graph), types_(types), r_(graph, uses) {}

  // The attention around a Softmax.
  std::optional<Patch> around(NodeId softmax) {
    const Node& node = graph_.node(softmax);
    const ValueId weights = node.outputs[0];
    const NodeId next = only_reader(graph_, r_.uses(), weights);
    const size_t rank = shape(weights).size();
    if (next < 0 || !is_op(graph_.node(next), "MatMul") || graph_.node(next).inputs[0] != weights || rank < 3 ||
        rank > 4)
      return std::nullopt;
    const int64_t axis = node.attribute_int("axis", -1);
    if (axis != -1 && axis != static_cast<int64_t>(rank) - 1) return std::nullopt;
    const Scaled scores = scaled(node.inputs[0]);
    const NodeId product = r_.producer(scores.value);
    if (product < 0 || !is_op(graph_.node(product), "MatMul") || !types_known(product) || !types_known(next))
      return std::nullopt;
    // [.., queries, size] x [.., size, keys] and [.., queries, keys] x [.., keys, value size]
    const std::vector<int64_t> q = shape(graph_.node(product).inputs[0]), k = shape(graph_.node(product).inputs[1]),
                               v = shape(graph_.node(next).inputs[1]);
    if (q.size() != rank || k.size() != rank || v.size() != rank) return std::nullopt;
    const auto query = projection(graph_.node(product).inputs[0], rank, false);
    const auto key = projection(graph_.node(product).inputs[1], rank, true);
    const auto value = projection(graph_.node(next).inputs[1], rank, false);
    if (!query || !key || !value) return std::nullopt;
    const Extents &qe = query->second, &ke = key->second, &ve = value->second;
    if (qe.heads != ke.heads || qe.heads != ve.heads || qe.batch != ke.batch || qe.batch != ve.batch ||
        qe.size != ke.size || ke.length != ve.length || value->first.scale != 1)
      return std::nullopt;
    const Joined joined = join_heads(graph_.node(next).outputs[0], rank, {qe.batch, qe.heads, qe.length, ve.size});
    if (joined.value == kNoValue) return std::nullopt;
    const double scale = scores.by * query->first.scale * key->first.scale;
    if (!(scale > 0)) return std::nullopt;

    Patch patch(graph_, node.label() + " and what splits and joins its heads are Attention");
    const NodeId end = joined.nodes.empty() ? next : joined.nodes.back();
    const std::string name = node.name.empty() ? graph_.value(weights).name : node.name;
    Node attention;
    attention.op = "Attention";
    attention.name = name;
    attention.attributes = {
        {"q_num_heads", qe.heads}, {"kv_num_heads", qe.heads}, {"scale", static_cast<float>(scale)}};
    attention.inputs = {projected(patch, query->first, name + "/query"), projected(patch, key->first, name + "/key"),
                        projected(patch, value->first, name + "/value")};
    if (std::count(attention.inputs.begin(), attention.inputs.end(), kNoValue) != 0) return std::nullopt;
    for (NodeId id : {softmax, product, next}) attention.sources.push_back(graph_.node(id).name);
    finish(patch, std::move(attention), joined, qe.heads * ve.size);
    patch.remove_node(softmax);
    patch.remove_node(next);
    for (NodeId id : joined.nodes) patch.remove_node(id);
    patch.place_at(end);
    return patch;
  }

 private:
  struct Scaled {
    ValueId value = kNoValue;
    double by = 1;
  };

  // What a value is times a number, through Mul and Div by numbers.
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

  std::vector<int64_t> shape(ValueId v) const {
    const Type& type = types_[v];
    std::vector<int64_t> result;
    if (!type.fixed()) return result;
    return type.fixed_shape();
  }

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

  std::optional<std::pair<Projection, Extents>> projection(ValueId v, size_t rank, bool transposed) const {
    std::pair<Projection, Extents> result;
    Projection& p = result.first;
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
  bool dense(ValueId v, Projection* p) const {
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

  // Reads batch, heads, sequence and size off a view [batch, heads, length, size] or [batch * heads, length, size] of rows of `width`.
  static bool place(View view, const std::vector<int64_t>& from, Projection* p, Extents* e) {
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

  // Where the heads stand beside each other again: a view of [batch, length, heads, size] whose last axis is all of a row.
  struct Joined {
    ValueId value = kNoValue;
    std::vector<NodeId> nodes;
    bool sequence_first = false;
  };

  Joined join_heads(ValueId v, size_t rank, const Extents& e) const {
    Joined result = join_heads(v, rank, e, false);
    return result.value == kNoValue ? join_heads(v, rank, e, true) : result;
  }

  // What the heads give, seen as a view of [batch, length, heads, size], or with the sequence first.
  static View heads_of(const Extents& e, bool sequence_first) {
    View view(sequence_first ? std::vector<int64_t>{e.length, e.batch, e.heads, e.size}
                             : std::vector<int64_t>{e.batch, e.length, e.heads, e.size});
    if (sequence_first) view.swap(0, 1);
    view.swap(1, 2);
    return view;
  }

  Joined join_heads(ValueId v, size_t rank, const Extents& e, bool sequence_first) const {
    View view = heads_of(e, sequence_first);
    Joined result;
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

  Joined walk(View view, Joined result, const Extents& e, bool sequence_first) const {
    const int64_t row = e.heads * e.size;
    for (int steps = 0; steps < 8; ++steps) {
      const size_t rank = view.shape.size();
      if (rank >= 2 && rank <= 3 && view.shape.back() == row && view.strides.back() == 1 && view.offset == 0) {
        result.sequence_first = sequence_first;
        if (rank == 2) return view.contiguous() ? result : Joined();
        const int64_t batch_stride = sequence_first ? row : e.length * row,
                      length_stride = sequence_first ? e.batch * row : row;
        const auto rows = [&](int64_t outer, int64_t outer_stride, int64_t inner, int64_t inner_stride) {
          return view.shape[0] == outer && view.shape[1] == inner && (outer == 1 || view.strides[0] == outer_stride) &&
                 (inner == 1 || view.strides[1] == inner_stride);
        };
        result.sequence_first = !rows(e.batch, batch_stride, e.length, length_stride);
        return !result.sequence_first || rows(e.length, length_stride, e.batch, batch_stride) ? result : Joined();
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

  static ValueId step(Patch& patch, const std::string& op, std::vector<ValueId> inputs, const std::string& name,
                      const std::string& value, Attributes attributes = {}) {
    Node node;
    node.op = op;
    node.name = name;
    node.inputs = std::move(inputs);
    const ValueId y = patch.add_value(value, {});
    node.outputs = {y};
    node.attributes = std::move(attributes);
    patch.add_node(std::move(node));
    return y;
  }

  // Columns of a matrix [in, out], or entries of a row, in that order; the constant itself where that is all of it.
  static Tensor chosen(const Tensor& tensor, const std::vector<int64_t>& columns) {
    Shape to = tensor.shape();
    to.back() = static_cast<int64_t>(columns.size());
    const std::vector<int64_t> stride = row_major_strides(tensor.shape());
    const size_t last = tensor.shape().size() - 1;
    return pick(tensor, to, [&](size_t axis, int64_t i) { return (axis == last ? columns[i] : i) * stride[axis]; });
  }

  // The dense layer of [batch, sequence, features] for queries, keys or values alone.
  ValueId projected(Patch& patch, const Projection& p, const std::string& name) {
    ValueId x = p.x;
    const auto known = shape(x);
    if (p.sequence_first)
      x = step(patch, "Transpose", {x}, name + "/batch", name + "/batch", {{"perm", std::vector<int64_t>{1, 0, 2}}});
    if (known.size() == 2) {
      const NodeId maker = r_.producer(x);
      const ValueId before =
          maker >= 0 && is_op(graph_.node(maker), "Reshape") ? graph_.node(maker).inputs[0] : kNoValue;
      if (before == kNoValue || shape(before).size() != 3 || shape(before).back() != known.back()) return kNoValue;
      x = before;
    }
    Tensor weight = *graph_.constant(p.weight);
    if (p.turned) weight = transposed(weight, {1, 0});
    const bool all = is_identity(p.columns, weight.dim(1));
    const ValueId matrix =
        all && !p.turned ? p.weight : patch.add_constant(part(p.weight, name), chosen(weight, p.columns));
    if (p.bias == kNoValue) return step(patch, "MatMul", {x, matrix}, name, name);
    const ValueId y = step(patch, "MatMul", {x, matrix}, name, name + "/MatMul");
    const Tensor row = graph_.constant(p.bias)->reshaped({weight.dim(1)});
    const bool same = all && graph_.constant(p.bias)->rank() == 1;
    return step(patch, "Add", {y, same ? p.bias : patch.add_constant(part(p.bias, name), chosen(row, p.columns))}, name,
                name);
  }

  // "qkv.weight" for the queries: "qkv.weight/query".
  std::string part(ValueId constant, const std::string& name) const {
    return graph_.value(constant).name + name.substr(name.rfind('/'));
  }

  static bool is_identity(const std::vector<int64_t>& columns, int64_t n) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] != static_cast<int64_t>(i)) return false;
    }
    return static_cast<int64_t>(columns.size()) == n;
  }

  // The Attention in place of what joined the heads, in the order and shape that was read of it.
  void finish(Patch& patch, Node attention, const Joined& joined, int64_t row) {
    const size_t rank = shape(joined.value).size();
    if (rank == 3 && !joined.sequence_first) {
      attention.outputs = {joined.value};
      return patch.add_node(std::move(attention));
    }
    const std::string name = attention.name;
    const auto turned = [](Node node, ValueId from, ValueId to) {
      node.op = "Transpose";
      node.inputs = {from};
      node.outputs = {to};
      node.attributes["perm"] = std::vector<int64_t>{1, 0, 2};
      return node;
    };
    ValueId made = patch.add_value(name, {});
    attention.outputs = {made};
    patch.add_node(std::move(attention));
    Node last;
    last.name = name + "/join";
    if (rank == 3) return patch.add_node(turned(last, made, joined.value));
    if (joined.sequence_first) {
      const ValueId sequence = patch.add_value(name + "/sequence", {});
      patch.add_node(turned(last, made, sequence));
      made = sequence;
    }
    last.op = "Reshape";
    last.inputs = {made, patch.add_constant(name + "/rows", Tensor::of<int64_t>({2}, {-1, row}))};
    last.outputs = {joined.value};
    patch.add_node(std::move(last));
  }

  const Graph& graph_;
  const Types& types_;
  Recognizer r_;
};

}  // namespace

std::vector<Patch> recognize_attention(const Graph& graph, const PassContext&) {
  std::vector<NodeId> softmaxes;
  for (NodeId id : graph.order()) {
    if (is_op(graph.node(id), "Softmax")) softmaxes.push_back(id);
  }
  std::vector<Patch> patches;
  if (softmaxes.empty()) return patches;
  const Uses uses(graph);
  const std::vector<Types> trials = trials_of(graph);
  for (NodeId id : softmaxes) {
    std::optional<Patch> found;
    for (const Types& types : trials) {
      found = Finder(graph, uses, types).around(id);
      if (!found) break;
    }
    if (found) patches.push_back(std::move(*found));
  }
  return patches;
}

}  // namespace dnn
