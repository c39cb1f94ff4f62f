// The record of inputs and outputs; see signature.h.
#include "formats/torch/signature.h"

#include <nlohmann/json.hpp>

namespace dnn::torch {
namespace {

using Json = nlohmann::ordered_json;

Json values(const Graph& graph, const std::vector<ValueId>& ids) {
  Json list = Json::array();
  for (ValueId v : ids) {
    const Value& value = graph.value(v);
    Json row = {{"name", value.name}, {"dtype", std::string(dtype_name(value.type.dtype))}, {"shape", nullptr}};
    if (value.type.shape) {
      Json shape = Json::array();
      for (const Dim& dim : *value.type.shape) {
        if (dim.fixed()) {
          shape.push_back(dim.size);
        } else {
          shape.push_back(dim.symbol.empty() ? Json() : Json(dim.symbol));
        }
      }
      row["shape"] = std::move(shape);
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

std::string signature_json(const Graph& graph) {
  const Json all = {
      {"name", graph.name}, {"inputs", values(graph, graph.inputs)}, {"outputs", values(graph, graph.outputs)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dnn::torch
