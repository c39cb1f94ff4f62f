// Kernels that fill borders; see border_kernel.h.
#include "codegen/border_kernel.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/text.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// The elements from `begin` on, `count` of them, along `axis`: over all of the axes after it (borders included) and the inside of
// those before it.
Stmt border_part(const BufferRef& y, int64_t fill, size_t axis, int64_t begin, int64_t count) {
  const size_t rank = y->shape.size();
  const auto low = [&](size_t a) { return y->layout.halo_low(static_cast<int>(a)); };
  std::vector<Expr> index;
  for (size_t a = 0; a < rank; ++a) {
    const Expr d = variable(cat("d", a));
    index.push_back(a < axis ? d : a == axis ? d + begin : d - low(a));
  }
  Stmt body = store(y, index, constant_int(y->dtype, fill));
  // A blocked axis innermost: its elements lie side by side.
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t a) { return y->layout.block_of(static_cast<int>(a)) == 1; });
  for (size_t i = rank; i-- > 0;) {
    const size_t a = order[i];
    const int64_t extent = a < axis    ? y->shape[a]
                           : a == axis ? count
                                       : y->shape[a] + low(a) + y->layout.halo_high(static_cast<int>(a));
    body = loop(cat("d", a), extent, std::move(body));
  }
  return body;
}

}  // namespace

Kernel border_kernel(const BufferRef& y, int64_t fill, const std::string& what) {
  std::vector<Stmt> parts;
  for (size_t axis = 0; axis < y->shape.size(); ++axis) {
    const int64_t low = y->layout.halo_low(static_cast<int>(axis)), high = y->layout.halo_high(static_cast<int>(axis));
    for (const auto& [begin, count] : {std::pair(-low, low), std::pair(y->shape[axis], high)}) {
      if (count != 0) parts.push_back(border_part(y, fill, axis, begin, count));
    }
  }
  Kernel kernel;
  kernel.pattern = "border";
  kernel.comment = (fill == 0 ? "zero border of " : "border of ") + what + " layout " + y->layout.text();
  kernel.arguments = {y};
  kernel.body = block(std::move(parts));
  return kernel;
}

}  // namespace dnn::codegen
