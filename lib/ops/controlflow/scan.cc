// Scan: a subgraph run over the slices of tensors along an axis, carrying states and stacking what it gives.
#include "ops/movement.h"
#include "ops/subgraph.h"

namespace dnn::scan_ops {
namespace {

// body: (N states, M slices) -> (N states, K values to stack)
struct Form {
  const Graph& body;
  size_t n_states = 0, n_scanned = 0, n_stacked = 0;
  std::vector<int64_t> input_axes, output_axes;
  std::vector<bool> input_reversed, output_reversed;

  explicit Form(const Node& node) : body(body_of(node, "body")) {
    const int64_t scanned = int_attribute(node, "num_scan_inputs");
    if (scanned < 1 || scanned > static_cast<int64_t>(node.inputs.size()))
      fail_malformed(node.label(), ": num_scan_inputs ", scanned, " of ", node.inputs.size(), " inputs");
    n_scanned = static_cast<size_t>(scanned);
    n_states = node.inputs.size() - n_scanned;
    if (body.inputs.size() != node.inputs.size() || body.outputs.size() < n_states ||
        node.outputs.size() > body.outputs.size()) {
      fail_malformed(node.label(), ": a body of ", body.inputs.size(), " inputs and ", body.outputs.size(),
                     " outputs for ", node.inputs.size(), " inputs and ", node.outputs.size(), " outputs");
    }
    n_stacked = body.outputs.size() - n_states;
    input_axes = list(node, "scan_input_axes", n_scanned);
    output_axes = list(node, "scan_output_axes", n_stacked);
    for (int64_t flag : list(node, "scan_input_directions", n_scanned)) input_reversed.push_back(flag != 0);
    for (int64_t flag : list(node, "scan_output_directions", n_stacked)) output_reversed.push_back(flag != 0);
  }

  static std::vector<int64_t> list(const Node& node, std::string_view key, size_t n) {
    std::vector<int64_t> values = ints_attribute(node, key, n);
    if (values.size() != n) fail_malformed(node.label(), ": ", values.size(), " ", key, ", ", n, " expected");
    return values;
  }
};

void infer(InferContext& context) {
  const Form form(context.node);
  std::vector<Type> states, slices;
  Dim length;
  for (size_t i = 0; i < form.n_states; ++i) states.push_back(context.input(i));
  for (size_t i = 0; i < form.n_scanned; ++i) {
    Type slice = context.input(form.n_states + i);
    if (slice.shape) {
      const int64_t axis = checked_axes(context.node, {form.input_axes[i]}, slice.shape->size())[0];
      const Dim dim = (*slice.shape)[axis];
      if (length.fixed() && dim.fixed() && length.size != dim.size)
        context.fail("scanned extents ", length.size, " and ", dim.size, " differ");
      if (!length.fixed() && (dim.fixed() || length.symbol.empty())) length = dim;
      slice.shape->erase(slice.shape->begin() + static_cast<std::ptrdiff_t>(axis));
    }
    slices.push_back(std::move(slice));
  }
  const std::vector<Type> outputs = iterate_types(context, form.body, {}, &states, slices, 0);
  for (size_t i = 0; i < form.n_states; ++i) context.set_output(i, states[i]);
  for (size_t i = 0; i < form.n_stacked; ++i) {
    Type type = outputs[form.n_states + i];
    if (type.shape) {
      const int64_t axis = checked_axes(context.node, {form.output_axes[i]}, type.shape->size() + 1)[0];
      type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(axis), length);
    }
    context.set_output(form.n_states + i, std::move(type));
  }
}

// Element t of x along `axis`, without that axis.
Tensor slice_of(const Tensor& x, size_t axis, int64_t t) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  if (shape.empty()) return take(x, shape, {t * stride[axis]});
  return pick(x, shape, [&](size_t i, int64_t index) {
    return index * stride[i < axis ? i : i + 1] + (i == 0 ? t * stride[axis] : 0);
  });
}

void reference(ReferenceContext& context) {
  const Form form(context.node);
  std::vector<Tensor> states;
  for (size_t i = 0; i < form.n_states; ++i) states.push_back(context.input(i));
  std::vector<size_t> axes;
  int64_t length = 0;
  for (size_t i = 0; i < form.n_scanned; ++i) {
    const Tensor& x = context.input(form.n_states + i);
    axes.push_back(checked_axes(context.node, {form.input_axes[i]}, x.shape().size())[0]);
    if (i > 0 && x.shape()[axes[i]] != length)
      context.fail("scanned extents ", length, " and ", x.shape()[axes[i]], " differ");
    length = x.shape()[axes[i]];
  }
  std::vector<std::vector<Tensor>> stacked(form.n_stacked);
  for (int64_t t = 0; t < length; ++t) {
    std::vector<Tensor> inputs = states;
    for (size_t i = 0; i < form.n_scanned; ++i) {
      inputs.push_back(
          slice_of(context.input(form.n_states + i), axes[i], form.input_reversed[i] ? length - 1 - t : t));
    }
    std::vector<Tensor> outputs = context.run_graph(form.body, inputs);
    for (size_t i = 0; i < form.n_states; ++i) states[i] = std::move(outputs[i]);
    for (size_t i = 0; i < form.n_stacked; ++i) stacked[i].push_back(std::move(outputs[form.n_states + i]));
  }
  std::vector<Type> types(form.body.outputs.size());
  if (form.n_stacked > 0 && length == 0) {
    std::vector<Type> inputs;
    for (const Tensor& state : states) inputs.emplace_back(state);
    for (size_t i = 0; i < form.n_scanned; ++i) {
      Type slice(context.input(form.n_states + i));
      slice.shape->erase(slice.shape->begin() + static_cast<std::ptrdiff_t>(axes[i]));
      inputs.push_back(std::move(slice));
    }
    types = output_types(form.body, inputs);
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (i < form.n_states) {
      context.outputs[i] = states[i];
    } else {
      const size_t k = i - form.n_states;
      context.outputs[i] = stack(context.node, stacked[k], form.output_axes[k], form.output_reversed[k], types[i]);
    }
  }
}

}  // namespace

OpDef define_Scan() {
  OpDef op;
  op.name = "Scan";
  op.since = 25;
  op.max_inputs = op.max_outputs = -1;
  op.traits = kNoTraits;
  op.attributes = {{"body", required(AttributeType::Graph), "graph of one iteration"},
                   {"num_scan_inputs", required(AttributeType::Int), "inputs that are scanned"},
                   {"scan_input_axes", per_axis(0), "axis of each scanned input"},
                   {"scan_input_directions", per_axis(0), "1: from the last"},
                   {"scan_output_axes", per_axis(0), "axis of each stacked output"},
                   {"scan_output_directions", per_axis(0), "1: from the last"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::scan_ops
