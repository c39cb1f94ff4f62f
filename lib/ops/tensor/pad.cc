// Pad: a border around a tensor, constant or made of its own elements. Negative pads cut, before any border is made.
#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/movement.h"
#include "ops/permute.h"

namespace dnn::pad_ops {
namespace {

enum class Mode { Constant, Reflect, Edge, Wrap };

Mode pad_mode(const Node& node) {
  const std::string mode = string_attribute(node, "mode");
  if (mode == "constant") return Mode::Constant;
  if (mode == "reflect") return Mode::Reflect;
  if (mode == "edge") return Mode::Edge;
  if (mode == "wrap") return Mode::Wrap;
  fail_malformed(node.label(), ": mode ", quoted(mode), " is not constant, reflect, edge or wrap");
}

struct Pads {
  int64_t begin = 0, end = 0;
};

std::vector<Pads> pads_of(const Node& node, size_t rank, const std::vector<int64_t>& pads, std::vector<int64_t> axes,
                          bool has_axes) {
  if (!has_axes) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  axes = checked_axes(node, std::move(axes), rank);
  if (pads.size() != 2 * axes.size())
    fail_malformed(node.label(), ": ", pads.size(), " pads for ", axes.size(), " axes");
  std::vector<Pads> result(rank);
  for (size_t i = 0; i < axes.size(); ++i) result[axes[i]] = {pads[i], pads[axes.size() + i]};
  return result;
}

int64_t padded_extent(const Node& node, int64_t extent, const Pads& pads) {
  int64_t result;
  if (__builtin_add_overflow(extent, pads.begin, &result) || __builtin_add_overflow(result, pads.end, &result) ||
      result < 0) {
    fail_malformed(node.label(), ": pads ", pads.begin, " and ", pads.end, " of an extent of ", extent);
  }
  return result;
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  pad_mode(context.node);
  if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    const auto pads = known_ints(context, 1);
    const auto axes = context.has_input(3) ? known_ints(context, 3) : std::vector<int64_t>();
    if (pads && axes) {
      const std::vector<Pads> border = pads_of(context.node, dims.size(), *pads, *axes, context.has_input(3));
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i].fixed()) {
          dims[i] = Dim(padded_extent(context.node, dims[i].size, border[i]));
        } else if (border[i].begin != 0 || border[i].end != 0) {
          dims[i] = Dim();
        }
      }
    } else if (context.has_input(3) && axes) {
      for (int64_t axis : checked_axes(context.node, *axes, dims.size())) dims[axis] = Dim();
    } else {
      dims.assign(dims.size(), Dim());
    }
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

// One axis: output index i shows element low + fold(i - begin) of n kept elements.
struct Axis {
  int64_t low, n, begin, extent;
  bool padded() const { return begin != 0 || extent != n; }
};

std::vector<Axis> axes_of(const Node& node, const Shape& shape, const std::vector<Pads>& border, Mode mode) {
  std::vector<Axis> result;
  bool empty = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t low = std::max<int64_t>(0, -std::max(border[i].begin, -shape[i] - 1));
    const int64_t cut = std::max<int64_t>(0, -std::max(border[i].end, -shape[i] - 1));
    result.push_back({low, std::max<int64_t>(0, shape[i] - low - cut), std::max<int64_t>(0, border[i].begin),
                      padded_extent(node, shape[i], border[i])});
    empty = empty || result.back().extent == 0;
  }
  for (const Axis& axis : result) {
    if (!empty && axis.n == 0 && mode != Mode::Constant)
      fail_malformed(node.label(), ": there is nothing to make a border of in ", shape_text(shape));
  }
  return result;
}

// Index of the kept element that stands at `i` places from the first one, or kFill.
int64_t fold(int64_t i, int64_t n, Mode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case Mode::Constant: return kFill;
    case Mode::Edge: return i < 0 ? 0 : n - 1;
    case Mode::Wrap: return (i % n + n) % n;
    case Mode::Reflect: break;
  }
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1), at = (i % period + period) % period;
  return std::min(at, period - at);
}

const Tensor* fill_value(const Node& node, const Tensor* value, DType dtype) {
  if (value == nullptr) return nullptr;
  if (value->dtype() != dtype || value->size() != 1)
    fail_malformed(node.label(), ": constant_value ", Type(*value).text(), " for data of ", dtype_name(dtype));
  return value;
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Mode mode = pad_mode(context.node);
  std::vector<int64_t> given;
  if (context.has_input(3)) given = int_values(context.node, context.input(3));
  const std::vector<Axis> axes =
      axes_of(context.node, x.shape(),
              pads_of(context.node, x.shape().size(), int_values(context.node, context.input(1)), std::move(given),
                      context.has_input(3)),
              mode);
  Shape shape;
  for (const Axis& axis : axes) shape.push_back(axis.extent);
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  const Tensor* value = context.has_input(2) ? &context.input(2) : nullptr;
  context.outputs[0] = pick(
      x, shape,
      [&](size_t i, int64_t index) {
        const int64_t at = fold(index - axes[i].begin, axes[i].n, mode);
        return at == kFill ? kFill : (axes[i].low + at) * stride[i];
      },
      fill_value(context.node, value, x.dtype()));
}

// Only where the pads are known: they are part of the loops.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!has_loops(y) || context.constant(1) == nullptr || (context.has_input(3) && context.constant(3) == nullptr))
    return;
  const Mode mode = pad_mode(context.node);
  std::vector<int64_t> given;
  if (context.has_input(3)) given = int_values(context.node, *context.constant(3));
  const std::vector<Axis> axes =
      axes_of(context.node, x->shape,
              pads_of(context.node, x->shape.size(), int_values(context.node, *context.constant(1)), std::move(given),
                      context.has_input(3)),
              mode);
  emit_map(context, y, [&](const std::vector<Expr>& d) {
    std::vector<Expr> source;
    Expr inside;
    for (size_t i = 0; i < d.size(); ++i) {
      const auto [low, n, begin, extent] = axes[i];
      Expr at = begin == 0 ? d[i] : d[i] - begin;
      if (axes[i].padded() && n > 0) {
        switch (mode) {
          case Mode::Constant: {
            Expr within = begin == 0 ? at < n : begin + n == extent ? at >= 0 : at >= 0 && at < n;
            inside = inside.defined() ? inside && within : within;
            break;
          }
          case Mode::Edge: at = loops::min(loops::max(at, 0), n - 1); break;
          case Mode::Wrap: at = floormod(at, n); break;
          case Mode::Reflect:
            if (n == 1) {
              at = constant_int(DType::Int64, 0);
            } else {
              const Expr folded = floormod(at, 2 * (n - 1));
              at = loops::min(folded, 2 * (n - 1) - folded);
            }
            break;
        }
      }
      source.push_back(low == 0 ? at : at + low);
    }
    const bool nothing = std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.n == 0; });
    if (!inside.defined() && !nothing) return load(x, source);
    Expr fill = constant(x->dtype, 0);
    if (context.has_input(2)) fill = load(context.inputs[2], std::vector<Expr>(context.shape(2).size(), Expr(0)));
    return nothing ? fill : loops::select(inside, load(x, source), fill);
  });
}

void gradient(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  if (pad_mode(context.node) != Mode::Constant)
    fail_unsupported(context.node.label(), ": no gradient of mode ", string_attribute(context.node, "mode"));
  const Tensor* pads = build.known(context.input(1));
  const Tensor* axes = context.input(3) == kNoValue ? nullptr : build.known(context.input(3));
  if (pads == nullptr || (context.input(3) != kNoValue && axes == nullptr))
    fail_unsupported(context.node.label(), ": a gradient needs pads that are constant");
  std::vector<int64_t> begin, end;
  for (const Pads& border : pads_of(context.node, build.shape(context.dy()).size(), to_int64s(*pads),
                                    axes == nullptr ? std::vector<int64_t>() : to_int64s(*axes), axes != nullptr)) {
    begin.push_back(-border.begin);
    end.push_back(-border.end);
  }
  context.set(0, pad_with_zeros(build, context.dy(), begin, end));
}

}  // namespace

OpDef define_Pad() {
  OpDef op;
  op.name = "Pad";
  op.since = 25;
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.fill_input = 2;
  op.attributes = {{"mode", "constant", "constant, reflect, edge or wrap"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.gradient = gradient;
  op.permute = permute_pads;
  return op;
}

}  // namespace dnn::pad_ops
