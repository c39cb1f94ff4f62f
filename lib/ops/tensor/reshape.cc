// Reshape, Flatten, Squeeze, Unsqueeze: the same elements in the same order under another shape.
#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/movement.h"
#include "ops/permute.h"

namespace dnn::reshape_ops {
namespace {

// What Reshape's second input makes of `in`: 0 keeps an extent (unless `allowzero`), one -1 takes what is left over.
// Extents that are not known cancel where they are kept, so [N,512,1,1] by [0,-1] is [N,512].
std::vector<Dim> reshaped_dims(const Node& node, const std::vector<Dim>& in, const std::vector<int64_t>& wanted) {
  const bool allowzero = flag_attribute(node, "allowzero");
  std::vector<Dim> out;
  std::vector<bool> kept(in.size(), false);
  Shape fixed_out, fixed_in;
  std::optional<size_t> rest;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && !allowzero) {
      if (i >= in.size())
        fail_malformed(node.label(), ": extent 0 at axis ", i, " has no counterpart in ", Type({}, in).text());
      out.push_back(in[i]);
      kept[i] = true;
    } else if (wanted[i] == -1) {
      if (rest) fail_malformed(node.label(), ": two extents of -1 in ", shape_text(wanted));
      rest = i;
      out.emplace_back();
    } else if (wanted[i] < 0) {
      fail_malformed(node.label(), ": extent ", wanted[i], " in ", shape_text(wanted));
    } else {
      out.emplace_back(wanted[i]);
      fixed_out.push_back(wanted[i]);
    }
  }
  std::vector<Dim> open;
  for (size_t i = 0; i < in.size(); ++i) {
    if (kept[i]) continue;
    if (in[i].fixed()) {
      fixed_in.push_back(in[i].size);
    } else {
      open.push_back(in[i]);
    }
  }
  const int64_t n_in = element_count(fixed_in), n_out = element_count(fixed_out);
  auto refuse = [&] {
    fail_malformed(node.label(), ": ", Type({}, in).text(), " does not reshape to ", shape_text(wanted));
  };
  if (!rest) {
    if (open.empty() && n_in != n_out) refuse();
  } else if (open.empty()) {
    if (n_out == 0 || n_in % n_out != 0) refuse();
    out[*rest] = Dim(n_in / n_out);
  } else if (open.size() == 1 && n_in == n_out && n_in != 0) {
    out[*rest] = open[0];
  }
  return out;
}

void infer_reshape(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (const auto wanted = known_ints(context, 1); wanted && context.has_shape(0)) {
    type.shape = reshaped_dims(context.node, context.shape(0), *wanted);
  } else if (const int64_t rank = known_length(context, 1); rank >= 0 && !wanted) {
    type.shape = std::vector<Dim>(rank);
  }
  context.set_output(0, std::move(type));
}

void reference_reshape(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Shape shape =
      to_shape(reshaped_dims(context.node, to_dims(x.shape()), int_values(context.node, context.input(1))));
  if (element_count(shape) != x.size()) context.fail(shape_text(x.shape()), " does not reshape to ", shape_text(shape));
  context.outputs[0] = x.reshaped(shape);
}

// [d0, ..., dn] -> [d0 * ... * d(axis-1), d(axis) * ... * dn]
std::vector<Dim> flattened_dims(const Node& node, const std::vector<Dim>& in) {
  const auto rank = static_cast<int64_t>(in.size());
  int64_t axis = int_attribute(node, "axis");
  if (axis < -rank || axis > rank) fail_malformed(node.label(), ": axis ", axis, " is out of range for rank ", rank);
  if (axis < 0) axis += rank;
  auto product = [&](int64_t from, int64_t to) {
    Shape fixed;
    std::vector<Dim> open;
    for (int64_t i = from; i < to; ++i) {
      const Dim& dim = in[i];
      if (!dim.fixed()) {
        open.push_back(dim);
      } else if (dim.size != 1) {
        fixed.push_back(dim.size);
      }
    }
    if (open.empty()) return Dim(element_count(fixed));
    return open.size() == 1 && fixed.empty() ? open[0] : Dim();
  };
  return {product(0, axis), product(axis, rank)};
}

void infer_flatten(InferContext& context) {
  std::vector<Dim> dims(2);
  if (context.has_shape(0)) dims = flattened_dims(context.node, context.shape(0));
  context.set_output(0, Type(context.input(0).dtype, std::move(dims)));
}

void reference_flatten(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  context.outputs[0] = x.reshaped(to_shape(flattened_dims(context.node, to_dims(x.shape()))));
}

std::vector<Dim> squeezed_dims(const Node& node, const std::vector<Dim>& in, std::vector<int64_t> axes) {
  std::vector<bool> drop(in.size(), false);
  for (int64_t axis : checked_axes(node, std::move(axes), in.size())) {
    const Dim& dim = in[axis];
    if (dim.fixed() && dim.size != 1)
      fail_malformed(node.label(), ": axis ", axis, " of ", Type({}, in).text(), " is not of extent 1");
    drop[axis] = true;
  }
  std::vector<Dim> out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!drop[i]) out.push_back(in[i]);
  }
  return out;
}

// Without an axes input: every axis of extent 1.
std::vector<int64_t> single_axes(const std::vector<Dim>& in) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].size == 1) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

void infer_squeeze(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const std::vector<Dim>& in = context.shape(0);
    if (context.has_input(1)) {
      if (const auto axes = known_ints(context, 1)) {
        type.shape = squeezed_dims(context.node, in, *axes);
      } else if (const int64_t n = known_length(context, 1); n >= 0 && n <= static_cast<int64_t>(in.size())) {
        type.shape = std::vector<Dim>(in.size() - static_cast<size_t>(n));
      }
    } else if (std::all_of(in.begin(), in.end(), [](const Dim& dim) { return dim.fixed(); })) {
      type.shape = squeezed_dims(context.node, in, single_axes(in));
    }
  }
  context.set_output(0, std::move(type));
}

void reference_squeeze(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const std::vector<Dim> in = to_dims(x.shape());
  std::vector<int64_t> axes = context.has_input(1) ? int_values(context.node, context.input(1)) : single_axes(in);
  context.outputs[0] = x.reshaped(to_shape(squeezed_dims(context.node, in, std::move(axes))));
}

std::vector<Dim> unsqueezed_dims(const Node& node, const std::vector<Dim>& in, std::vector<int64_t> axes) {
  const size_t rank = in.size() + axes.size();
  std::vector<bool> added(rank, false);
  for (int64_t axis : checked_axes(node, std::move(axes), rank)) added[axis] = true;
  std::vector<Dim> out;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) out.push_back(added[i] ? Dim(1) : in[next++]);
  return out;
}

void infer_unsqueeze(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    if (const auto axes = known_ints(context, 1)) {
      type.shape = unsqueezed_dims(context.node, context.shape(0), *axes);
    } else if (const int64_t n = known_length(context, 1); n >= 0) {
      type.shape = std::vector<Dim>(context.shape(0).size() + static_cast<size_t>(n));
    }
  }
  context.set_output(0, std::move(type));
}

void reference_unsqueeze(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  context.outputs[0] = x.reshaped(
      to_shape(unsqueezed_dims(context.node, to_dims(x.shape()), int_values(context.node, context.input(1)))));
}

void lower(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!has_loops(context.outputs[0])) return;
  emit_map(context, y, [&](const std::vector<loops::Expr>& indices) {
    return loops::load(x, reshaped_indices(x->shape, y->shape, indices));
  });
}

void gradient(GradientContext& context) {
  if (context.wants(0)) context.set(0, reshape_to(context.build, context.dy(), context.build.shape(context.input(0))));
}

OpDef define(std::string name, int min_inputs, int max_inputs, void (*infer)(InferContext&),
             void (*reference)(ReferenceContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = 25;
  op.min_inputs = min_inputs;
  op.max_inputs = max_inputs;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.gradient = gradient;
  return op;
}

}  // namespace

OpDef define_Reshape() {
  return with_attributes(define("Reshape", 2, 2, infer_reshape, reference_reshape),
                         {{"allowzero", 0, "a 0 in the shape is an extent of 0, not the input's"}});
}
OpDef define_Flatten() {
  return with_attributes(define("Flatten", 1, 1, infer_flatten, reference_flatten),
                         {{"axis", 1, "first axis of the second extent"}});
}
OpDef define_Squeeze() {
  OpDef op = define("Squeeze", 1, 2, infer_squeeze, reference_squeeze);
  op.permute = permute_squeezed_axes;
  return op;
}
OpDef define_Unsqueeze() { return define("Unsqueeze", 2, 2, infer_unsqueeze, reference_unsqueeze); }

}  // namespace dnn::reshape_ops
