// Indexing; see indexing.h.
#include "ops/indexing.h"

#include "ops/movement.h"

namespace dnn {

std::vector<int64_t> element_offsets(const Node& node, const Shape& data, const Tensor& indices, size_t axis) {
  const Shape& shape = indices.shape();
  bool fits = shape.size() == data.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = i == axis || shape[i] <= data[i];
  if (!fits) fail_malformed(node.label(), ": indices ", shape_text(shape), " do not fit data ", shape_text(data));
  std::vector<int64_t> result = int_values(node, indices);
  const std::vector<int64_t> stride = row_major_strides(data);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t& value : result) {
    int64_t offset = checked_index(node, value, data[axis]) * stride[axis];
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i != axis) offset += index[i] * stride[i];
    }
    value = offset;
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return result;
}

TupleOffsets tuple_offsets(const Node& node, const Shape& data, const Tensor& indices, size_t batch_dims) {
  const Shape& shape = indices.shape();
  auto refuse = [&] {
    fail_malformed(node.label(), ": indices ", shape_text(shape), " do not fit data ", shape_text(data));
  };
  if (shape.empty() || batch_dims >= shape.size() || batch_dims > data.size()) refuse();
  const int64_t length = shape.back();
  if (length < 1 || length > static_cast<int64_t>(data.size() - batch_dims)) refuse();
  int64_t batches = 1;
  for (size_t i = 0; i < batch_dims; ++i) {
    if (shape[i] != data[i]) refuse();
    batches *= data[i];
  }
  const auto first_inner = batch_dims + static_cast<size_t>(length);
  TupleOffsets result{{}, element_count({data.begin() + static_cast<std::ptrdiff_t>(first_inner), data.end()})};
  const std::vector<int64_t> values = int_values(node, indices);
  const std::vector<int64_t> stride = row_major_strides(data);
  const auto n = static_cast<int64_t>(values.size()) / length;
  const int64_t per_batch = batches == 0 ? 1 : n / batches;
  const int64_t batch_stride = batch_dims == 0 ? 0 : stride[batch_dims - 1];
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = i / per_batch * batch_stride;
    for (int64_t k = 0; k < length; ++k) {
      const size_t axis = batch_dims + static_cast<size_t>(k);
      offset += checked_index(node, values[i * length + k], data[axis]) * stride[axis];
    }
    result.offsets.push_back(offset);
  }
  return result;
}

}  // namespace dnn
