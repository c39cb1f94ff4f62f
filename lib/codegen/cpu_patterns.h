// Schedules of CPUs for each pattern of loops: a function from a nest to the nest that runs well. None of them marks tasks.
#pragma once
#include <optional>

#include "codegen/cpu_nest.h"

namespace dnn::codegen::cpu {

// m (output channels) in vectors, the last output axis in a register tile: each input element is one broadcast.
Nest convolution(Nest nest);

// Depthwise convolutions: the channel itself in vectors, taps unrolled over a tile of columns.
Nest depthwise(Nest nest);

// Columns of a pool in a tile, so that one does not wait for the other's taps, and taps unrolled; turns that reach into the padding
// apart. Channels must be in vectors already.
Nest pooling(Nest nest);

// j (output columns) in vectors, i (rows) in a register tile; one row alone is tiled across columns.
Nest matrix_product(Nest nest);

// Loops in the order of the output's memory, the innermost in vectors where every access allows it.
Nest elementwise(Nest nest);

// Outputs with blocked channels: the block's lanes in vectors, innermost. None when the loops do not allow it.
std::optional<Nest> blocked_channels(const Nest& nest);

// A few rows of zeros: the channels of a block in vectors, and block by block, which are tasks then.
Nest border(Nest nest);

}  // namespace dnn::codegen::cpu
