// Writing what picks elements by their numbers, orders them or runs along an axis.
#include "formats/tflite/exports.h"

namespace dnn::tflite {
namespace {

// Counted from the front, as TFLite's are; by extents of the axes that they run along, from `first` on.
int32_t index_tensor(Export& e, size_t i, size_t first, bool tuples) {
  const dnn::Tensor* known = e.constant(i);
  if (known == nullptr) return e.input(i);
  std::vector<int64_t> values = to_int64s(*known);
  const std::vector<int64_t> shape = e.shape(0);
  const auto depth = tuples ? static_cast<size_t>(known->shape().back()) : 1;
  for (size_t k = 0; k < values.size(); ++k) {
    const int64_t extent = shape[first + k % depth];
    if (values[k] < 0 && extent < 0) e.refuse("an index from the back of an open extent");
    values[k] += values[k] < 0 ? extent : 0;
  }
  return e.store("indices", dnn::Tensor::of<int64_t>(known->shape(), values));
}

}  // namespace

void write_gather(Export& e) {
  const auto axis = static_cast<int>(e.node().attribute_int("axis", 0));
  const size_t at = axis < 0 ? axis + static_cast<int>(e.shape(0).size()) : axis;
  e.op(36, {e.input(0), index_tensor(e, 1, at, false)}, {e.output()}, {23, CreateGatherOptions(e.builder(), axis)});
}

void write_gather_nd(Export& e) {
  if (e.node().attribute_int("batch_dims", 0) != 0) e.refuse("tuples for each of a batch");
  e.op(107, {e.input(0), index_tensor(e, 1, 0, true)}, {e.output()}, {83, CreateAnyTable(e.builder())});
}

void write_top_k(Export& e) {
  if (e.node().attribute_int("largest", 1) == 0) e.refuse("the smallest elements");
  const int64_t axis = e.node().attribute_int("axis", -1);
  if (axis != -1 && axis != static_cast<int64_t>(e.shape(0).size()) - 1) e.refuse("along axis ", axis);
  const auto k = static_cast<int32_t>(e.known_ints(1, "number of elements").at(0));
  e.op(48, {e.input(0), e.store("k", dnn::Tensor::scalar(k))}, {e.output(), e.output(1)},
       {34, CreateAnyTable(e.builder())});
}

void write_cumsum(Export& e) {
  const auto axis = static_cast<int32_t>(e.known_ints(1, "axis").at(0));
  e.op(128, {e.input(0), e.store("axis", dnn::Tensor::scalar(axis))}, {e.output()},
       {102, CreateCumsumOptions(e.builder(), e.node().attribute_int("exclusive", 0) != 0,
                                 e.node().attribute_int("reverse", 0) != 0)});
}

void write_reverse_sequence(Export& e) {
  const auto time = static_cast<int>(e.node().attribute_int("time_axis", 0)),
             batch = static_cast<int>(e.node().attribute_int("batch_axis", 1));
  e.op(112, {e.input(0), e.input(1)}, {e.output()}, {87, CreateReverseSequenceOptions(e.builder(), time, batch)});
}

}  // namespace dnn::tflite
