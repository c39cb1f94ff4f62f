// plan_batch() and cut_samples(): how samples and arrays map to a network's inputs.
#include <algorithm>
#include <cmath>

#include "infer/sample_source.h"

namespace dnn {
namespace {

std::optional<int64_t> common_first_extent(const std::vector<Type>& types) {
  std::optional<int64_t> common;
  for (const Type& type : types) {
    if (!type.shape || type.shape->empty() || !(*type.shape)[0].fixed()) return std::nullopt;
    const int64_t size = (*type.shape)[0].size;
    if (common && *common != size) return std::nullopt;
    common = size;
  }
  return common;
}

// Fills in scale and zero point where every reader of the input dequantises it alike, per tensor.
void find_quantization(const Graph& graph, ValueId input, InputSlot* slot) {
  const Uses uses(graph);
  for (NodeId id : uses.readers[input]) {
    const Node& node = graph.node(id);
    const Tensor *scale = graph.constant(node.input(1)), *zero_point = graph.constant(node.input(2));
    if (node.op != "DequantizeLinear" || node.inputs[0] != input || scale == nullptr || scale->size() != 1) return;
    slot->scale = to_doubles(*scale)[0];
    slot->zero_point = zero_point == nullptr ? 0 : to_int64s(*zero_point)[0];
  }
}

bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

// The array in the input's dtype, which rounds floats at most: a number that integers do not hold, or that overflows, is another model's.
Tensor as_given(const Tensor& array, const InputSlot& slot, const std::string& what = {}) {
  const bool rounds = is_half(slot.stated) && array.dtype() != slot.stated;
  Tensor typed = convert(rounds ? convert(array, slot.stated) : array, slot.dtype);
  const bool real = is_float(slot.dtype);
  const bool wider = real && dtype_size(slot.dtype) >= dtype_size(array.dtype());
  if (wider || (!real && !is_integer(slot.dtype))) return typed;
  const std::vector<double> before = to_doubles(array), after = to_doubles(typed);
  for (size_t i = 0; i < before.size(); ++i) {
    if (real ? std::isinf(after[i]) == std::isinf(before[i]) : after[i] == before[i]) continue;
    fail_malformed(what.empty() ? "" : cat(what, ": "), "input '", slot.name, "' is ", dtype_name(slot.dtype),
                   ", which does not hold ", exact_text(before[i]), " of the given ", dtype_name(array.dtype()),
                   " numbers");
  }
  return typed;
}

}  // namespace

Tensor fit(const Tensor& tensor, const InputSlot& slot) {
  if (slot.dtype == tensor.dtype() && !is_half(slot.stated)) return tensor;
  if (!is_float(tensor.dtype()) || !(slot.scale > 0) || !is_integer(slot.dtype)) return as_given(tensor, slot);
  const int bits = dtype_bits(slot.dtype);
  const bool sign = dtype_class(slot.dtype) == DTypeClass::Signed;
  const double low = sign ? -std::ldexp(1.0, bits - 1) : 0, high = std::ldexp(1.0, sign ? bits - 1 : bits) - 1;
  std::vector<double> values = to_doubles(tensor);
  for (double& x : values)
    x = std::clamp(std::nearbyint(x / slot.scale) + static_cast<double>(slot.zero_point), low, high);
  return convert(Tensor::of<double>(tensor.shape(), values), slot.dtype);
}

BatchPlan plan_batch(const Package& package) {
  BatchPlan plan;
  const std::optional<int64_t> in = common_first_extent(package.input_types);
  const std::optional<int64_t> out = common_first_extent(package.output_types);
  plan.batched = in && out && *in == *out && *in >= 1;
  if (plan.batched) plan.batch = *in;
  for (size_t i = 0; i < package.input_types.size(); ++i) {
    InputSlot slot;
    slot.name = package.graph().value(package.graph().inputs[i]).name;
    slot.dtype = package.input_types[i].dtype;
    try {
      slot.shape = package.input_types[i].fixed_shape();
    } catch (Error& e) {
      e.within(cat("input '", slot.name, "' (fix it with --shape)"));
      throw;
    }
    if (plan.batched) slot.shape[0] = 1;
    if (is_integer(slot.dtype)) {
      const Graph& source = package.source.structure();
      find_quantization(source, source.inputs[i], &slot);
    } else if (slot.dtype == DType::Float64) {
      const Graph& source = package.source.structure();
      const DType stated = source.value(source.inputs[i]).type.dtype;
      if (is_half(stated)) slot.stated = stated;
    }
    plan.slots.push_back(std::move(slot));
  }
  return plan;
}

int64_t count_samples(DType dtype, const Shape& shape, const InputSlot& slot, const std::string& what) {
  const bool has_batch_axis = !slot.shape.empty() && slot.shape[0] == 1;
  const bool same_kind = (dtype == DType::String) == (slot.dtype == DType::String);
  if (same_kind && shape == slot.shape) return 1;
  if (same_kind && has_batch_axis) {
    const Shape inner(slot.shape.begin() + 1, slot.shape.end());
    if (shape == inner) return 1;
    if (shape.size() == slot.shape.size() && slot.dtype != DType::String &&
        std::equal(inner.begin(), inner.end(), shape.begin() + 1)) {
      return shape[0];
    }
  }
  fail_malformed(what, ": input '", slot.name, "' wants ", dtype_name(slot.dtype), shape_text(slot.shape),
                 ", is given ", dtype_name(dtype), shape_text(shape));
}

SampleCutter::SampleCutter(const Tensor& array, const InputSlot& slot, const std::string& what)
    : shape_(slot.shape), count_(count_samples(array.dtype(), array.shape(), slot, what)) {
  Tensor typed = array.dtype() == slot.dtype && !is_half(slot.stated) ? array : as_given(array, slot, what);
  if (count_ == 1 && typed.shape() != shape_) typed = typed.reshaped(shape_);
  array_ = std::make_shared<const Tensor>(std::move(typed));
}

Tensor SampleCutter::at(int64_t i) const {
  if (count_ == 1) return *array_;
  const size_t bytes = array_->size_bytes() / static_cast<size_t>(count_);
  return Tensor::view(array_->dtype(), shape_, array_->bytes().subspan(static_cast<size_t>(i) * bytes, bytes), array_);
}

std::vector<Tensor> cut_samples(const Tensor& array, const InputSlot& slot, const std::string& what) {
  const SampleCutter cutter(array, slot, what);
  std::vector<Tensor> samples;
  for (int64_t i = 0; i < cutter.count(); ++i) samples.push_back(cutter.at(i));
  return samples;
}

}  // namespace dnn
