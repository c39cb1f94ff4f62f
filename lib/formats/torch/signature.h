// What TorchScript does not say of a network: the names, element types and extents of its inputs and outputs, as a record of
// our own beside it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::torch {

// Its name among the extra files of an archive.
inline constexpr const char* kSignatureKey = "dnn-tools.signature.json";

// {"name": text, "inputs": [{"name": text, "dtype": "float32", "shape": [1, "batch", null]}], "outputs": [...]}: an extent that
// is open is its symbol, or null where it has none.
std::string signature_json(const Graph& graph);

struct SignatureValue {
  std::string name;
  Type type;
};
struct ModelSignature {
  std::string name;
  std::vector<SignatureValue> inputs, outputs;
};
// What signature_json() wrote. Throws Malformed.
ModelSignature parse_signature(std::string_view json);

}  // namespace dnn::torch
