// Recurrent layers: SimpleRNN, GRU, LSTM. Keras keeps a kernel as [inputs, gates x units]; the IR's operators want [1, gates x
// units, inputs], an LSTM's gates in the order input, output, forget, cell (Keras: input, forget, cell, output).
#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

struct Kind {
  const char* op;
  std::vector<int64_t> gates;     // of Keras' gates, in the IR's order
  std::vector<const char*> uses;  // which activation each of the operator's takes
};

Kind kind_of_layer(const Call& call) {
  const std::string& name = call.layer().class_name;
  if (name == "LSTM") return {"LSTM", {0, 3, 1, 2}, {"recurrent_activation", "activation", "activation"}};
  if (name == "GRU") return {"GRU", {0, 1, 2}, {"recurrent_activation", "activation"}};
  return {"RNN", {0}, {"activation"}};
}

// [rows, gates x units] -> [1, gates x units, rows], gates in the IR's order.
Tensor recurrent_kernel_of(const Tensor& kernel, const std::vector<int64_t>& gates) {
  const int64_t rows = kernel.shape()[0], columns = kernel.shape()[1];
  const int64_t units = columns / static_cast<int64_t>(gates.size());
  const std::vector<double> from = to_doubles(kernel);
  std::vector<double> to;
  to.reserve(from.size());
  for (int64_t gate : gates) {
    for (int64_t unit = 0; unit < units; ++unit) {
      for (int64_t row = 0; row < rows; ++row) to.push_back(from[row * columns + gate * units + unit]);
    }
  }
  return convert(Tensor::of<double>({1, columns, rows}, to), kernel.dtype());
}

// [gates x units], or two such rows (of the input and of the state) -> [1, 2 x gates x units]
Tensor recurrent_bias(const Tensor& bias, const std::vector<int64_t>& gates) {
  const int64_t columns = bias.shape().back();
  const int64_t units = columns / static_cast<int64_t>(gates.size());
  const std::vector<double> from = to_doubles(bias);
  std::vector<double> to;
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t gate : gates) {
      for (int64_t unit = 0; unit < units; ++unit) {
        const size_t at = row * columns + gate * units + unit;
        to.push_back(at < from.size() ? from[at] : 0);
      }
    }
  }
  return convert(Tensor::of<double>({1, 2 * columns}, to), bias.dtype());
}

// The operator's activations, with alpha and beta of those that have them.
void set_activations(Call& call, const Kind& kind, Attributes* attributes) {
  std::vector<std::string> names;
  std::vector<float> alpha, beta;
  for (const char* use : kind.uses) {
    const std::string own = use, name = call.text(use, own == "activation"  ? "tanh"
                                                       : call.version() < 3 ? "hard_sigmoid"
                                                                            : "sigmoid");
    if (name == "sigmoid")
      names.emplace_back("Sigmoid");
    else if (name == "tanh")
      names.emplace_back("Tanh");
    else if (name == "relu")
      names.emplace_back("Relu");
    else if (name == "softsign")
      names.emplace_back("Softsign");
    else if (name == "hard_sigmoid") {
      names.emplace_back("HardSigmoid");
      alpha.push_back(call.version() < 3 ? 0.2f : 1.0f / 6);
      beta.push_back(0.5f);
    } else {
      call.refuse(own, " '", name, "' is not read");
    }
  }
  (*attributes)["activations"] = names;
  if (!alpha.empty()) {
    (*attributes)["activation_alpha"] = alpha;
    (*attributes)["activation_beta"] = beta;
  }
}

void check_weights(Call& call, const Kind& kind) {
  const auto gates = static_cast<int64_t>(kind.gates.size());
  const Tensor &kernel = call.stored(0, "kernel"), &state = call.stored(1, "recurrent_kernel");
  const bool fits = kernel.rank() == 2 && state.rank() == 2 && kernel.shape()[1] == state.shape()[1] &&
                    state.shape()[1] == gates * state.shape()[0];
  if (!fits) call.fail("kernels of shapes ", shape_text(kernel.shape()), " and ", shape_text(state.shape()));
}

// The input, and the states to begin with: further inputs, or an argument.
std::vector<ValueId> initial_states(Call& call) {
  std::vector<ValueId> all = call.inputs();
  if (all.empty()) call.fail("it has no input");
  for (ValueId v : call.tensors(call.version() < 3 ? 3 : 1, {"initial_state"})) all.push_back(v);
  return all;
}

}  // namespace

ValueId import_recurrent(Call& call) {
  const Kind kind = kind_of_layer(call);
  if (call.flag("stateful", false)) call.refuse("stateful is not read");
  if (call.flag("time_major", false)) call.refuse("time_major is not read");
  check_weights(call, kind);
  const bool backwards = call.flag("go_backwards", false), sequences = call.flag("return_sequences", false);
  const bool returns_state = call.flag("return_state", false);
  std::vector<ValueId> states = initial_states(call);
  const ValueId x = states[0];
  states.erase(states.begin());
  const bool has_bias = call.flag("use_bias", true);
  const auto kernel = [&](const Tensor& t) { return recurrent_kernel_of(t, kind.gates); };
  std::vector<ValueId> inputs = {call.transpose(x, {1, 0, 2}), call.weight(0, "kernel", kernel),
                                 call.weight(1, "recurrent_kernel", kernel)};
  const int64_t units = call.stored(1, "recurrent_kernel").shape()[0];
  Attributes attributes = {{"hidden_size", units}};
  if (std::string(kind.op) == "GRU") {
    const bool after = call.flag("reset_after", call.version() >= 3);
    attributes["linear_before_reset"] = int64_t{after ? 1 : 0};
  }
  if (has_bias) {
    const int64_t elements = call.stored(2, "bias").size(), all = static_cast<int64_t>(kind.gates.size()) * units;
    if (elements != all && !(elements == 2 * all && std::string(kind.op) == "GRU"))
      call.fail("a bias of ", elements, " numbers");
    inputs.push_back(call.weight(2, "bias", [&](const Tensor& t) { return recurrent_bias(t, kind.gates); }));
  }
  set_activations(call, kind, &attributes);
  if (backwards) attributes["direction"] = std::string("reverse");
  const size_t n_states = std::string(kind.op) == "LSTM" ? 2 : 1;
  if (!states.empty() && states.size() != n_states)
    call.fail(states.size(), " states to begin with, ", n_states, " are its own");
  inputs.resize(states.empty() ? inputs.size() : 5, kNoValue);
  for (ValueId state : states) inputs.push_back(call.emit("Unsqueeze", {state, call.list({0})}));
  const std::vector<ValueId> results =
      call.emit_many(kind.op, std::move(inputs), std::move(attributes), returns_state ? 1 + n_states : 2);
  for (size_t i = 1; returns_state && i < results.size(); ++i)
    call.add_output(call.emit("Squeeze", {results[i], call.list({0})}));
  if (!sequences) return call.emit("Squeeze", {results[1], call.list({0})});
  ValueId y = call.emit("Squeeze", {results[0], call.list({1})});
  // Keras lists what it computed first at first.
  if (backwards) y = call.emit("Slice", {y, call.list({-1}), call.list({INT64_MIN}), call.list({0}), call.list({-1})});
  return call.transpose(y, {1, 0, 2});
}

}  // namespace dnn::keras
