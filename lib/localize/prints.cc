// Prints of parameters; see prints.h.
#include "localize/prints.h"

namespace dnn {

namespace {

constexpr double kSameNumbers = 1e-6;  // sums over one set of numbers in another order
constexpr size_t kFew = 3;             // so many numbers may be the same by chance

template <class T>
void take_all(const T* values, Print* print) {
  if (print->size == 0) return;
  // Several elements at a time, each with sums of its own, so that they are taken in vectors.
  constexpr size_t kLanes = 4;
  double sums[kLanes] = {}, products[kLanes] = {}, wrong[kLanes] = {}, high[kLanes], low[kLanes];
  std::fill(high, high + kLanes, static_cast<double>(values[0]));
  std::fill(low, low + kLanes, static_cast<double>(values[0]));
  const auto add = [&](double x, size_t lane) {
    sums[lane] += x;
    products[lane] += x * x;
    wrong[lane] += x - x;  // 0, or no number
    high[lane] = high[lane] < x ? x : high[lane];
    low[lane] = x < low[lane] ? x : low[lane];
  };
  size_t i = 0;
  for (; i + kLanes <= print->size; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(static_cast<double>(values[i + lane]), lane);
  }
  for (; i < print->size; ++i) add(static_cast<double>(values[i]), 0);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    print->sum += sums[lane];
    print->squares += products[lane];
    print->finite = print->finite && wrong[lane] == 0;
  }
  print->largest = *std::max_element(high, high + kLanes);
  print->least = *std::min_element(low, low + kLanes);
}

}  // namespace

void Print::take(const Tensor& tensor) {
  size = static_cast<size_t>(tensor.size());
  if (tensor.dtype() == DType::Float32) {
    take_all(tensor.data<float>(), this);
  } else {
    take_all(to_doubles(tensor).data(), this);
  }
}

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
