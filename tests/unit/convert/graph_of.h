// The graph of a body of opset 17.
#pragma once
#include "graph_case.h"

namespace dnn {

inline Graph graph_of(const std::string& body) { return typed(body, "  opset 17\n"); }

}  // namespace dnn
