// plan_batch() and cut_samples(): how samples and arrays map to a network's inputs.
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

}  // namespace

BatchPlan plan_batch(const Package& package) {
  BatchPlan plan;
  const std::optional<int64_t> in = common_first_extent(package.input_types);
  const std::optional<int64_t> out = common_first_extent(package.output_types);
  plan.batched = in && out && *in == *out && *in >= 1;
  if (plan.batched) plan.batch = *in;
  for (size_t i = 0; i < package.input_types.size(); ++i) {
    InputSlot slot;
    slot.name = package.graph.value(package.graph.inputs[i]).name;
    slot.dtype = package.input_types[i].dtype;
    try {
      slot.shape = package.input_types[i].fixed_shape();
    } catch (Error& e) {
      e.within(cat("input '", slot.name, "' (fix it with --shape)"));
      throw;
    }
    if (plan.batched) slot.shape[0] = 1;
    plan.slots.push_back(std::move(slot));
  }
  return plan;
}

std::vector<Tensor> cut_samples(const Tensor& array, const InputSlot& slot, const std::string& what) {
  const auto refuse = [&] {
    fail_malformed(what, ": input '", slot.name, "' wants ", dtype_name(slot.dtype), shape_text(slot.shape),
                   ", is given ", dtype_name(array.dtype()), shape_text(array.shape()));
  };
  if ((array.dtype() == DType::String) != (slot.dtype == DType::String)) refuse();
  const Tensor typed = array.dtype() == slot.dtype ? array : convert(array, slot.dtype);
  if (typed.shape() == slot.shape) return {typed};
  const bool has_batch_axis = !slot.shape.empty() && slot.shape[0] == 1;
  if (!has_batch_axis) refuse();
  const Shape inner(slot.shape.begin() + 1, slot.shape.end());
  if (typed.shape() == inner) return {typed.reshaped(slot.shape)};
  if (typed.rank() != static_cast<int>(slot.shape.size()) || slot.dtype == DType::String ||
      !std::equal(inner.begin(), inner.end(), typed.shape().begin() + 1)) {
    refuse();
  }
  std::vector<Tensor> samples;
  const size_t bytes = typed.dim(0) == 0 ? 0 : typed.size_bytes() / static_cast<size_t>(typed.dim(0));
  const auto owner = std::make_shared<const Tensor>(typed);
  for (int64_t i = 0; i < typed.dim(0); ++i) {
    samples.push_back(
        Tensor::view(slot.dtype, slot.shape, typed.bytes().subspan(static_cast<size_t>(i) * bytes, bytes), owner));
  }
  return samples;
}

}  // namespace dnn
