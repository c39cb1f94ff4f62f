// Heads: the classifier at a network's end taken off, and a new one put on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "train/parameters.h"

namespace dnn::train {

struct HiddenLayer {
  int64_t width = 0;
  double dropout = 0;  // behind its Relu
};

// Widths of hidden layers: "1024,512", with dropout "1024:0.5,512:0.5", or "linear" for none. Throws Usage.
std::vector<HiddenLayer> parse_head(const std::string& text);

// The network up to what its last layer with weights reads, as features [N, width], averaged over the positions where they have
// some. Positions lie along the axes behind the second for a convolution, and between the first and the last for a product. Throws
// Unsupported where the network does not end in a layer with weights.
Graph take_head_off(const Graph& model);

// Dense layers with Relu (and Dropout) between them, from features [batch, width] to logits of `classes`: weights uniform after Glorot and
// Bengio (2010), of a linear layer alone within 1/sqrt(width), by counters from the seed, biases 0.
Graph new_head(int64_t width, const std::vector<HiddenLayer>& hidden, int64_t classes, uint64_t seed);

// `head` behind `backbone`, and a Softmax behind that where `softmax`.
Graph join(const Graph& backbone, const Graph& head, bool softmax);

enum class Init {
  Torch,  // as PyTorch's layers do by themselves: weights and biases uniform within 1 / sqrt(inputs of an output)
  He,     // normal after He et al. (2015) for convolutions, uniform after Glorot for the others; biases 0
};

// Draws the weights of all layers anew, by counters from the seed; norms become 1 and 0 with statistics 0 and 1, a PRelu 0.25.
void draw_weights(Graph& graph, Init init, uint64_t seed);

}  // namespace dnn::train
