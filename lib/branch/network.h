// The network of a configuration: its graph, and its size as pycls counts it.
#pragma once
#include <cstdint>

#include "branch/config.h"
#include "branch/counted_layers.h"
#include "graph/graph.h"

namespace dnn::branch {

// `image_size` 0: the configuration's. Throws Unsupported where a block does not fit its stage.
Counts count_network(const Config& config, int64_t image_size = 0);

// float32[batch, 3, size, size] -> float32[batch, classes], with random weights of that seed. Nodes are called as the artefact's TensorFlow
// models call them (st_cpu_conv, s1_dsp_b2_a_conv, s1_cpu_mp_end_concat, head_cpu_dense); constants as pycls's state dict calls its
// parameters, so that put_weights() takes a checkpoint. The metadata says that the weights are random.
Graph build_network(const Config& config, uint64_t seed, int64_t image_size = 0);

// The weights of a file, pycls's checkpoint (`model_state`) or any state dict, for the random ones. `warn` gets what the file lacks. Throws
// Malformed where a weight has no place or another shape.
void load_weights(Graph& graph, const std::string& path, const std::function<void(const std::string&)>& warn);

// Metadata key of what the weights are: "random, seed 1".
inline constexpr const char* kWeightsKey = "dnn-tools.weights";

}  // namespace dnn::branch
