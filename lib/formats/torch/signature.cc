// The record of inputs and outputs; see signature.h.
#include "formats/torch/signature.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "formats/torch/json.h"

namespace dnn::torch {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered values(const Graph& graph, const std::vector<ValueId>& ids) {
  Ordered list = Ordered::array();
  for (ValueId v : ids) {
    const Value& value = graph.value(v);
    Ordered row = {{"name", value.name}, {"dtype", std::string(dtype_name(value.type.dtype))}, {"shape", nullptr}};
    if (value.type.shape) {
      Ordered shape = Ordered::array();
      for (const Dim& dim : *value.type.shape) {
        if (dim.fixed()) {
          shape.push_back(dim.size);
        } else {
          shape.push_back(dim.symbol.empty() ? Ordered() : Ordered(dim.symbol));
        }
      }
      row["shape"] = std::move(shape);
    }
    list.push_back(std::move(row));
  }
  return list;
}

std::vector<SignatureValue> parse_values(const Json& list) {
  std::vector<SignatureValue> result;
  for (const Json& row : array(list, "a signature's values")) {
    SignatureValue value;
    value.name = text(member(row, "name"), "a name");
    if (value.name.empty()) fail_malformed("signature: a value without a name");
    value.type.dtype = dtype_from_name(text(member(row, "dtype"), "a dtype"));
    const Json& shape = member(row, "shape");
    if (!shape.is_null()) {
      std::vector<Dim> dims;
      for (const Json& dim : array(shape, "a shape")) {
        if (dim.is_null()) {
          dims.emplace_back();
        } else if (dim.is_string()) {
          dims.emplace_back(text(dim, "an extent"));
        } else {
          dims.emplace_back(integer(dim, "an extent"));
          if (!dims.back().fixed()) fail_malformed("signature: a negative extent");
        }
      }
      value.type.shape = std::move(dims);
    }
    result.push_back(std::move(value));
  }
  return result;
}

}  // namespace

ModelSignature parse_signature(std::string_view text_of_json) {
  const Json json = parse_json(text_of_json, kSignatureKey);
  ModelSignature signature;
  signature.name = text(member(json, "name"), "a name");
  signature.inputs = parse_values(member(json, "inputs"));
  signature.outputs = parse_values(member(json, "outputs"));
  return signature;
}

std::string signature_json(const Graph& graph) {
  const Ordered all = {
      {"name", graph.name}, {"inputs", values(graph, graph.inputs)}, {"outputs", values(graph, graph.outputs)}};
  return json_text(all);
}

}  // namespace dnn::torch
