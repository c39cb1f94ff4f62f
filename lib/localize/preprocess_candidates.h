// The hypotheses that a search of preprocessings tries, factor by factor.
#pragma once
#include <vector>

#include "localize/preprocess_hypothesis.h"

namespace dnn {

// `base` with every arithmetic and channel order that is in use, itself first. Those of `of_sides`, the preprocessings of the networks
// that are compared, come before others.
std::vector<Hypothesis> arithmetic_candidates(const Hypothesis& base, const std::vector<Preprocess>& of_sides);
// With every way of resizing and cropping.
std::vector<Hypothesis> geometry_candidates(const Hypothesis& base, const std::vector<Preprocess>& of_sides);
std::vector<Hypothesis> filter_candidates(const Hypothesis& base);
std::vector<Hypothesis> handling_candidates(const Hypothesis& base);

// `tensor`, preprocessed in `layout`, handled so.
Tensor handled(const Tensor& tensor, Layout layout, Handling handling);

}  // namespace dnn
