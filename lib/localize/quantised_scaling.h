// The source as the target's quantiser had it before it rounded anything, told from the integers: scales that it folded into layers,
// and channels that it scaled between layers (cross-layer equalisation).
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "localize/quantised_layers.h"
#include "ops/between_layers.h"

namespace dnn {

// Tells what a layer's weights were scaled by: those of row r and column c times columns[c] / rows[r]. Empty: by 1.
struct LayerScales {
  std::vector<double> rows, columns;
  std::vector<double> errors, column_errors;  // what a factor may be off by, of itself
};

struct ScaledChannels {
  struct Value {
    ValueBetween between;         // of the folded source
    std::vector<double> factors;  // by channel: the layer in front was divided by it, those behind multiplied
  };
  std::vector<Value> values;
  std::map<NodeId, LayerScales> layers;  // by layer of the folded source
  // LayerNormalizations of the target that were scaled, and the source's.
  std::map<NodeId, NodeId> norms;
};

// The source as the target's quantiser had it when it chose integers.
struct QuantisedSource {
  // How its scales are in its layers' weights: as a quantiser leaves them, folds batch norms, or whatever fold_into_layers() does.
  enum class Fold : uint8_t { None, BatchNorms, All };
  Graph folded;  // what computes the source's values
  Fold fold = Fold::BatchNorms;
  ScaledChannels scaled;       // what was scaled between its layers
  std::optional<Graph> equal;  // with that in its weights, which computes the same; none where nothing was scaled
  const Graph& as_quantised() const { return equal ? *equal : folded; }
};

// Folds the source in the way of which more of the target's integers are roundings; of one that explains all, the least. A factor of a
// channel counts where the layer in front and a layer behind say the same, or one of them and the bias in front, so that one faulty
// layer makes none. Types are inferred.
QuantisedSource quantised_source(const Graph& source, const Graph& target);

// By place in the rows of a layer: what the source's number was multiplied by.
std::vector<double> element_scales(const Node& layer, const WeightRows& rows, const LayerScales& scales);
// And what that may be off by, of itself.
std::vector<double> element_errors(const Node& layer, const WeightRows& rows, const LayerScales& scales);

}  // namespace dnn
