// Prints of parameters; see prints.h.
#include "localize/prints.h"

namespace dnn {

namespace {

constexpr double kSameNumbers = 1e-6;  // sums over one set of numbers in another order
constexpr size_t kFew = 3;             // so many numbers may be the same by chance

}  // namespace

std::vector<Print> parameter_prints(const Graph& graph, const Node& node) {
  std::vector<Print> prints;
  bool large = false;
  for (ValueId v : node.inputs) {
    const Tensor* constant = graph.constant(v);
    if (constant == nullptr || !plain_numbers(constant->dtype())) continue;
    prints.emplace_back();
    prints.back().take(*constant);
    large = large || (prints.back().telling() && prints.back().size > kFew);
  }
  return large ? prints : std::vector<Print>();
}

bool same_parameters(const std::vector<Print>& a, const std::vector<Print>& b) {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                  [](const Print& x, const Print& y) { return x.like(y, kSameNumbers); });
}

}  // namespace dnn
