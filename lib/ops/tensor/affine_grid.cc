// AffineGrid: the positions of a regular grid over -1 .. 1, moved by affine matrices; computed in float64.
#include "ops/movement.h"

namespace dnn::affine_grid_ops {
namespace {

// theta: [N, r, r + 1], size: [N, C, D1, ..., Dr] -> [N, D1, ..., Dr, r], r = 2 or 3
Shape grid_shape(const Node& node, const std::vector<int64_t>& size) {
  if (size.size() != 4 && size.size() != 5)
    fail_malformed(node.label(), ": size ", shape_text(size), " is not of 2 or 3 spatial axes");
  Shape shape = {size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(static_cast<int64_t>(size.size()) - 2);
  element_count(shape);  // refuses negative extents
  return shape;
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (const auto size = known_ints(context, 1)) {
    type.shape = to_dims(grid_shape(context.node, *size));
  } else if (const int64_t n = known_length(context, 1); n == 4 || n == 5) {
    type.shape = std::vector<Dim>(n - 1);
    type.shape->push_back(Dim(n - 2));
  }
  context.set_output(0, std::move(type));
}

void reference(ReferenceContext& context) {
  const Tensor& theta = context.input(0);
  const Shape shape = grid_shape(context.node, int_values(context.node, context.input(1)));
  const int64_t rank = shape.back();
  if (theta.shape() != Shape{shape[0], rank, rank + 1})
    context.fail("theta ", Type(theta).text(), " does not fit a grid of ", shape_text(shape));
  if (!is_float(theta.dtype())) fail_unsupported(context.node.label(), ": theta of ", dtype_name(theta.dtype()));
  const bool align = flag_attribute(context.node, "align_corners");
  const std::vector<double> matrix = to_doubles(theta);
  Tensor y(DType::Float64, shape);
  double* out = y.mutable_data<double>();
  const int64_t n_places = y.size() == 0 ? 0 : y.size() / (shape[0] * rank);
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t p = 0; p < n_places; ++p) {
      double position[4];  // x, y, (z), 1: the last spatial axis first
      int64_t rest = p;
      for (int64_t i = 0; i < rank; ++i) {
        const int64_t extent = shape[rank - i];
        const auto at = static_cast<double>(rest % extent), length = static_cast<double>(extent);
        rest /= extent;
        const double step = align ? (extent == 1 ? 0 : 2 / (length - 1)) : 2 / length;
        position[i] = -1 + (align ? 0 : step / 2) + at * step;
      }
      position[rank] = 1;
      for (int64_t row = 0; row < rank; ++row) {
        const double* weights = matrix.data() + (n * rank + row) * (rank + 1);
        double sum = 0;
        for (int64_t k = 0; k <= rank; ++k) sum += weights[k] * position[k];
        *out++ = sum;
      }
    }
  }
  context.outputs[0] = convert(y, theta.dtype());
}

}  // namespace

OpDef define_AffineGrid() {
  OpDef op;
  op.name = "AffineGrid";
  op.since = 20;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"align_corners", 0, "whether the corner elements of both grids lie on each other"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::affine_grid_ops
