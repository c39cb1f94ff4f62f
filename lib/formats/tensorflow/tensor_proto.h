// TensorFlow's element types, shapes and constant tensors.
#pragma once
#include <schemas/tensorflow.pb.h>

#include <memory>
#include <string>

#include "tensor/tensor.h"

namespace dnn::tensorflow {

DType dtype_of(DataType type);  // Unsupported for those that the IR lacks
DataType type_of(DType dtype);  // the same the other way
std::string type_name(DataType type);

// Extents that must all be known. Malformed otherwise.
Shape fixed_shape(const TensorShapeProto& proto);

// The tensor of these bytes: in place, with `owner` keeping them alive, where they are aligned. Malformed unless they are as
// many as the shape wants.
Tensor view_or_copy(DType dtype, const Shape& shape, Bytes bytes, std::shared_ptr<const void> owner);

// A GraphDef, or a SavedModel, whose tensors' contents stay in the file.
bool parse_graph_def(Bytes bytes, GraphDef* graph);
bool parse_saved_model(Bytes bytes, SavedModel* model);

// The tensor; takes the bytes out of the message, or finds them in its file. `room`: how many elements it may spell out beyond those that the file
// holds (a list may stop early, its last entry stands for the rest); what it uses is taken off. Malformed, Unsupported.
Tensor read_tensor(TensorProto& proto, const SharedBytes& file, int64_t* room);

}  // namespace dnn::tensorflow
