// QOperator: quantised networks as operators on integers (ONNX's QLinearConv and QLinearMatMul, ONNX Runtime's com.microsoft ones),
// the other of the two forms that ONNX Runtime's quantiser writes.
#pragma once
#include "graph/graph.h"

namespace dnn::onnx {

// DequantizeLinear, an operator on real numbers, QuantizeLinear become one operator on integers, where there is one that computes the
// same. An activation in between goes where saturation does what it does. All else stays as it is. Types must be inferred.
void to_qoperator(Graph& graph);

}  // namespace dnn::onnx
