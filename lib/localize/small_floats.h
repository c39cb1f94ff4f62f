// A network kept in float16 or bfloat16, and the float32 network that it is the rounding of, as far as that can be told.
//
// Every number of such a network is off by up to half a unit in its last place, which is far more than what rounding in float32
// explains. So numbers that are the source's, rounded, become the source's, and nothing is computed in halves: what is wrong then is
// no work of the smaller type.
#pragma once
#include <optional>
#include <string>

#include "graph/graph.h"
#include "localize/source_range.h"

namespace dnn {

// A target as its source in a smaller type.
struct SmallFloats {
  DType dtype = DType::Undefined;          // of most of its weights
  bool activations = false;                // it computes in float16, too
  int64_t n_constants = 0, n_rounded = 0;  // of that type; those of them that are some constant of the source, rounded
};

// Nullopt where not at least a quarter of the target's layers have weights of 16 bits, where the source's have, or where the source has
// numbers beyond float16 that the target has no room for.
std::optional<SmallFloats> small_floats(const Graph& source, const Graph& target);
bool beyond_float16(const SourceRanges& ranges);

// The target in float32. A constant of 16 bits that is one of the source's, rounded, becomes that one: as it is there, with batch norms
// folded, or with all that fold_into_layers() does, and in any order of axes. Values and nodes keep their names. Types are inferred.
Graph widened(const Graph& source, const Graph& target, SmallFloats* form);

// One line for people; a JSON object.
std::string small_floats_text(const SmallFloats& form);
std::string small_floats_json(const SmallFloats& form);

}  // namespace dnn
