// OpDef::permute of the operators that compute alike in any order of axes.
#pragma once
#include "ops/op.h"

namespace dnn {

// Nothing to rewrite: every element by itself.
bool permute_nothing(PermuteContext& context);
// The operator's attribute "axis".
bool permute_axis(PermuteContext& context);
// The same, where attribute keepdims may remove the axis: the others must keep their order then.
bool permute_reduced_axis(PermuteContext& context);
// Axes in input 1, which with keepdims 0 are removed (Reduce...) or always (Squeeze).
bool permute_reduced_axes(PermuteContext& context);
bool permute_squeezed_axes(PermuteContext& context);
// Axes in input 3, as in Slice; left out, they are the first as many as input 1 has entries.
bool permute_sliced_axes(PermuteContext& context);
// Pads in input 1 (begins, then ends), for all axes or for those in input 3.
bool permute_pads(PermuteContext& context);
// Resize: its attribute "axes", with as many scales or sizes; without the attribute it cannot.
bool permute_listed_axes(PermuteContext& context);
// Attribute "axis" of a scale and zero point per axis; per tensor nothing; in blocks it cannot.
bool permute_quantized_axis(PermuteContext& context);

}  // namespace dnn
