// Loop: a subgraph run again and again, up to a trip count and while a condition holds.
#include "ops/movement.h"
#include "ops/subgraph.h"

namespace dnn::loop_ops {
namespace {

// body: (iteration, condition, N states) -> (condition, N states, K values to stack)
struct Form {
  const Graph& body;
  size_t n_states, n_stacked;

  explicit Form(const Node& node) : body(body_of(node, "body")) {
    n_states = node.inputs.size() - 2;
    if (body.inputs.size() != n_states + 2 || body.outputs.size() < n_states + 1 ||
        node.outputs.size() > body.outputs.size() - 1) {
      fail_malformed(node.label(), ": a body of ", body.inputs.size(), " inputs and ", body.outputs.size(),
                     " outputs for ", node.inputs.size(), " inputs and ", node.outputs.size(), " outputs");
    }
    n_stacked = body.outputs.size() - 1 - n_states;
  }
};

void infer(InferContext& context) {
  const Form form(context.node);
  std::vector<Type> states;
  for (size_t i = 0; i < form.n_states; ++i) states.push_back(context.input(2 + i));
  const std::vector<Type> outputs =
      iterate_types(context, form.body, {Type(DType::Int64, {}), Type(DType::Bool, {})}, &states, {}, 1);
  for (size_t i = 0; i < form.n_states; ++i) context.set_output(i, states[i]);
  // A trip count without a condition says how many values are stacked.
  Dim length;
  if (const auto trips = known_ints(context, 0); trips && trips->size() == 1 && !context.has_input(1))
    length = Dim(std::max<int64_t>((*trips)[0], 0));
  for (size_t i = 0; i < form.n_stacked; ++i) {
    Type type = outputs[1 + form.n_states + i];
    if (type.shape) type.shape->insert(type.shape->begin(), length);
    context.set_output(form.n_states + i, std::move(type));
  }
}

bool holds(const ReferenceContext& context, const Tensor& condition) {
  if (condition.dtype() != DType::Bool || condition.size() != 1)
    context.fail("condition ", Type(condition).text(), ", one bool expected");
  return condition.data<bool>()[0];
}

void reference(ReferenceContext& context) {
  const Form form(context.node);
  int64_t trips = INT64_MAX;
  if (context.has_input(0)) {
    const std::vector<int64_t> count = int_values(context.node, context.input(0));
    if (count.size() != 1) context.fail("trip count ", Type(context.input(0)).text());
    trips = count[0];
  }
  bool go_on = !context.has_input(1) || holds(context, context.input(1));
  std::vector<Tensor> states;
  for (size_t i = 0; i < form.n_states; ++i) states.push_back(context.input(2 + i));
  std::vector<std::vector<Tensor>> stacked(form.n_stacked);
  for (int64_t trip = 0; trip < trips && go_on; ++trip) {
    std::vector<Tensor> inputs = {Tensor::scalar<int64_t>(trip), Tensor::scalar<bool>(go_on)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    std::vector<Tensor> outputs = context.run_graph(form.body, inputs);
    // Without a condition input the body's condition is made, but not heeded.
    if (context.has_input(1)) go_on = holds(context, outputs[0]);
    for (size_t i = 0; i < form.n_states; ++i) states[i] = std::move(outputs[1 + i]);
    for (size_t i = 0; i < form.n_stacked; ++i) stacked[i].push_back(std::move(outputs[1 + form.n_states + i]));
  }
  std::vector<Type> types(form.body.outputs.size());
  if (form.n_stacked > 0 && stacked[0].empty()) {
    std::vector<Type> inputs = {Type(DType::Int64, {}), Type(DType::Bool, {})};
    for (const Tensor& state : states) inputs.emplace_back(state);
    types = output_types(form.body, inputs);
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (i < form.n_states) {
      context.outputs[i] = states[i];
    } else {
      context.outputs[i] = stack(context.node, stacked[i - form.n_states], 0, false, types[1 + i]);
    }
  }
}

}  // namespace

OpDef define_Loop() {
  OpDef op;
  op.name = "Loop";
  op.since = 25;
  op.min_inputs = 2;
  op.max_inputs = op.max_outputs = -1;
  op.traits = kNoTraits;
  op.attributes = {{"body", required(AttributeType::Graph), "graph of one iteration"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::loop_ops
