// The shapes of inputs that a user gives a reader whose files lack them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::torch {

// The extents that "NAME:1x3x224x224" (or without a name, where the model has one input) gives an input; '?' stays open: a batch
// in front, else an extent of its own. Nothing where no spec is about it. Throws Usage.
std::optional<std::vector<Dim>> given_shape(const std::vector<std::string>& specs, const std::string& input,
                                            size_t n_inputs);

// A type with the extents that are given fixed. Throws Usage where they contradict it.
Type with_shape(const Type& type, const std::vector<std::string>& specs, const std::string& input, size_t n_inputs);

// A tensor's name for an open extent: "batch", then "height", "width" of an image's.
Dim open_extent(const std::string& input, size_t axis, size_t rank);

}  // namespace dnn::torch
