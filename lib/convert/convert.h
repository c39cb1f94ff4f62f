// Converting: a graph as a format can hold it.
#pragma once
#include <string>

#include "formats/format.h"

namespace dnn {

// Writes the graph in the format that the path names, after that format's passes (batch norms folded into the convolutions in
// front of them where the format has none). Throws what they and write_model() throw.
void convert_model(Graph graph, const std::string& path, const WriteOptions& options);

}  // namespace dnn
