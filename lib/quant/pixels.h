// The arithmetic of preprocessing as part of a network: its input is then the bytes of an image.
#pragma once
#include "graph/graph.h"
#include "image/preprocess.h"

namespace dnn::quant {

// Throws Usage unless the network reads one value that may be an image, of float32 and four axes.
void require_image(const Graph& graph);

// The only input of `graph`, float32 [N, C, H, W] or [N, H, W, C] as `preprocess` says, becomes uint8 of that name and shape: a pixel
// each, 0..255, in the order of the channels that `preprocess` gives them. What to_tensor() computes of them (image/preprocess.h) the
// network computes, the same operations in the same order, so that outputs are the same to the bit. The metadata "preprocess" says what is
// left to do: decoding, resizing and the order of channels. Throws Usage where the input is another.
void read_pixels(Graph& graph, const Preprocess& preprocess);

}  // namespace dnn::quant
