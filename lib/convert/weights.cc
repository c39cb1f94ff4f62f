// Putting weights onto a graph; see weights.h.
#include "convert/weights.h"

#include <algorithm>
#include <set>

namespace dnn {
namespace {

Shape without_ones(const Shape& shape) {
  Shape result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result), [](int64_t extent) { return extent != 1; });
  return result;
}

}  // namespace

std::vector<std::string> put_weights(Graph& graph, const Graph& weights) {
  if (!weights.outputs.empty())
    fail_usage("the weights have a graph of their own; a state dict or safetensors has none");
  std::vector<std::string> homeless;
  std::set<ValueId> replaced;
  for (ValueId v = 0; v < weights.value_count(); ++v) {
    const Tensor* given = weights.constant(v);
    const std::string& name = weights.value(v).name;
    if (given == nullptr || ends_with(name, "num_batches_tracked")) continue;
    const ValueId at = graph.find_value(name);
    const Tensor* own = graph.constant(at);
    if (own == nullptr) {
      homeless.push_back(quoted(name));
      continue;
    }
    if (own->dtype() != given->dtype() || without_ones(own->shape()) != without_ones(given->shape())) {
      fail_malformed("weight ", quoted(name), " is ", dtype_name(given->dtype()), shape_text(given->shape()),
                     ", in the graph ", dtype_name(own->dtype()), shape_text(own->shape()));
    }
    graph.value(at).constant = given->reshaped(own->shape());
    replaced.insert(at);
  }
  if (!homeless.empty()) {
    const size_t n = homeless.size();
    homeless.resize(std::min<size_t>(n, 3));
    fail_malformed(n, " weights have no place in the graph: ", join(homeless), n > 3 ? ", ..." : "");
  }
  std::vector<std::string> kept;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* own = graph.constant(v);
    if (own != nullptr && is_float(own->dtype()) && own->size() > 1 && replaced.count(v) == 0)
      kept.push_back(graph.value(v).name);
  }
  return kept;
}

}  // namespace dnn
