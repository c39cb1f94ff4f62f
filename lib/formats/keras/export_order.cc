// The order of a model's layers; see export.h.
//
// Keras sorts them by their distance from the outputs, the farthest first; those equally far by the order in which a walk from the
// outputs meets them.
#include <algorithm>
#include <functional>

#include "formats/keras/export.h"

namespace dnn::keras {
namespace {

void collect_layers(const Json& v, std::vector<LayerId>* out) {
  if (v.is_object() && v.contains("tensor")) {
    out->push_back(v["tensor"][0].get<LayerId>());
  } else if (v.is_structured()) {
    for (const Json& item : v) collect_layers(item, out);
  }
}

void renumber(Json& v, const std::vector<LayerId>& place) {
  if (v.is_object() && v.contains("tensor")) {
    v["tensor"][0] = place[v["tensor"][0].get<size_t>()];
  } else if (v.is_structured()) {
    for (Json& item : v) renumber(item, place);
  }
}

}  // namespace

void Plan::order_as_keras() {
  const size_t n = layers_.size();
  std::vector<std::vector<LayerId>> inputs(n);
  for (size_t i = 0; i < n; ++i) {
    collect_layers(layers_[i].args, &inputs[i]);
    collect_layers(layers_[i].kwargs, &inputs[i]);
  }
  std::vector<int> met(n, -1), depth(n, 0);
  std::vector<LayerId> finished;
  int next = 0;
  struct Visit {
    size_t layer, input;
  };
  for (ValueId v : graph_.outputs) {
    std::vector<Visit> open = {{static_cast<size_t>(maker(v)), 0}};
    if (met[open[0].layer] >= 0) continue;
    met[open[0].layer] = next++;
    while (!open.empty()) {
      Visit& here = open.back();
      if (here.input == inputs[here.layer].size()) {
        finished.push_back(static_cast<LayerId>(here.layer));
        open.pop_back();
        continue;
      }
      const size_t source = inputs[here.layer][here.input++];
      if (met[source] >= 0) continue;
      met[source] = next++;
      open.push_back({source, 0});
    }
  }
  std::reverse(finished.begin(), finished.end());
  for (LayerId id : finished) {
    for (LayerId source : inputs[id]) {
      int& far = depth[source];
      far = std::max(far, depth[id] + 1);
    }
  }
  std::vector<LayerId> order;
  for (size_t i = 0; i < n; ++i) {
    if (met[i] >= 0 || layers_[i].class_name == "InputLayer") order.push_back(static_cast<LayerId>(i));
  }
  const auto before = [&](LayerId a, LayerId b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    return depth[i] != depth[j] ? depth[i] > depth[j] : met[i] < met[j];
  };
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<LayerId> place(n, -1);
  std::vector<WrittenLayer> sorted;
  for (LayerId id : order) {
    place[id] = static_cast<LayerId>(sorted.size());
    sorted.push_back(std::move(layers_[id]));
  }
  for (WrittenLayer& layer : sorted) {
    renumber(layer.args, place);
    renumber(layer.kwargs, place);
  }
  layers_ = std::move(sorted);
  for (auto& entry : makers_) entry.second = place[entry.second];
}

}  // namespace dnn::keras
