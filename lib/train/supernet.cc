// The children of a supernet's steps; see supernet.h.
#include "train/supernet.h"

#include "base/error.h"
#include "branch/make.h"
#include "branch/masked.h"
#include "train/random.h"

namespace dnn::train {

std::shared_ptr<const Supernet> make_supernet(Graph model, const branch::ElasticRanges& ranges) {
  auto supernet = std::make_shared<Supernet>();
  supernet->model = branch::prepare_source(std::move(model));
  supernet->stages = branch::find_stages(supernet->model);
  supernet->ranges = ranges;
  return supernet;
}

Children children_of(const std::shared_ptr<const Supernet>& supernet) {
  const size_t branches = supernet->ranges.devices.size();
  const auto inputs = std::make_shared<const std::vector<branch::MaskInput>>(
      branch::mask_network(supernet->model, supernet->stages, branches).inputs);
  Children children;
  children.count = supernet->ranges.networks - 1;
  children.network = [supernet, branches](const Graph& model) {
    return branch::mask_network(model, supernet->stages, branches).graph;
  };
  children.masks = [supernet, inputs](uint64_t draw, int64_t index) {
    const branch::StretchPlan child = index == 0 ? smallest_child(supernet->ranges, supernet->stages)
                                                 : random_child(supernet->ranges, supernet->stages,
                                                                random_bits(draw, {static_cast<uint64_t>(index)}));
    return branch::mask_values(supernet->model, supernet->stages, supernet->ranges, *inputs, child);
  };
  return children;
}

}  // namespace dnn::train
