// Segments: parts of a graph that several threads compute at once, and which of them are done before which others begin.
#pragma once
#include <cstddef>
#include <vector>

#include "codegen/generate.h"

namespace dnn::codegen {

struct Segments {
  std::vector<size_t> of;                 // by NodeId: the segment that computes the node
  std::vector<std::vector<bool>> before;  // [a][b]: a is done before b begins, whatever else runs

  bool empty() const { return of.empty(); }
};

// As generate(), for segments that may run at once: values share memory only where that is safe, and no sample of a batch goes its own way.
Package generate(const Graph& graph, const GenerateOptions& options, const Segments& segments);

}  // namespace dnn::codegen
