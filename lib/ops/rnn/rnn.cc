// RNN, GRU, LSTM: recurrent layers, forward, backward or both, over sequences of their own lengths.
//
// Order of a gate's value: x * W summed over the inputs, + h * R summed over the hidden units, + the input's bias, + the
// recurrent bias, + the peephole term; activations are computed in float64 and rounded. Steps beyond a sequence's
// length leave its state alone and give zeros.
#include "ops/multiply.h"
#include "ops/outputs.h"
#include "ops/recurrent.h"

namespace dnn::rnn_ops {
namespace {

enum class Kind : uint8_t { Rnn, Gru, Lstm };

constexpr int64_t gate_count(Kind kind) { return kind == Kind::Rnn ? 1 : kind == Kind::Gru ? 3 : 4; }

template <Kind kind>
void infer(InferContext& context) {
  if (kind == Kind::Lstm && float_attribute(context.node, "clip") > 0)
    fail_unsupported(context.node.label(),
                     ": clip of an LSTM: whether it bounds the cell's output activation is disputed");
  infer_recurrent(context, gate_count(kind), kind == Kind::Lstm);
}

template <class T, Kind kind>
class Layer {
 public:
  using C = Compute<T>;
  static constexpr int64_t kGates = gate_count(kind);

  explicit Layer(ReferenceContext& context)
      : context_(context),
        node_(context.node),
        extents_(recurrence_of(context, kGates)),
        lengths_(sequence_lengths(context, extents_)) {
    const std::vector<std::string> defaults = kind == Kind::Rnn   ? std::vector<std::string>{"Tanh"}
                                              : kind == Kind::Gru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                                  : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    n_activations_ = defaults.size();
    activations_ = gate_activations(node_, extents_.directions, defaults);
    linear_before_reset_ = kind == Kind::Gru && flag_attribute(node_, "linear_before_reset");
    input_forget_ = kind == Kind::Lstm && flag_attribute(node_, "input_forget");
  }

  void run() {
    const std::vector<Type> types = infer_outputs(context_, infer<kind>);
    std::vector<Tensor> outputs;
    for (const Type& type : types) outputs.emplace_back(type.dtype, type.fixed_shape());
    const Recurrence& e = extents_;
    for (int64_t d = 0; d < e.directions; ++d) {
      begin(d);
      for (int64_t step = 0; step < e.steps; ++step) {
        recur(step);
        for (int64_t b = 0; b < e.batch; ++b) {
          if (step >= lengths_[b]) continue;
          update(b, time_of(b, step));
          if (!outputs.empty())
            write(outputs[0].template mutable_data<T>() + e.y_at(time_of(b, step), d, b), hidden_, b);
        }
      }
      for (int64_t b = 0; b < e.batch; ++b) {
        if (outputs.size() > 1) write(outputs[1].template mutable_data<T>() + e.state_at(d, b), hidden_, b);
        if (outputs.size() > 2) write(outputs[2].template mutable_data<T>() + e.state_at(d, b), cell_, b);
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) context_.outputs[i] = std::move(outputs[i]);
  }

 private:
  // Weights, biases and initial states of direction d, and the inputs' part of every gate.
  void begin(int64_t d) {
    direction_ = d;
    const Recurrence& e = extents_;
    const int64_t width = kGates * e.hidden;
    const MatrixView<T> w{context_.input(1).data<T>() + d * width * e.inputs, e.inputs, 1};
    recurrent_ = {context_.input(2).data<T>() + d * width * e.hidden, e.hidden, 1};
    from_input_.resize(e.steps * e.batch * width);
    const MatrixView<T> x{context_.input(0).data<T>(), e.inputs, 1};  // rows in x's own order
    multiply<C>(context_.pool, e.steps * e.batch, width, e.inputs, x, w.transposed(),
                [&](int64_t i, int64_t j, C sum) { from_input_[i * width + j] = sum; });
    bias_.assign(2 * width, 0);
    if (context_.has_input(3)) fill(bias_, context_.input(3).data<T>() + d * 2 * width);
    peephole_.assign(3 * e.hidden, 0);
    if (context_.has_input(7)) fill(peephole_, context_.input(7).data<T>() + d * 3 * e.hidden);
    hidden_.assign(e.batch * e.hidden, 0);
    cell_ = hidden_;
    for (int64_t b = 0; b < e.batch; ++b) {
      if (context_.has_input(5)) read(context_.input(5).data<T>() + e.state_at(d, b), hidden_, b);
      if (context_.has_input(6)) read(context_.input(6).data<T>() + e.state_at(d, b), cell_, b);
    }
    from_hidden_.assign(e.batch * width, 0);
  }

  static void fill(std::vector<C>& to, const T* from) {
    for (size_t i = 0; i < to.size(); ++i) to[i] = widen(from[i]);
  }
  void read(const T* from, std::vector<C>& state, int64_t b) const {
    for (int64_t i = 0; i < extents_.hidden; ++i) state[b * extents_.hidden + i] = widen(from[i]);
  }
  void write(T* to, const std::vector<C>& state, int64_t b) const {
    for (int64_t i = 0; i < extents_.hidden; ++i) to[i] = narrow<T>(state[b * extents_.hidden + i]);
  }

  int64_t time_of(int64_t b, int64_t step) const {
    return runs_backward(node_, direction_) ? lengths_[b] - 1 - step : step;
  }

  // The hidden state's part of every gate, for all sequences.
  void recur(int64_t) {
    const int64_t width = kGates * extents_.hidden;
    const MatrixView<C> h{hidden_.data(), extents_.hidden, 1};
    multiply<C>(context_.pool, extents_.batch, width, extents_.hidden, h, recurrent_.transposed(),
                [&](int64_t i, int64_t j, C sum) { from_hidden_[i * width + j] = sum; });
  }

  C activate(size_t which, C value) const {
    return static_cast<C>(
        activations_[static_cast<size_t>(direction_) * n_activations_ + which](static_cast<double>(value)));
  }

  // Advances the state of sequence b by the input at time t.
  void update(int64_t b, int64_t t) {
    const int64_t h = extents_.hidden, width = kGates * h;
    const C* x = from_input_.data() + extents_.x_at(t, b) / std::max<int64_t>(1, extents_.inputs) * width;
    const C* r = from_hidden_.data() + b * width;
    const C *w_bias = bias_.data(), *r_bias = bias_.data() + width;
    C *state = hidden_.data() + b * h, *cell = cell_.data() + b * h;
    const auto gate = [&](int64_t g, int64_t i, C peephole) {
      const int64_t k = g * h + i;
      return ((x[k] + r[k]) + w_bias[k]) + r_bias[k] + peephole;
    };
    if constexpr (kind == Kind::Rnn) {
      for (int64_t i = 0; i < h; ++i) state[i] = activate(0, gate(0, i, 0));
    } else if constexpr (kind == Kind::Lstm) {  // gates in the order input, output, forget, cell
      const C *p_input = peephole_.data(), *p_output = p_input + h, *p_forget = p_output + h;
      for (int64_t i = 0; i < h; ++i) {
        const C in = activate(0, gate(0, i, p_input[i] * cell[i]));
        const C forget = input_forget_ ? C(1) - in : activate(0, gate(2, i, p_forget[i] * cell[i]));
        const C candidate = activate(1, gate(3, i, 0));
        cell[i] = forget * cell[i] + in * candidate;
        const C out = activate(0, gate(1, i, p_output[i] * cell[i]));
        state[i] = out * activate(2, cell[i]);
      }
    } else {  // gates in the order update, reset, hidden
      std::vector<C> update_gate(h), reset(h), candidate(h);
      for (int64_t i = 0; i < h; ++i) {
        update_gate[i] = activate(0, gate(0, i, 0));
        reset[i] = activate(0, gate(1, i, 0));
      }
      const auto k = [&](int64_t i) { return 2 * h + i; };
      if (linear_before_reset_) {
        for (int64_t i = 0; i < h; ++i)
          candidate[i] = activate(1, x[k(i)] + reset[i] * (r[k(i)] + r_bias[k(i)]) + w_bias[k(i)]);
      } else {
        std::vector<C> kept(h);
        for (int64_t i = 0; i < h; ++i) kept[i] = reset[i] * state[i];
        const MatrixView<C> left{kept.data(), h, 1};
        const MatrixView<T> right{recurrent_.data + 2 * h * h, h, 1};
        multiply<C>(context_.pool, 1, h, h, left, right.transposed(), [&](int64_t, int64_t i, C sum) {
          candidate[i] = activate(1, ((x[k(i)] + sum) + w_bias[k(i)]) + r_bias[k(i)]);
        });
      }
      for (int64_t i = 0; i < h; ++i) {
        const C z = update_gate[i];
        state[i] = (C(1) - z) * candidate[i] + z * state[i];
      }
    }
  }

  ReferenceContext& context_;
  const Node& node_;
  Recurrence extents_;
  std::vector<int64_t> lengths_;
  size_t n_activations_ = 0;
  std::vector<Activation> activations_;
  bool linear_before_reset_ = false, input_forget_ = false;
  int64_t direction_ = 0;
  MatrixView<T> recurrent_{};
  std::vector<C> from_input_, from_hidden_, bias_, peephole_, hidden_, cell_;
};

template <Kind kind>
void reference(ReferenceContext& context) {
  infer_outputs(context, infer<kind>);
  dispatch_float(context.input(0).dtype(), [&](auto tag) { Layer<typename decltype(tag)::type, kind>(context).run(); });
}

template <Kind kind>
double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  const double per_step = 2.0 * static_cast<double>(element_count(inputs[1]) + element_count(inputs[2]));
  return per_step * static_cast<double>(inputs[0][0]) * static_cast<double>(inputs[0][1]);
}

template <Kind kind>
OpDef layer(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.since = 22;
  op.min_inputs = 3;
  op.max_inputs = kind == Kind::Lstm ? 8 : 6;
  op.min_outputs = 0;
  op.max_outputs = kind == Kind::Lstm ? 3 : 2;
  op.traits = kNoTraits;
  op.infer = infer<kind>;
  op.reference = reference<kind>;
  op.flops = flops<kind>;
  return op;
}

}  // namespace

OpDef define_RNN() { return with_attributes(layer<Kind::Rnn>("RNN"), recurrent_attributes()); }
OpDef define_GRU() {
  return with_attributes(
      layer<Kind::Gru>("GRU"),
      recurrent_attributes({{"linear_before_reset", 0, "the reset gate applies behind the hidden layer's product"}}));
}
OpDef define_LSTM() {
  return with_attributes(layer<Kind::Lstm>("LSTM"),
                         recurrent_attributes({{"input_forget", 0, "input and forget gate are one"}}));
}

}  // namespace dnn::rnn_ops
