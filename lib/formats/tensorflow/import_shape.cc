// Shapes, and what moves elements.
#include <algorithm>
#include <numeric>

#include "formats/tensorflow/imports.h"

namespace dnn::tensorflow {
namespace {

int64_t from_front(Op& op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) op.fail("axis ", axis, " of a tensor of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

// Rows of (before, after) as ONNX's befores, then afters.
std::vector<int64_t> pads(Op& op) {
  const Tensor* tensor = op.constant(1);
  if (tensor == nullptr) op.refuse("its paddings are computed");
  const std::vector<int64_t> rows = to_int64s(*tensor);
  if (tensor->rank() != 2 || tensor->dim(1) != 2) op.fail("paddings of shape ", shape_text(tensor->shape()));
  std::vector<int64_t> result;
  for (size_t half = 0; half < 2; ++half) {
    for (size_t i = half; i < rows.size(); i += 2) {
      if (rows[i] < 0 || rows[i] > INT32_MAX) op.fail("a padding of ", rows[i]);
      result.push_back(rows[i]);
    }
  }
  return result;
}

void set_known(Op& op, ValueId y, std::vector<Dim> dims) {
  if (op.type(y).dtype == DType::Undefined) return;
  op.set_dims(y, std::move(dims));
}

}  // namespace

void shape_of(Op& op) {
  const ValueId x = op.in(0);
  const ValueId y = op.to_dtype(op.emit("Shape", {x}), op.dtype_attribute("out_type").value_or(DType::Int32));
  if (op.ranked(x)) set_known(op, y, *op.type(x).shape);
  op.define(0, y);
}

void size_of(Op& op) {
  op.define(0, op.to_dtype(op.emit("Size", {op.in(0)}), op.dtype_attribute("out_type").value_or(DType::Int32)));
}

void rank(Op& op) { op.define(0, op.scalar(static_cast<double>(op.rank(op.in(0))), DType::Int32)); }

void reshape(Op& op) {
  const ValueId shape = op.new_extents(1);
  Attributes attributes;
  if (const Tensor* known = op.constant_of(shape)) {
    const std::vector<int64_t> wanted = to_int64s(*known);
    if (std::find(wanted.begin(), wanted.end(), 0) != wanted.end()) attributes["allowzero"] = int64_t{1};
  } else {
    attributes["allowzero"] = int64_t{1};
  }
  const ValueId y = op.emit("Reshape", {op.in(0), shape}, std::move(attributes));
  if (const auto known = op.dims(0)) set_known(op, y, *known);
  op.define(0, y);
}

void broadcast_to(Op& op) { op.define(0, op.emit("Expand", {op.in(0), op.extents(1)})); }
void fill(Op& op) { op.define(0, op.emit("Expand", {op.in(1), op.extents(0)})); }
void tile(Op& op) { op.define(0, op.emit("Tile", {op.in(0), op.extents(1)})); }

void like(Op& op) {
  const ValueId x = op.in(0), fill = op.scalar(std::stod(op.row().as), op.dtype(x));
  op.define(0, op.emit("Expand", {fill, op.emit("Shape", {x})}));
}

void range(Op& op) { op.define(0, op.emit("Range", {op.in(0), op.in(1), op.in(2)})); }

void expand_dims(Op& op) {
  const ValueId y = op.emit("Unsqueeze", {op.in(0), op.list({op.one(1)})});
  if (const auto known = op.dims(0)) set_known(op, y, *known);
  op.define(0, y);
}

void squeeze(Op& op) {
  const ValueId x = op.in(0);
  std::vector<int64_t> axes = op.integers("squeeze_dims");
  if (axes.empty()) axes = op.integers("axis");
  if (axes.empty()) {
    const std::vector<int64_t> shape = op.shape(x);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) op.refuse("it drops axes of extent 1, but an extent is open");
      if (shape[i] == 1) axes.push_back(static_cast<int64_t>(i));
    }
  }
  op.define(0, axes.empty() ? op.emit("Identity", {x}) : op.emit("Squeeze", {x, op.list(axes)}));
}

void transpose(Op& op) {
  const std::vector<int64_t> perm = op.ints(1);
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) op.fail("a permutation ", shape_text(perm));
  }
  op.define(0, op.emit("Transpose", {op.in(0)}, {{"perm", perm}}));
}

// Pad with 0, PadV2 with a value of its own.
void pad(Op& op) {
  std::vector<ValueId> inputs = {op.in(0), op.list(pads(op))};
  if (op.input_count() > 2) inputs.push_back(op.in(2));
  op.define(0, op.emit("Pad", std::move(inputs)));
}

void mirror_pad(Op& op) {
  const std::vector<int64_t> border = pads(op);
  std::string mode = "reflect";
  const std::string wanted = op.text("mode", "");
  if (wanted != "SYMMETRIC" && wanted != "REFLECT") op.refuse("mode ", quoted(wanted), " is not read");
  if (wanted == "SYMMETRIC") {  // one element deep it repeats the edge
    if (*std::max_element(border.begin(), border.end()) > 1) op.refuse("symmetric padding deeper than 1 is not read");
    mode = "edge";
  }
  op.define(0, op.emit("Pad", {op.in(0), op.list(border)}, {{"mode", mode}}));
}

// ConcatV2 has its axis behind the tensors, Concat before.
void concat(Op& op) {
  const size_t n = op.input_count();
  if (n < 2) op.fail("it joins nothing");
  const bool last = op.node_op() == "ConcatV2";
  const int64_t axis = op.one(last ? n - 1 : 0);
  std::vector<ValueId> inputs;
  std::optional<std::vector<Dim>> known = std::vector<Dim>();
  for (size_t i = last ? 0 : 1; i < (last ? n - 1 : n); ++i) {
    inputs.push_back(op.in(i));
    const auto part = op.dims(i);
    if (!part) known.reset();
    if (known) known->insert(known->end(), part->begin(), part->end());
  }
  const ValueId y = inputs.size() == 1 ? op.emit("Identity", inputs) : op.emit("Concat", inputs, {{"axis", axis}});
  if (known) set_known(op, y, std::move(*known));
  op.define(0, y);
}

void pack(Op& op) {
  const int64_t axis = op.integer("axis", 0);
  std::vector<ValueId> inputs;
  std::optional<std::vector<Dim>> known = std::vector<Dim>();
  for (size_t i = 0; i < op.input_count(); ++i) {
    inputs.push_back(op.emit("Unsqueeze", {op.in(i), op.list({axis})}));
    const auto part = op.dims(i);
    if (!part || part->size() != 1) known.reset();
    if (known) known->push_back((*part)[0]);
  }
  if (inputs.empty()) op.fail("it joins nothing");
  const ValueId y = op.emit("Concat", inputs, {{"axis", axis}});
  if (known) set_known(op, y, std::move(*known));
  op.define(0, y);
}

void unpack(Op& op) {
  const int64_t axis = op.integer("axis", 0), n = op.integer("num", 0);
  if (n < 0 || n > 1 << 16) op.fail("it makes ", n, " tensors");
  if (n == 0) return;
  const auto known = op.dims(0);
  const std::vector<ValueId> parts = op.emit_many("Split", {op.in(0)}, {{"axis", axis}, {"num_outputs", n}}, n);
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId y = op.emit("Squeeze", {parts[i], op.list({axis})});
    if (known && known->size() == parts.size()) set_known(op, y, {(*known)[i]});
    op.define(i, y);
  }
}

// Split: (axis, tensor) in equal parts; SplitV: (tensor, sizes, axis).
void split(Op& op) {
  const bool sized = op.node_op() == "SplitV";
  const int64_t n = op.integer("num_split", 1);
  if (n < 1 || n > 1 << 16) op.fail("it makes ", n, " tensors");
  const ValueId x = op.in(sized ? 0 : 1);
  const int64_t axis = op.one(sized ? 2 : 0);
  std::vector<ValueId> inputs = {x};
  Attributes attributes = {{"axis", axis}};
  if (sized) {
    std::vector<int64_t> sizes = op.ints(1);
    if (static_cast<int64_t>(sizes.size()) != n) op.fail(sizes.size(), " sizes of ", n, " parts");
    for (int64_t& size : sizes) {  // one may be left open: the rest
      if (size >= 0) continue;
      const std::vector<int64_t> shape = op.shape(x);
      int64_t rest = shape[from_front(op, axis, op.rank(x))];
      if (rest < 0) op.refuse("a part is the rest of an open extent");
      for (int64_t other : sizes) rest -= std::max<int64_t>(0, other);
      if (rest < 0) op.fail("parts of ", shape_text(sizes), " of extent ", shape_text(shape));
      size = rest;
    }
    inputs.push_back(op.list(sizes));
  } else {
    attributes["num_outputs"] = n;
  }
  const std::vector<ValueId> parts = op.emit_many("Split", std::move(inputs), attributes, n);
  for (size_t i = 0; i < parts.size(); ++i) op.define(i, parts[i]);
}

// A size of -1 reaches to the end.
void slice(Op& op) {
  if (op.constant(1) == nullptr || op.constant(2) == nullptr) {
    const ValueId begin = op.to_dtype(op.in(1), DType::Int64), size = op.to_dtype(op.in(2), DType::Int64);
    if (const Tensor* known = op.constant(2)) {
      const std::vector<int64_t> sizes = to_int64s(*known);
      if (std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; }))
        op.refuse("a slice from a computed place to the end");
    }
    return op.define(0, op.emit("Slice", {op.in(0), begin, op.emit("Add", {begin, size})}));
  }
  const std::vector<int64_t> begin = op.ints(1), size = op.ints(2);
  if (begin.size() != size.size()) op.fail(begin.size(), " begins, ", size.size(), " sizes");
  std::vector<int64_t> end;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || begin[i] > INT32_MAX || size[i] > INT32_MAX)
      op.fail("a slice from ", begin[i], " of ", size[i]);
    end.push_back(size[i] < 0 ? INT64_MAX : begin[i] + size[i]);
  }
  const ValueId y = op.emit("Slice", {op.in(0), op.list(begin), op.list(end)});
  if (const auto known = op.dims(0); known && begin.size() == 1) {
    std::vector<Dim> part;
    for (int64_t i = begin[0]; i < std::min<int64_t>(end[0], static_cast<int64_t>(known->size())); ++i)
      part.push_back((*known)[i]);
    set_known(op, y, std::move(part));
  }
  op.define(0, y);
}

namespace {

// One StridedSlice with its masks spelled out: axes cut, then axes dropped, then axes of extent 1 put in.
struct Strided {
  std::vector<int64_t> begin, end, stride, axes, dropped, added;
};

Strided strided(Op& op, int64_t rank) {
  const std::vector<int64_t> begin = op.ints(1), end = op.ints(2);
  const std::vector<int64_t> stride = op.input_count() > 3 ? op.ints(3) : std::vector<int64_t>(begin.size(), 1);
  const size_t n = begin.size();
  if (end.size() != n || stride.size() != n || n > 31)
    op.fail(n, " begins, ", end.size(), " ends, ", stride.size(), " strides");
  const auto mask = [&](const char* key) { return op.integer(key, 0); };
  const int64_t begins = mask("begin_mask"), ends = mask("end_mask"), ellipsis = mask("ellipsis_mask"),
                fresh = mask("new_axis_mask"), shrink = mask("shrink_axis_mask");
  Strided s;
  int64_t axis = 0, made = 0, used = 0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t bit = int64_t{1} << i;
    if ((ellipsis & bit) == 0 && (fresh & bit) == 0) ++used;
  }
  for (size_t i = 0; i < n; ++i) {
    const int64_t bit = int64_t{1} << i;
    if ((ellipsis & bit) != 0) {
      if (rank < 0) op.refuse("an ellipsis over an unknown rank");
      if (rank < used) op.fail(used, " axes are cut of rank ", rank);
      axis += rank - used;
      made += rank - used;
      continue;
    }
    if ((fresh & bit) != 0) {
      s.added.push_back(made++);
      continue;
    }
    if (stride[i] == 0) op.fail("a stride of 0");
    s.axes.push_back(axis);
    if ((shrink & bit) != 0) {
      s.begin.push_back(begin[i]);
      s.end.push_back(begin[i] == -1 ? INT64_MAX : begin[i] + 1);
      s.stride.push_back(1);
      s.dropped.push_back(axis);
    } else {
      const bool forward = stride[i] > 0;
      s.begin.push_back((begins & bit) == 0 ? begin[i] : forward ? 0 : INT64_MAX);
      s.end.push_back((ends & bit) == 0 ? end[i] : forward ? INT64_MAX : -INT64_MAX);
      s.stride.push_back(stride[i]);
      ++made;
    }
    ++axis;
  }
  return s;
}

}  // namespace

void strided_slice(Op& op) {
  const ValueId x = op.in(0);
  const Strided s = strided(op, op.ranked(x) ? op.rank(x) : -1);
  ValueId y = x;
  if (!s.axes.empty()) y = op.emit("Slice", {x, op.list(s.begin), op.list(s.end), op.list(s.axes), op.list(s.stride)});
  if (!s.dropped.empty()) y = op.emit("Squeeze", {y, op.list(s.dropped)});
  if (!s.added.empty()) y = op.emit("Unsqueeze", {y, op.list(s.added)});
  if (y == x) y = op.emit("Identity", {x});
  const auto known = op.dims(0);
  if (known && s.axes.size() == 1 && s.added.empty() && op.rank(x) == 1) {
    const auto n = static_cast<int64_t>(known->size());
    const auto at = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? std::max<int64_t>(i, -n) + n : i, 0, n); };
    std::vector<Dim> part;
    if (s.stride[0] == 1) {
      for (int64_t i = at(s.begin[0]); i < at(s.end[0]); ++i) part.push_back((*known)[i]);
      set_known(op, y, std::move(part));
    }
  }
  op.define(0, y);
}

// Gather: along the first axis; GatherV2: along one that input 2 names.
void gather(Op& op) {
  const int64_t axis = op.input_count() > 2 ? op.one(2) : 0;
  if (const int64_t batch = op.integer("batch_dims", 0); batch != 0) op.refuse("batch_dims ", batch, " is not read");
  const ValueId y = op.emit("Gather", {op.in(0), op.in(1)}, {{"axis", axis}});
  const auto known = op.dims(0);
  const auto places = op.dims(1);
  if (known && places && op.constant(1) != nullptr) {
    std::vector<Dim> part;
    for (const Dim& place : *places) {
      if (place.size < 0 || place.size >= static_cast<int64_t>(known->size())) return op.define(0, y);
      part.push_back((*known)[place.size]);
    }
    set_known(op, y, std::move(part));
  }
  op.define(0, y);
}

void gather_nd(Op& op) {
  const ValueId places = op.to_dtype(op.in(1), DType::Int64);
  op.define(0, op.emit("GatherND", {op.in(0), places}, {{"batch_dims", op.integer("batch_dims", 0)}}));
}

// Places outside are an error here, as they are in TensorFlow on processors unless it is told to leave them out.
static void expect_places_inside(Op& op) {
  const std::string policy = op.text("bad_indices_policy", "");
  if (!policy.empty() && policy != "DEFAULT" && policy != "ERROR")
    op.refuse("places outside that are left out (", policy, ") are not read");
}

// Among zeros; where several updates meet they are added.
void scatter_nd(Op& op) {
  expect_places_inside(op);
  const ValueId zero = op.scalar(0, op.dtype(op.in(1)));
  const ValueId base = op.emit("Expand", {zero, op.extents(2)}), places = op.to_dtype(op.in(0), DType::Int64);
  op.define(0, op.emit("ScatterND", {base, places, op.in(1)}, {{"reduction", std::string("add")}}));
}

// The numbers of the boxes that stay, of one image and class; the first operators had no bound of scores, and one an attribute.
void non_max_suppression(Op& op) {
  const char version = op.node_op().back();
  const ValueId boxes = op.emit("Unsqueeze", {op.in(0), op.list({0})}),
                scores = op.emit("Unsqueeze", {op.in(1), op.list({0, 1})}), most = op.to_dtype(op.in(2), DType::Int64);
  const bool first = version == 'n';
  std::vector<ValueId> inputs = {boxes, scores, most};
  inputs.push_back(first ? op.scalar(static_cast<double>(op.number_of("iou_threshold", 0.5F)), DType::Float32)
                         : op.to_dtype(op.in(3), DType::Float32));
  if (version > '2' && !first) inputs.push_back(op.to_dtype(op.in(4), DType::Float32));
  if (version == '5' && (op.constant(5) == nullptr || to_doubles(*op.constant(5))[0] != 0))
    op.refuse("scores that fall with their overlap (soft_nms_sigma) are not read");
  const ValueId all = op.emit("NonMaxSuppression", inputs);
  const ValueId chosen =
      op.to_dtype(op.emit("Gather", {all, op.scalar(2, DType::Int64)}, {{"axis", int64_t{1}}}), DType::Int32);
  const bool pads = version > '3' && !first && op.flag("pad_to_max_output_size", false);
  const auto padded = [&](ValueId v, DType dtype) {  // zeros behind
    if (!pads) return v;
    const ValueId length = op.emit("Reshape", {most, op.list({1})});
    const ValueId zeros = op.emit("Expand", {op.scalar(0, dtype), length});
    const ValueId joined = op.emit("Concat", {v, zeros}, {{"axis", int64_t{0}}});
    return op.emit("Slice", {joined, op.list({0}), length, op.list({0})});
  };
  op.define(0, padded(chosen, DType::Int32));
  if (version < '4' || first) return;
  if (version == '5')
    op.define(1, padded(op.emit("Gather", {op.in(1), chosen}, {{"axis", int64_t{0}}}), op.dtype(op.in(1))));
  const ValueId count = op.emit("Size", {chosen});
  op.define(version == '4' ? 1 : 2, op.to_dtype(count, DType::Int32));
}

void tensor_scatter(Op& op) {
  expect_places_inside(op);
  const ValueId places = op.to_dtype(op.in(1), DType::Int64);
  op.define(0, op.emit("ScatterND", {op.in(0), places, op.in(2)}, {{"reduction", std::string(op.row().as)}}));
}

void reverse_sequence(Op& op) {
  const int64_t time = op.integer("seq_dim", 0), batch = op.integer("batch_dim", 0);
  if (std::min(time, batch) != 0 || std::max(time, batch) != 1)
    op.refuse("sequences along axis ", time, " by axis ", batch, " are not read");
  const ValueId lengths = op.to_dtype(op.in(1), DType::Int64);
  op.define(0, op.emit("ReverseSequence", {op.in(0), lengths}, {{"time_axis", time}, {"batch_axis", batch}}));
}

// Elements that leave at the end come in at the front, axis by axis.
void roll(Op& op) {
  const std::vector<int64_t> shifts = op.ints(1), axes = op.ints(2);
  if (shifts.size() != axes.size()) op.fail(shifts.size(), " shifts along ", axes.size(), " axes");
  ValueId x = op.in(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = from_front(op, axes[i], op.rank(x)), extent = op.shape(x)[axis];
    if (extent < 0) op.refuse("it rolls along an open extent");
    const int64_t first = extent == 0 ? 0 : (extent - shifts[i] % extent) % extent;
    if (first == 0) continue;
    const ValueId at = op.list({axis}), from = op.list({first}), end = op.list({extent}), begin = op.list({0});
    const ValueId back = op.emit("Slice", {x, from, end, at}), front = op.emit("Slice", {x, begin, from, at});
    x = op.emit("Concat", {back, front}, {{"axis", axis}});
  }
  op.define(0, x == op.in(0) ? op.emit("Identity", {x}) : x);
}

void reverse(Op& op) {
  const std::vector<int64_t> axes = op.ints(1);
  if (axes.empty()) return op.define(0, op.emit("Identity", {op.in(0)}));
  const std::vector<int64_t> last(axes.size(), -1), first(axes.size(), -INT64_MAX), step(axes.size(), -1);
  op.define(0, op.emit("Slice", {op.in(0), op.list(last), op.list(first), op.list(axes), op.list(step)}));
}

}  // namespace dnn::tensorflow
