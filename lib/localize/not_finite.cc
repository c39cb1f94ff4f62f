// Origins of NaN and infinities; see not_finite.h.
#include "localize/not_finite.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "localize/edits.h"
#include "tensor/dispatch.h"

namespace dnn {
namespace {

// The difference from itself is 0, or NaN; without a branch and so many at a time, so that it is done in vectors.
template <class T>
bool all_finite(const T* data, int64_t n) {
  constexpr int64_t kLanes = 16;
  int other[kLanes] = {};
  const auto look = [&](int64_t i, int64_t lane) {
    const auto value = static_cast<Compute<T>>(data[i]);
    other[lane] |= value - value != 0 ? 1 : 0;
  };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) look(i + lane, lane);
  }
  for (; i < n; ++i) look(i, 0);
  return std::all_of(std::begin(other), std::end(other), [](int o) { return o == 0; });
}

bool is_finite(const Tensor& tensor) {
  if (!is_float(tensor.dtype()) || dtype_bits(tensor.dtype()) < 16) return true;
  return dispatch_float(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return all_finite(tensor.data<T>(), tensor.size());
  });
}

Shape index_of(int64_t flat, const Shape& shape) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
  return index;
}

void count_not_finite(const Tensor& tensor, NotFiniteOrigin* origin) {
  dispatch_float(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = tensor.data<T>();
    bool first = origin->n_samples == 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const auto value = static_cast<Compute<T>>(data[i]);
      if (std::isfinite(value)) continue;
      ++(std::isnan(value) ? origin->n_nan : origin->n_infinite);
      if (first) origin->element = index_of(i, tensor.shape());
      first = false;
    }
  });
}

std::string parameter_not_finite(const Graph& graph, const Uses& uses, const std::string& value) {
  const ValueId id = graph.find_value(value);
  const NodeId maker = id == kNoValue ? -1 : uses.producer[id];
  if (maker < 0) return "";
  for (ValueId v : graph.node(maker).inputs) {
    const ValueId known = v == kNoValue ? kNoValue : constant_behind(graph, uses, v);
    if (known != kNoValue && !is_finite(*graph.constant(known))) return graph.value(known).name;
  }
  return "";
}

}  // namespace

void NotFinite::add(const std::vector<Layer>& layers, const std::vector<stream::TensorRecord>& records,
                    const std::string& sample, ThreadPool* pool) {
  std::map<std::string_view, const Tensor*> values;
  for (const stream::TensorRecord& record : records) values.emplace(record.name, &record.tensor);
  std::vector<const Tensor*> held(layers.size(), nullptr);
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto at = values.find(layers[i].name);
    if (at != values.end()) held[i] = at->second;
  }
  std::vector<char> bad(layers.size(), 0);
  const auto look = [&](int64_t i) {
    const size_t at = i;
    bad[at] = held[at] != nullptr && !is_finite(*held[at]) ? 1 : 0;
  };
  const auto n = static_cast<int64_t>(layers.size());
  if (pool != nullptr) {
    share_out(*pool, n, look);
  } else {
    for (int64_t i = 0; i < n; ++i) look(i);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto inherits = [&](size_t input) { return bad[input] != 0; };
    if (bad[i] == 0 || std::any_of(layers[i].inputs.begin(), layers[i].inputs.end(), inherits)) continue;
    auto at = std::find_if(found_.begin(), found_.end(), [&](const NotFiniteOrigin& o) { return o.layer == i; });
    if (at == found_.end()) {
      at = found_.emplace(found_.end());
      at->layer = i;
      at->sample = sample;
    }
    count_not_finite(*held[i], &*at);
    ++at->n_samples;
  }
}

std::vector<NotFiniteOrigin> NotFinite::origins(const std::vector<Layer>& layers, const Graph* graph) const {
  std::vector<NotFiniteOrigin> sorted = found_;
  std::sort(sorted.begin(), sorted.end(),
            [](const NotFiniteOrigin& a, const NotFiniteOrigin& b) { return a.layer < b.layer; });
  if (graph == nullptr || sorted.empty()) return sorted;
  const Uses uses(*graph);
  for (NotFiniteOrigin& origin : sorted)
    origin.parameter = parameter_not_finite(*graph, uses, layers[origin.layer].name);
  return sorted;
}

}  // namespace dnn
