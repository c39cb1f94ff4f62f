// Elements picked by indices, blocks that become a batch, constants of a shape.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/tflite/imports.h"

namespace dnn::tflite {
namespace {

ValueId indices(Op& op, size_t i) {
  const ValueId v = op.raw(i);
  return op.constant(i) != nullptr && op.constant(i)->dtype() == DType::Int64 ? v : op.to_dtype(v, DType::Int64);
}

// The number of elements a block has along each spatial axis.
std::vector<int64_t> block_of(Op& op) {
  std::vector<int64_t> block = op.ints(1);
  for (int64_t size : block) {
    if (size < 1) op.fail("a block of ", size);
  }
  if (block.size() + 1 > op.shape(0).size()) op.fail("blocks of ", block.size(), " axes");
  return block;
}

int64_t product(const std::vector<int64_t>& values) {
  int64_t result = 1;
  for (int64_t value : values) {
    if (__builtin_mul_overflow(result, value, &result) || result > INT32_MAX) return INT32_MAX;
  }
  return result;
}

}  // namespace

void gather(Op& op) {
  using O = GatherOptions;
  const auto o = op.options<O>();
  if (o(&O::batch_dims) != 0) op.refuse("batch_dims ", o(&O::batch_dims), " is not read");
  moved(op, 0, [&](ValueId x) {
    return op.emit("Gather", {x, op.raw(1)}, {{"axis", static_cast<int64_t>(o(&O::axis))}});
  });
}

void gather_nd(Op& op) {
  const ValueId at = indices(op, 1);
  moved(op, 0, [&](ValueId x) { return op.emit("GatherND", {x, at}); });
}

// Where several updates meet they are added.
void scatter_nd(Op& op) {
  const ValueId zero = op.store("zero", dnn::Tensor(op.output_dtype(0), {}));
  if (op.quantized_input(1)) op.refuse("scattering quantised numbers is not read");
  const ValueId base = op.emit("Expand", {zero, extents(op, 2)});
  op.define_raw(0, op.emit("ScatterND", {base, indices(op, 0), op.raw(1)}, {{"reduction", std::string("add")}}));
}

namespace {

// Rows of data combined by the number of their segment; what has a negative number goes nowhere.
void segments(Op& op, const char* reduction, const dnn::Tensor& empty) {
  const std::vector<int64_t> count = op.ints(2), ids = op.shape(1), data = op.shape(0);
  if (count.size() != 1 || count[0] < 0 || count[0] > INT32_MAX) op.fail(count.size(), " counts of segments");
  if (op.quantized_input(0)) op.refuse("segments of quantised numbers are not read");
  if (ids.size() > data.size()) op.fail("segments of rank ", ids.size(), " for data of rank ", data.size());
  std::vector<int64_t> shape = {count[0] + 1};  // the last takes those of negative numbers
  for (size_t i = ids.size(); i < data.size(); ++i) {
    if (data[i] < 0) op.refuse("rows of open extents");
    shape.push_back(data[i]);
  }
  const ValueId last = op.list(count), zero = op.list({0}), at = indices(op, 1);
  const ValueId known = op.emit("Where", {op.emit("Less", {at, zero}), last, at});
  const ValueId tuples = op.emit("Unsqueeze", {known, op.list({-1})});
  const ValueId base = op.emit("Expand", {op.store("empty", empty), op.list(shape)});
  const ValueId all = op.emit("ScatterND", {base, tuples, op.raw(0)}, {{"reduction", std::string(reduction)}});
  op.define_raw(0, op.emit("Slice", {all, zero, last, zero}));
}

dnn::Tensor number_of(Op& op, double real, int64_t integer) {
  const DType dtype = op.output_dtype(0);
  if (is_float(dtype)) return convert(dnn::Tensor::scalar(real), dtype);
  return convert(dnn::Tensor::scalar(integer), dtype);
}

}  // namespace

void segment_sum(Op& op) { segments(op, "add", number_of(op, 0, 0)); }
void segment_product(Op& op) { segments(op, "mul", number_of(op, 1, 1)); }
// Segments without a row hold the least, or largest, number of the type.
void segment_max(Op& op) {
  const bool wide = op.output_dtype(0) == DType::Int64;
  segments(op, "max", number_of(op, std::numeric_limits<float>::lowest(), wide ? INT64_MIN : INT32_MIN));
}
void segment_min(Op& op) {
  const bool wide = op.output_dtype(0) == DType::Int64;
  segments(op, "min", number_of(op, std::numeric_limits<float>::max(), wide ? INT64_MAX : INT32_MAX));
}

namespace {

// Numbers of the boxes that stay, and zeros behind them; their scores; how many there are.
void suppress(Op& op, bool scored) {
  const std::vector<int64_t> most = op.ints(2);
  if (most.size() != 1 || most[0] < 0) op.fail(most.size(), " numbers of boxes");
  const ValueId boxes = op.emit("Unsqueeze", {op.real(0), op.list({0})}), scores = op.real(1);
  const dnn::Tensor* overlap = op.constant(3);  // from which on TFLite suppresses, ONNX beyond it
  if (overlap == nullptr || overlap->size() != 1) op.refuse("a computed threshold of overlap is not read");
  const float beyond = std::nextafter(static_cast<float>(to_doubles(*overlap)[0]), -1.0F);
  op.without(size_t{3});
  const ValueId all =
      op.emit("NonMaxSuppression", {boxes, op.emit("Unsqueeze", {scores, op.list({0, 1})}), op.list(most),
                                    op.store("overlap", dnn::Tensor::scalar(beyond)), op.real(4)});
  const ValueId which = op.store("which", dnn::Tensor::scalar(int64_t{2}));
  const ValueId chosen = op.emit("Gather", {all, which}, {{"axis", int64_t{1}}});
  const auto padded = [&](ValueId v, DType dtype) {
    const ValueId zeros = op.store("zeros", dnn::Tensor(dtype, {most[0]}));
    const ValueId joined = op.emit("Concat", {v, zeros}, {{"axis", int64_t{0}}});
    return op.emit("Slice", {joined, op.list({0}), op.list(most), op.list({0})});
  };
  op.define_raw(0, op.to_dtype(padded(chosen, DType::Int64), DType::Int32));
  if (scored) op.define(1, padded(op.emit("Gather", {scores, chosen}, {{"axis", int64_t{0}}}), DType::Float32));
  op.define_raw(scored ? 2 : 1, op.to_dtype(op.emit("Size", {chosen}), DType::Int32));
}

}  // namespace

void non_max_suppression(Op& op) { suppress(op, false); }
void non_max_suppression_soft(Op& op) {
  const dnn::Tensor* sigma = op.constant(5);
  if (sigma == nullptr || sigma->size() != 1 || to_doubles(*sigma)[0] != 0)
    op.refuse("scores that fall with their overlap (soft_nms_sigma) are not read");
  op.without(size_t{5});
  suppress(op, true);
}

// Where an index is none of 0 to depth - 1, all are off.
void one_hot(Op& op) {
  const std::vector<int64_t> depth = op.ints(1);
  if (depth.size() != 1 || depth[0] < 0 || depth[0] > 1 << 24) op.fail("a depth of ", shape_text(depth));
  const auto rank = static_cast<int64_t>(op.shape(0).size());
  int64_t axis = op.options<OneHotOptions>()(&OneHotOptions::axis);
  if (axis < 0) axis += rank + 1;
  if (axis < 0 || axis > rank) op.fail("axis ", axis, " of rank ", rank);
  Shape shape(rank + 1, 1);
  shape[axis] = depth[0];
  std::vector<int64_t> places(depth[0]);
  std::iota(places.begin(), places.end(), int64_t{0});
  const ValueId range = op.store("places", dnn::Tensor::of<int64_t>(shape, places));
  const ValueId at = op.emit("Unsqueeze", {op.to_dtype(op.raw(0), DType::Int64), op.list({axis})});
  op.define(0, op.emit("Where", {op.emit("Equal", {at, range}), op.real(2), op.real(3)}));
}

void top_k(Op& op) {
  const std::vector<int64_t> k = op.ints(1);
  if (k.size() != 1 || k[0] < 0) op.fail(k.size(), " counts");
  const bool same = op.same_quantization(0, 0);
  const std::vector<ValueId> ys =
      op.emit_many("TopK", {same ? op.raw(0) : op.real(0), op.list(k)},
                   {{"axis", int64_t{-1}}, {"largest", int64_t{1}}, {"sorted", int64_t{1}}}, 2);
  if (same) {
    op.define_raw(0, ys[0]);
  } else {
    op.define(0, ys[0]);
  }
  op.define_raw(1, op.output_dtype(1) == DType::Int64 ? ys[1] : op.to_dtype(ys[1], op.output_dtype(1)));
}

void reverse(Op& op) {
  const std::vector<int64_t> axes = op.ints(1);
  const std::vector<int64_t> back(axes.size(), -1), end(axes.size(), INT64_MIN);
  moved(op, 0, [&](ValueId x) {
    return op.emit("Slice", {x, op.list(back), op.list(end), op.list(axes), op.list(back)});
  });
}

void reverse_sequence(Op& op) {
  using O = ReverseSequenceOptions;
  const auto o = op.options<O>();
  const int64_t time = o(&O::seq_dim), batch = o(&O::batch_dim);
  if (std::min(time, batch) != 0 || std::max(time, batch) != 1)
    op.refuse("sequences along axis ", time, " by axis ", batch, " are not read");
  const ValueId lengths = op.to_dtype(op.raw(1), DType::Int64);
  moved(op, 0, [&](ValueId x) {
    return op.emit("ReverseSequence", {x, lengths}, {{"time_axis", time}, {"batch_axis", batch}});
  });
}

// [N, H, W, C] inside its border, in blocks -> [bh bw N, H / bh, W / bw, C]: the block's elements come first.
void space_to_batch(Op& op) {
  const std::vector<int64_t> block = block_of(op), border = op.ints(2), x = op.shape(0);
  const size_t n = block.size();
  if (border.size() != 2 * n) op.fail(border.size(), " paddings of ", n, " axes");
  std::vector<int64_t> pads(2 * x.size()), split = {-1}, perm, result = {-1};
  for (size_t i = 0; i < n; ++i) {
    pads[i + 1] = border[2 * i];
    pads[i + 1 + x.size()] = border[2 * i + 1];
    if (x[i + 1] < 0) op.refuse("an input of open extents");
    const int64_t padded = x[i + 1] + border[2 * i] + border[2 * i + 1];
    if (padded % block[i] != 0) op.fail("an extent of ", padded, " in blocks of ", block[i]);
    split.push_back(padded / block[i]);
    split.push_back(block[i]);
    result.push_back(padded / block[i]);
    perm.push_back(static_cast<int64_t>(2 * i + 2));
  }
  perm.push_back(0);
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(2 * i + 1));
  for (size_t i = n + 1; i < x.size(); ++i) {
    if (x[i] < 0) op.refuse("an input of open extents");
    perm.push_back(static_cast<int64_t>(i + n));
    split.push_back(x[i]);
    result.push_back(x[i]);
  }
  moved(op, 0, [&](ValueId v) {
    if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; }))
      v = op.emit("Pad", {v, op.list(pads)});
    v = op.emit("Reshape", {v, op.list(split)});
    return op.emit("Reshape", {op.transpose(v, perm), op.list(result)});
  });
}

void batch_to_space(Op& op) {
  const std::vector<int64_t> block = block_of(op), crops = op.ints(2), x = op.shape(0);
  const size_t n = block.size();
  if (crops.size() != 2 * n) op.fail(crops.size(), " crops of ", n, " axes");
  std::vector<int64_t> split = block, perm = {static_cast<int64_t>(n)}, result = {-1}, begin, end, axes;
  split.push_back(-1);
  if (product(block) >= INT32_MAX) op.fail("blocks of ", shape_text(block));
  for (size_t i = 0; i < n; ++i) {
    if (x[i + 1] < 0) op.refuse("an input of open extents");
    split.push_back(x[i + 1]);
    perm.push_back(static_cast<int64_t>(n + 1 + i));
    perm.push_back(static_cast<int64_t>(i));
    result.push_back(x[i + 1] * block[i]);
    begin.push_back(crops[2 * i]);
    end.push_back(x[i + 1] * block[i] - crops[2 * i + 1]);
    axes.push_back(static_cast<int64_t>(i) + 1);
  }
  for (size_t i = n + 1; i < x.size(); ++i) {
    if (x[i] < 0) op.refuse("an input of open extents");
    split.push_back(x[i]);
    perm.push_back(static_cast<int64_t>(i + n));
    result.push_back(x[i]);
  }
  moved(op, 0, [&](ValueId v) {
    v = op.emit("Reshape", {op.transpose(op.emit("Reshape", {v, op.list(split)}), perm), op.list(result)});
    if (std::all_of(crops.begin(), crops.end(), [](int64_t crop) { return crop == 0; })) return v;
    return op.emit("Slice", {v, op.list(begin), op.list(end), op.list(axes)});
  });
}

void fill(Op& op) {
  moved(op, 1, [&](ValueId x) { return op.emit("Expand", {x, extents(op, 0)}); });
}

void zeros_like(Op& op) {
  if (op.quantized_input(0)) op.refuse("zeros like quantised numbers are not read");
  const dnn::Tensor zero(op.output_dtype(0), {1});
  op.define_raw(0, op.emit("ConstantOfShape", {op.emit("Shape", {op.raw(0)})}, {{"value", zero}}));
}

void rank(Op& op) {
  const auto n = static_cast<int32_t>(op.shape(0).size());
  op.without(size_t{0});
  op.define_raw(0, op.emit("Identity", {op.store("rank", dnn::Tensor::scalar(n))}));
}

}  // namespace dnn::tflite
