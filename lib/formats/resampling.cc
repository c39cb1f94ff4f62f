// Factors and indices of Resize; see resampling.h.
#include "formats/resampling.h"

#include <cmath>
#include <numeric>

#include "ops/op.h"

namespace dnn {

namespace {
bool gives(float factor, int64_t in, int64_t out) {
  return factor > 0 && std::floor(static_cast<double>(factor) * static_cast<double>(in)) == static_cast<double>(out);
}
}  // namespace

std::optional<float> resize_factor(double factor, int64_t in, int64_t out) {
  const auto nearest = static_cast<float>(factor);
  for (float candidate : {nearest, std::nextafter(nearest, INFINITY), std::nextafter(nearest, 0.0f)}) {
    if (gives(candidate, in, out)) return candidate;
  }
  return std::nullopt;
}

float resize_factor(double factor) {
  const auto nearest = static_cast<float>(factor);
  return static_cast<double>(nearest) < factor ? std::nextafter(nearest, INFINITY) : nearest;
}

std::vector<int64_t> nearest_elements(const Attributes& attributes, int64_t in, int64_t out,
                                      std::optional<float> factor) {
  Node node;
  node.op = "Resize";
  node.attributes = attributes;
  node.attributes.erase("axes");
  node.inputs.assign(4, 0);
  node.outputs = {0};
  Tensor x(DType::Int64, {in});
  std::iota(x.mutable_data<int64_t>(), x.mutable_data<int64_t>() + in, int64_t{0});
  const Tensor scale = Tensor::of<float>({1}, {factor.value_or(1)}), size = Tensor::of<int64_t>({1}, {out});
  ReferenceContext context{node, {&x, nullptr, factor ? &scale : nullptr, factor ? nullptr : &size}, {}, {}};
  context.outputs.resize(1);
  find_op("", "Resize")->reference(context);
  return to_int64s(context.outputs[0]);
}

ValueId pick_elements(GraphBuilder& steps, ValueId x, const std::vector<PickedAxis>& axes) {
  for (const PickedAxis& picked : axes) {
    const Shape shape = {static_cast<int64_t>(picked.elements.size())};
    const ValueId places = steps.store("elements", Tensor::of<int64_t>(shape, picked.elements));
    x = steps.emit("Gather", {x, places}, {{"axis", picked.axis}});
  }
  return x;
}

}  // namespace dnn
