// Fields of an ONNX file that the reader does not take: each is irrelevant by a row of a table, or refused.
#pragma once
#include "formats/leftovers.h"

namespace dnn::onnx {

class ModelProto;

// Throws Unsupported for a field of the model, its graphs, nodes, attributes, functions or tensors that nothing reads: one that
// this protobuf schema does not know, by its number.
void check_fields(const ModelProto& model, const IgnoredFields& ignored);

}  // namespace dnn::onnx
