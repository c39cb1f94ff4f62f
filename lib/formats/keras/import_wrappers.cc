// Layers that call other layers: Bidirectional, TimeDistributed.
#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

Json tensor_argument(ValueId v) { return {{"value", v}}; }

// The two results as `mode` says; none: both are outputs.
ValueId merged(Call& call, const std::string& mode, ValueId forwards, ValueId backwards) {
  if (mode == "concat") return call.emit("Concat", {forwards, backwards}, {{"axis", int64_t{-1}}});
  if (mode == "sum") return call.emit("Add", {forwards, backwards});
  if (mode == "mul") return call.emit("Mul", {forwards, backwards});
  if (mode == "ave") {
    const ValueId sum = call.emit("Add", {forwards, backwards});
    return call.emit("Div", {sum, call.scalar(2, sum)});
  }
  call.refuse("merge_mode '", mode, "' is not read");
}

}  // namespace

ValueId import_bidirectional(Call& call) {
  call.option("layer");  // see Layer::inner
  call.option("backward_layer");
  const bool both_out = call.states("merge_mode") && !call.has("merge_mode");
  std::vector<ValueId> states = call.inputs();
  if (states.empty()) call.fail("it has no input");
  const ValueId x = states[0];
  states.erase(states.begin());
  for (ValueId v : call.tensors(call.version() < 3 ? 3 : 1, {"initial_state"})) states.push_back(v);
  if (states.size() % 2 != 0) call.fail(states.size(), " states to begin with for two layers");
  ValueId result[2];
  std::vector<ValueId> last_states;
  for (size_t i = 0; i < 2; ++i) {
    Json kwargs = Json::object();
    for (size_t k = 0; k < states.size() / 2; ++k)
      kwargs["initial_state"].push_back(tensor_argument(states[i * states.size() / 2 + k]));
    const std::vector<ValueId> outputs = call.call_inner(i, Json::array({tensor_argument(x)}), std::move(kwargs));
    result[i] = outputs[0];
    last_states.insert(last_states.end(), outputs.begin() + 1, outputs.end());
  }
  // The backward layer lists what it computed first at first.
  if (call.rank(result[1]) == 3)
    result[1] =
        call.emit("Slice", {result[1], call.list({-1}), call.list({INT64_MIN}), call.list({1}), call.list({-1})});
  if (both_out) call.add_output(result[1]);
  for (ValueId v : last_states) call.add_output(v);
  return both_out ? result[0] : merged(call, call.text("merge_mode", "concat"), result[0], result[1]);
}

// Steps become samples, and samples steps again.
ValueId import_time_distributed(Call& call) {
  call.option("layer");  // see Layer::inner
  const ValueId x = call.x();
  std::vector<int64_t> from = call.shape(x);
  if (from.size() < 3) call.fail("its input has rank ", from.size());
  for (size_t i = 1; i < from.size(); ++i) {
    if (from[i] < 0) call.refuse("only the batch of its input may be open");
  }
  const int64_t steps = from[1];
  from.erase(from.begin());
  from[0] = -1;
  const ValueId samples = call.emit("Reshape", {x, call.list(from)});
  const std::vector<ValueId> outputs = call.call_inner(0, Json::array({tensor_argument(samples)}), Json::object());
  if (outputs.size() != 1) call.refuse("its layer gives ", outputs.size(), " outputs");
  std::vector<int64_t> to = call.shape(outputs[0]);
  to[0] = steps;
  to.insert(to.begin(), -1);
  for (size_t i = 1; i < to.size(); ++i) {
    if (to[i] < 0) call.refuse("its layer gives an output of open extents");
  }
  return call.emit("Reshape", {outputs[0], call.list(to)});
}

}  // namespace dnn::keras
