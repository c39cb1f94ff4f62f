// Constants as kernels read them; see packed_constants.h.
#include "codegen/packed_constants.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dnn::codegen {

int64_t PackedConstants::index_of(ValueId id, const loops::Layout& layout, DType dtype) {
  auto [entry, fresh] = index_.try_emplace({id, layout.text(), dtype}, static_cast<int64_t>(constants_.size()));
  if (fresh) {
    const Tensor arranged = convert(graph_.constant(id)->arranged_copy(), dtype);
    constants_.push_back(layout.row_major() ? arranged : loops::pack(arranged, layout));
  }
  return entry->second;
}

bool PackedConstants::fits(ValueId id, DType dtype) {
  auto [entry, fresh] = fits_.try_emplace({id, dtype}, false);
  if (fresh) {
    const Tensor arranged = graph_.constant(id)->arranged_copy();
    entry->second = arranged.identical(convert(convert(arranged, dtype), arranged.dtype()));
  }
  return entry->second;
}

double PackedConstants::magnitude(ValueId id) {
  auto [entry, fresh] = magnitudes_.try_emplace(id, std::numeric_limits<double>::infinity());
  if (fresh && graph_.value(id).type.dtype == DType::Float32) {
    double most = 0;
    for (const double x : to_doubles(*graph_.constant(id))) most = std::isnan(x) ? x : std::max(std::abs(x), most);
    if (!std::isnan(most)) entry->second = most;
  }
  return entry->second;
}

}  // namespace dnn::codegen
