// Constants as kernels read them: one for each value, layout and type, whichever targets ask for it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "graph/graph.h"
#include "loops/layout.h"
#include "package/package.h"

namespace dnn::codegen {

class PackedConstants {
 public:
  // The graph must outlive it, and keeps its own constants as they are.
  explicit PackedConstants(const Graph& graph) : graph_(graph) {}

  // The constant's place in the package; it is packed when it is asked for first.
  int64_t index_of(ValueId id, const loops::Layout& layout, DType dtype);
  // True where numbers of `dtype` are all that a constant holds.
  bool fits(ValueId id, DType dtype);
  // The largest absolute value in a constant of float32; infinity where one is a NaN, or of another type.
  double magnitude(ValueId id);
  Constants take() { return std::move(constants_); }

 private:
  const Graph& graph_;
  Constants constants_;
  std::map<std::tuple<ValueId, std::string, DType>, int64_t> index_;
  std::map<std::pair<ValueId, DType>, bool> fits_;
  std::map<ValueId, double> magnitudes_;
};

}  // namespace dnn::codegen
