// recurrent: what RNN, GRU and LSTM share: their shapes, directions, sequence lengths and gate activations.
#pragma once
#include <functional>

#include "ops/op.h"

namespace dnn {

// The schema of RNN, GRU and LSTM, and what one of them has besides.
AttributeDefs recurrent_attributes(AttributeDefs more = {});

// Extents of a recurrent node. x: [S, B, I] (layout 1: [B, S, I]), w: [D, G * H, I], r: [D, G * H, H], b: [D, 2 * G * H],
// lengths: [B], initial state: [D, B, H] (layout 1: [B, D, H]), y: [S, D, B, H] (layout 1: [B, S, D, H]).
struct Recurrence {
  int64_t steps, batch, inputs, hidden, directions;
  bool batch_first;
  int64_t x_at(int64_t t, int64_t b) const { return (batch_first ? b * steps + t : t * batch + b) * inputs; }
  int64_t y_at(int64_t t, int64_t d, int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  int64_t state_at(int64_t d, int64_t b) const { return (batch_first ? b * directions + d : d * batch + b) * hidden; }
};

// infer() of a recurrent operator with so many gates; checks every input that the operators have in common.
void infer_recurrent(InferContext& context, int64_t gates, bool has_cell);

// The extents at run time; the inputs agree (infer_recurrent has checked them).
Recurrence recurrence_of(const ReferenceContext& context, int64_t gates);

// The steps of direction d for a sequence of `length`, in the order they are computed.
bool runs_backward(const Node& node, int64_t d);
// Steps of each sequence of the batch; Malformed unless they are 0 .. steps.
std::vector<int64_t> sequence_lengths(const ReferenceContext& context, const Recurrence& extents);

// A gate's activation on a clipped value, with its attributes bound.
using Activation = std::function<double(double)>;
// The `n` activations of every direction, in order; `defaults` where the node names none.
std::vector<Activation> gate_activations(const Node& node, int64_t directions,
                                         const std::vector<std::string>& defaults);

}  // namespace dnn
