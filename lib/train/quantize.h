// Training for integers: a network that rounds its weights and activations as dnn-quantize would, and learns to bear it.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "graph/graph.h"

namespace dnn::train {

// The float32 network as dnn-quantize prepares it (batch norms folded with their statistics), ranges from a state file of its
// calibration.
class FakeQuantized {
 public:
  struct Options {
    bool for_tflite = false;    // quantisers where TFLite's operators want them
    bool reduce_range = false;  // int8 weights within quant::kReducedWeight
  };
  // Throws Usage where the state is of another network, and what reading and quantising throw.
  FakeQuantized(Graph model, const std::string& state, const Options& options);
  ~FakeQuantized();
  FakeQuantized(const FakeQuantized&) = delete;
  FakeQuantized& operator=(const FakeQuantized&) = delete;

  // To train: each value with a quantiser goes through dnn.FakeQuantize with the calibration's scale, each weight tensor through one with
  // the scales that its numbers give, by channel.
  Graph graph() const;
  // The integer network of a graph() whose constants have learnt.
  Graph finish(const Graph& trained) const;
  std::string summary() const;  // one line

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dnn::train
