// How much memory activations may take: a model of a few bytes can describe gigabytes of them.
#pragma once
#include "package/package.h"

namespace dnn {

// Bytes of the constants of package and variant.
uint64_t constant_bytes(const Package& package, const Variant& variant);

// Bytes that tensors of a run may take together: 4 times the constants, 1024 times the inputs, and 256 MiB; or what the user gives
// (read_memory_limit()), where that is more. No bound where reading has none. 1024: a network that enlarges images four times has
// a thousand numbers for each one that it reads; others have a tenth of that.
uint64_t most_activations(uint64_t constant_bytes, uint64_t input_bytes);

// Bytes of the inputs as the package declares them, state among them. Those of open types count nothing.
uint64_t declared_input_bytes(const Package& package);

// The bound for a package's arena, with inputs as it declares them.
uint64_t most_activations(const Package& package, const Variant& variant);

// The same for a graph that is interpreted; open extents of inputs count as 1.
uint64_t most_activations(const Graph& graph);

}  // namespace dnn
