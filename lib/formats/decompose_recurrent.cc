// LSTM, GRU and RNN as their steps, one behind the other, where their number is known; see definitions.h. Equations: ONNX's operators.
#include <algorithm>
#include <functional>
#include <optional>

#include "formats/definitions.h"

namespace dnn {
namespace {

constexpr int64_t kMostSteps = 256;

// Weights of one direction and the state that its steps hand on.
struct Direction {
  ValueId input_part = kNoValue;  // [T, B, gates * H], of all steps, with the bias
  ValueId recurrent = kNoValue;   // [H, gates * H]; a GRU's last gate has its own
  ValueId fresh = kNoValue;
  ValueId hidden = kNoValue, cell = kNoValue;  // [B, H]; none: zeros
};

class Recurrent {
 public:
  explicit Recurrent(Decomposition& s) : s_(s), op_(s.node().op) {}

  bool run() {
    if (!can()) return false;
    const Shape recurrent = s_.shape(s_.node().inputs[2]);
    n_directions_ = recurrent[0];
    h_ = recurrent[2];
    steps_ = (*s_.type().shape)[0].size;
    std::vector<ValueId> all, last, cells;
    for (int64_t d = 0; d < n_directions_; ++d) {
      Direction direction = begin(d);
      std::vector<ValueId> hidden(steps_, kNoValue);
      for (int64_t step = 0; step < steps_; ++step) {
        const int64_t t = backward(d) ? steps_ - 1 - step : step;
        advance(t, &direction);
        hidden[t] = s_.emit("Unsqueeze", {direction.hidden, s_.list({0, 1})});
      }
      all.push_back(joined(hidden, 0));
      last.push_back(s_.emit("Unsqueeze", {direction.hidden, s_.list({0})}));
      if (direction.cell != kNoValue) cells.push_back(s_.emit("Unsqueeze", {direction.cell, s_.list({0})}));
    }
    end(0, all, 1);
    end(1, last, 0);
    if (op_ == "LSTM") end(2, cells, 0);
    return true;
  }

 private:
  // Known weights, all steps of every sequence, and functions that formats have.
  bool can() {
    const Node& node = s_.node();
    if (!s_.has_rank() || s_.rank() != 3 || !(*s_.type().shape)[0].fixed() || s_.type().dtype != DType::Float32)
      return false;
    const int64_t steps = (*s_.type().shape)[0].size;
    if (steps < 1 || steps > kMostSteps || int_attribute(node, "layout") != 0 || node.has_attribute("clip"))
      return false;
    if (op_ == "LSTM" && int_attribute(node, "input_forget") != 0) return false;
    if (node.has_attribute("activation_alpha") || node.has_attribute("activation_beta")) return false;
    for (size_t i : {1, 2, 3, 7}) {
      if (node.input(i) != kNoValue && s_.constant(i) == nullptr) return false;
    }
    if (node.input(4) != kNoValue) {
      if (s_.constant(4) == nullptr) return false;
      const std::vector<int64_t> lengths = to_int64s(*s_.constant(4));
      if (std::any_of(lengths.begin(), lengths.end(), [&](int64_t n) { return n != steps; })) return false;
    }
    return has_functions();
  }

  bool has_functions() {
    functions_ = op_ == "LSTM"  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                 : op_ == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                : std::vector<std::string>{"Tanh"};
    const auto given = s_.node().attributes.find("activations");
    if (given == s_.node().attributes.end()) return true;
    const auto* names = std::get_if<std::vector<std::string>>(&given->second);
    if (names == nullptr || names->size() < functions_.size()) return false;
    for (size_t i = 0; i < names->size(); ++i) {
      const std::string& name = (*names)[i];
      if ((name != "Sigmoid" && name != "Tanh" && name != "Relu") || name != (*names)[i % functions_.size()])
        return false;
    }
    functions_.assign(names->begin(), names->begin() + static_cast<std::ptrdiff_t>(functions_.size()));
    return true;
  }

  bool backward(int64_t d) const {
    const std::string direction = string_attribute(s_.node(), "direction");
    return direction == "reverse" || (direction == "bidirectional" && d == 1);
  }

  // Row d of a constant [directions, ...].
  std::vector<float> row(size_t input, int64_t d) const {
    const Tensor& all = *s_.constant(input);
    const int64_t size = all.size() / n_directions_;
    return {all.data<float>() + d * size, all.data<float>() + (d + 1) * size};
  }
  // A matrix [rows, columns], turned.
  static Tensor turned(const std::vector<float>& numbers, int64_t rows) {
    const int64_t columns = std::ssize(numbers) / rows;
    return Tensor::of<float>({rows, columns}, numbers).transposed({1, 0});
  }

  Direction begin(int64_t d) {
    const int64_t width = gates() * h_;
    Direction direction;
    const ValueId part = s_.emit("MatMul", {s_.x(), s_.store("W", turned(row(1, d), width))});
    std::vector<float> bias(width, 0);
    behind_reset_.assign(h_, 0);
    if (s_.constant(3) != nullptr) {
      const std::vector<float> given = row(3, d);
      for (int64_t i = 0; i < width; ++i) {
        const bool later = linear_before_reset() && i >= 2 * h_;  // of the hidden state's part, which the gate scales
        bias[i] = given[i] + (later ? 0 : given[width + i]);
        if (later) behind_reset_[i - 2 * h_] = given[width + i];
      }
    }
    direction.input_part = s_.emit("Add", {part, s_.store("B", Tensor::of<float>({width}, bias))});
    const std::vector<float> weights = row(2, d);
    const int64_t together = op_ == "GRU" ? 2 : gates();
    const auto last = weights.begin() + together * h_ * h_;
    direction.recurrent = s_.store("R", turned({weights.begin(), last}, together * h_));
    if (op_ == "GRU") direction.fresh = s_.store("Rh", turned({last, weights.end()}, h_));
    const auto initial = [&](size_t input) {
      if (s_.node().input(input) == kNoValue) return kNoValue;
      return s_.emit("Gather", {s_.node().input(input), s_.store("direction", Tensor::of<int64_t>({}, {d}))},
                     {{"axis", int64_t{0}}});
    };
    direction.hidden = initial(5);
    direction.cell = op_ == "LSTM" ? initial(6) : kNoValue;
    peepholes_.clear();
    if (op_ == "LSTM" && s_.constant(7) != nullptr) {
      const std::vector<float> given = row(7, d);
      for (int64_t g = 0; g < 3; ++g)
        peepholes_.push_back(
            s_.store("P", Tensor::of<float>({h_}, {given.begin() + g * h_, given.begin() + (g + 1) * h_})));
    }
    return direction;
  }

  int64_t gates() const { return op_ == "LSTM" ? 4 : op_ == "GRU" ? 3 : 1; }
  bool linear_before_reset() const { return op_ == "GRU" && int_attribute(s_.node(), "linear_before_reset") != 0; }

  ValueId columns(ValueId v, int64_t first, int64_t n) {
    return s_.emit("Slice", {v, s_.list({first * h_}), s_.list({(first + n) * h_}), s_.list({1})});
  }
  // Adds what there is of two terms.
  ValueId sum(ValueId a, ValueId b) { return a == kNoValue ? b : b == kNoValue ? a : s_.emit("Add", {a, b}); }
  ValueId product(ValueId a, ValueId b) { return a == kNoValue || b == kNoValue ? kNoValue : s_.emit("Mul", {a, b}); }

  void advance(int64_t t, Direction* d) {
    const ValueId x =
        s_.emit("Gather", {d->input_part, s_.store("step", Tensor::of<int64_t>({}, {t}))}, {{"axis", int64_t{0}}});
    if (op_ == "GRU") return advance_gru(x, d);
    const ValueId from_hidden = d->hidden == kNoValue ? kNoValue : s_.emit("MatMul", {d->hidden, d->recurrent});
    const ValueId all = sum(x, from_hidden);
    if (op_ == "RNN") {
      d->hidden = s_.emit(functions_[0], {all});
      return;
    }
    const auto gate = [&](int64_t at, int64_t peephole,
                          ValueId cell) {  // of the order i, o, f, c; peepholes are of i, o, f
      const ValueId seen = peepholes_.empty() ? kNoValue : product(cell, peepholes_[peephole]);
      return s_.emit(functions_[0], {sum(columns(all, at, 1), seen)});
    };
    const ValueId in = gate(0, 0, d->cell), fresh = s_.emit(functions_[1], {columns(all, 3, 1)});
    const ValueId kept = d->cell == kNoValue ? kNoValue : product(gate(2, 2, d->cell), d->cell);
    d->cell = sum(product(in, fresh), kept);
    d->hidden = product(gate(1, 1, d->cell), s_.emit(functions_[2], {d->cell}));
  }

  // H = (1 - z) * h + z * H, with gates in the order z, r, h.
  void advance_gru(ValueId x, Direction* d) {
    const bool first = d->hidden == kNoValue;
    const ValueId seen = first ? kNoValue : s_.emit("MatMul", {d->hidden, d->recurrent});
    const ValueId both = s_.emit(functions_[0], {sum(columns(x, 0, 2), seen)});
    const ValueId update = columns(both, 0, 1), reset = columns(both, 1, 1);
    ValueId recalled = kNoValue;
    if (linear_before_reset()) {
      const ValueId bias = s_.store("Rbh", Tensor::of<float>({h_}, behind_reset_));
      const ValueId linear = first ? bias : s_.emit("Add", {s_.emit("MatMul", {d->hidden, d->fresh}), bias});
      recalled = s_.emit("Mul", {reset, linear});
    } else if (!first) {
      recalled = s_.emit("MatMul", {s_.emit("Mul", {reset, d->hidden}), d->fresh});
    }
    const ValueId fresh = s_.emit(functions_[1], {sum(columns(x, 2, 1), recalled)});
    const ValueId taken = s_.emit("Mul", {s_.emit("Sub", {s_.number(1), update}), fresh});
    d->hidden = first ? taken : s_.emit("Add", {taken, s_.emit("Mul", {update, d->hidden})});
  }

  ValueId joined(const std::vector<ValueId>& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : s_.emit("Concat", parts, {{"axis", axis}});
  }
  void end(size_t output, const std::vector<ValueId>& parts, int64_t axis) {
    if (s_.node().output(output) == kNoValue) return;
    const std::vector<ValueId> to = {s_.node().output(output)};
    if (parts.size() == 1) {
      s_.end("Identity", parts, {}, to);
    } else {
      s_.end("Concat", parts, {{"axis", axis}}, to);
    }
  }

  Decomposition& s_;
  const std::string op_;
  int64_t n_directions_ = 1, h_ = 0, steps_ = 0;
  std::vector<std::string> functions_;
  std::vector<float> behind_reset_;
  std::vector<ValueId> peepholes_;
};

bool recurrent(Decomposition& s) { return Recurrent(s).run(); }

}  // namespace

const std::vector<Definition>& recurrent_definitions() {
  static const std::vector<Definition> all = {{"GRU", recurrent}, {"LSTM", recurrent}, {"RNN", recurrent}};
  return all;
}

}  // namespace dnn
