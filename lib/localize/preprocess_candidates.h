// The hypotheses that a search of preprocessings tries, factor by factor.
#pragma once
#include <vector>

#include "localize/preprocess_search.h"

namespace dnn {

// `base` with every arithmetic and channel order that is in use, itself first.
std::vector<Hypothesis> arithmetic_candidates(const Hypothesis& base, const PreprocessSearch& search);
// With every way of resizing and cropping.
std::vector<Hypothesis> geometry_candidates(const Hypothesis& base, const PreprocessSearch& search);
std::vector<Hypothesis> filter_candidates(const Hypothesis& base);
std::vector<Hypothesis> handling_candidates(const Hypothesis& base);

// `tensor`, preprocessed in `layout`, handled so.
Tensor handled(const Tensor& tensor, Layout layout, Handling handling);

}  // namespace dnn
