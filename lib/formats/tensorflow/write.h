// Steps that writing GraphDef and SavedModel share.
#pragma once
#include "formats/tensorflow/export.h"

namespace dnn::tensorflow {

// The graph as TensorFlow wants it: types inferred, channels last.
Graph prepared(const Graph& source);
void set_shape(TensorShapeProto* proto, const Type& type);

}  // namespace dnn::tensorflow
