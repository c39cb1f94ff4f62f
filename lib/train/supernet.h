// Supernets: networks whose branched children (lib/branch) share their weights. The largest child is the network itself.
#pragma once
#include <memory>
#include <string>

#include "branch/ranges.h"
#include "branch/stages.h"
#include "train/trainer.h"

namespace dnn::train {

struct Supernet {
  Graph model;  // with a batch of one: what the stages are of
  branch::SourceStages stages;
  branch::ElasticRanges ranges;
};

// Throws what find_stages() throws.
std::shared_ptr<const Supernet> make_supernet(Graph model, const branch::ElasticRanges& ranges);

// Those of a training step: the smallest, then random ones. Throws Unsupported for a network that cannot be masked.
Children children_of(const std::shared_ptr<const Supernet>& supernet);

}  // namespace dnn::train
