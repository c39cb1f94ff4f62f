// Edits of what quantises a network: its scales, zero points, axes and integers.
#pragma once
#include "localize/edits.h"

namespace dnn {

// Makes an edit of kind Quantised. Throws as apply_edits().
void make_quantised_edit(const Edit& edit, const Graph& source, Graph& target);

// Tells what reads `value` in a quantised network: what its quantiser and a dequantiser make of it; itself where none does.
ValueId as_read(const Graph& graph, ValueId value);
// The numbers that a quantiser rounds, of a value that is integers; the value itself of others.
ValueId as_made(const Graph& graph, ValueId value);

}  // namespace dnn
