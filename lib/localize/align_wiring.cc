// Pairs by wiring; see align_wiring.h.
#include "localize/align_wiring.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ops/op.h"

namespace dnn {
namespace {

// Unpaired layers by their operator and the layers that they read, if all of these are paired.
using LayersByInputs = std::map<std::pair<std::string, std::vector<size_t>>, std::vector<size_t>>;
LayersByInputs by_paired_inputs(const AlignSide& side, const std::vector<size_t>& partners) {
  LayersByInputs found;
  for (size_t i = 0; i < side.layers.size(); ++i) {
    if (partners[i] != kNoLayer || side.makers[i] < 0) continue;
    std::vector<size_t> inputs = inputs_of(side, side.graph.node(side.makers[i]));
    if (inputs.empty() || std::any_of(inputs.begin(), inputs.end(),
                                      [&](size_t k) { return k == kNoLayer || partners[k] >= PairedLayers::kNever; }))
      continue;
    found[{side.layers[i].op, std::move(inputs)}].push_back(i);
  }
  return found;
}

// Pairs nodes of one operator with all inputs paired with each other, and no other node like it.
bool match_inputs(const AlignSide& a, const AlignSide& b, PairedLayers* pairs) {
  const LayersByInputs ours = by_paired_inputs(a, pairs->source_partner());
  LayersByInputs theirs;  // by the source's layers
  for (const auto& [key, list] : by_paired_inputs(b, pairs->target_partner())) {
    auto [op, inputs] = key;
    for (size_t& k : inputs) k = pairs->target_partner()[k];
    theirs[{op, inputs}] = list;
  }
  bool any = false;
  for (const auto& [key, list] : ours) {
    const auto found = theirs.find(key);
    if (found == theirs.end() || list.size() != 1 || found->second.size() != 1) continue;
    size_t i = list[0], j = found->second[0];
    if (!folded_alike(a, b, i, j)) {  // what comes out is one value, not what lies between
      i = a.chains[i].back();
      j = b.chains[j].back();
    }
    if (!pairs->possible(i, j) || !may_be_one_layer(a, b, i, j)) continue;
    pairs->take(i, j, LayerPair::By::Wiring);
    any = true;
  }
  return any;
}

// Where paired nodes read a layer: the layer that the others of the pairs read in its place, if that is one layer; kNoLayer if not,
// and where no pair reads it. Of an Add or a Mul, whose operands may stand in any order, the place says nothing.
size_t read_instead(const AlignSide& ours, const AlignSide& theirs, const std::vector<size_t>& partners, size_t i) {
  size_t found = kNoLayer;
  if (ours.values[i] == kNoValue) return kNoLayer;
  for (NodeId id : ours.readers[ours.values[i]]) {
    const Node& reader = ours.graph.node(id);
    if (has_trait(reader, Trait::Commutes)) continue;
    const auto layer = ours.by_value.find(reader.output(0));
    const size_t partner = layer == ours.by_value.end() ? kNoLayer : partners[layer->second];
    if (partner >= PairedLayers::kNever || theirs.makers[partner] < 0) continue;
    const Node& other = theirs.graph.node(theirs.makers[partner]);
    const auto place = std::find(reader.inputs.begin(), reader.inputs.end(), ours.values[i]) - reader.inputs.begin();
    const auto read = theirs.by_value.find(other.input(place));
    if (other.op != reader.op || read == theirs.by_value.end() || (found != kNoLayer && found != read->second))
      return kNoLayer;
    found = read->second;
  }
  return found;
}

// Pairs layers of one operator that the same paired nodes read, where the layers in front of them differ.
bool match_readers(const AlignSide& a, const AlignSide& b, PairedLayers* pairs) {
  bool any = false;
  for (size_t i = 0; i < a.layers.size(); ++i) {
    if (pairs->source_partner()[i] != kNoLayer) continue;
    const size_t j = read_instead(a, b, pairs->source_partner(), i);
    if (j == kNoLayer || pairs->target_partner()[j] != kNoLayer || a.layers[i].op != b.layers[j].op ||
        !may_share_name(a, b, i, j) || !shapes_fit(a, b, i, j))
      continue;
    if (read_instead(b, a, pairs->target_partner(), j) != i || !pairs->possible(i, j)) continue;
    pairs->take(i, j, LayerPair::By::Wiring);
    any = true;
  }
  return any;
}

}  // namespace

void match_wiring(const AlignSide& a, const AlignSide& b, PairedLayers* pairs) {
  while (match_inputs(a, b, pairs) || match_readers(a, b, pairs)) {
  }
}

}  // namespace dnn
