// Einsum: sums of products over named axes, with ellipsis and repeated letters.
//
// Order: for each output element the summed axes nest in the order in which their letters first appear, outermost first;
// a term is the product of the operands, left to right. The 16-bit floats accumulate in float32, integers wrap.
#include <algorithm>
#include <map>

#include "ops/elementwise.h"
#include "ops/equation.h"

namespace dnn::einsum_ops {
namespace {

// The extent of every label; those of the ellipsis broadcast.
template <class Extent>
std::map<int, Extent> label_extents(const EinsumEquation& equation, const std::vector<std::vector<Extent>>& shapes) {
  std::map<int, Extent> extents;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t axis = 0; axis < shapes[i].size(); ++axis) {
      const int label = equation.operands[i][axis];
      const Dim extent(shapes[i][axis]);
      const auto [found, fresh] = extents.try_emplace(label, shapes[i][axis]);
      const Dim before(found->second);
      if (fresh || before == extent) continue;
      if (before.fixed() && extent.fixed() && !(label < 0 && (before.size == 1 || extent.size == 1)))
        equation.fail("an axis has extent ", before.size, " and ", extent.size);
      if (!before.fixed() || (label < 0 && before.size == 1)) found->second = shapes[i][axis];
    }
  }
  return extents;
}

std::vector<int64_t> ranks_of(const std::vector<Shape>& shapes) {
  std::vector<int64_t> ranks;
  for (const Shape& shape : shapes) ranks.push_back(static_cast<int64_t>(shape.size()));
  return ranks;
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  std::vector<int64_t> ranks;
  std::vector<std::vector<Dim>> shapes;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (!context.has_shape(i)) return context.set_output(0, type);
    shapes.push_back(context.shape(i));
    ranks.push_back(static_cast<int64_t>(shapes.back().size()));
  }
  const EinsumEquation equation(context.node, ranks);
  const auto extents = label_extents(equation, shapes);
  type.shape.emplace();
  for (int label : equation.output) type.shape->push_back(extents.at(label));
  context.set_output(0, std::move(type));
}

// Offsets, in an operand of these labels and shape, of all combinations of `labels`, the last one fastest.
std::vector<int64_t> offsets_of(const std::vector<int>& labels, const std::map<int, int64_t>& extents,
                                const std::vector<int>& operand, const Shape& shape) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<int64_t> offsets = {0};
  for (int label : labels) {
    int64_t stride = 0;
    for (size_t axis = 0; axis < operand.size(); ++axis) {
      if (operand[axis] == label && shape[axis] != 1) stride += strides[axis];
    }
    std::vector<int64_t> next;
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < extents.at(label); ++i) next.push_back(offset + i * stride);
    }
    offsets = std::move(next);
  }
  return offsets;
}

void reference(ReferenceContext& context) {
  std::vector<Shape> shapes;
  const DType dtype = context.input(0).dtype();
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (context.input(i).dtype() != dtype) context.fail("inputs of several dtypes");
    shapes.push_back(context.input(i).shape());
  }
  const EinsumEquation equation(context.node, ranks_of(shapes));
  const std::map<int, int64_t> extents = label_extents(equation, shapes);
  Shape shape, summed_shape;
  for (int label : equation.output) shape.push_back(extents.at(label));
  for (int label : equation.summed) summed_shape.push_back(extents.at(label));
  const int64_t n_summed = element_count(summed_shape);
  Tensor y(dtype, shape), space(DType::UInt8, summed_shape);  // `space`: the offsets below fit in memory
  std::vector<std::vector<int64_t>> base, inner;
  for (size_t i = 0; i < shapes.size(); ++i) {
    base.push_back(offsets_of(equation.output, extents, equation.operands[i], shapes[i]));
    inner.push_back(offsets_of(equation.summed, extents, equation.operands[i], shapes[i]));
  }
  internal::dispatch_domain<Domain::Numbers>(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<const T*> in;
    for (size_t i = 0; i < shapes.size(); ++i) in.push_back(context.input(i).data<T>());
    T* out = y.mutable_data<T>();
    for (int64_t o = 0; o < y.size(); ++o) {
      Compute<T> sum = 0;
      for (int64_t s = 0; s < n_summed; ++s) {
        const auto at = [&](size_t i) { return widen(in[i][base[i][o] + inner[i][s]]); };
        Compute<T> term = at(0);
        for (size_t i = 1; i < in.size(); ++i) term = elementwise::multiply(term, at(i));
        sum = elementwise::add(sum, term);
      }
      out[o] = static_cast<T>(sum);
    }
  });
  context.outputs[0] = std::move(y);
}

void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef y = context.outputs[0];
  if (y->dtype != DType::Float32 && y->dtype != DType::Float64) return;
  std::vector<Shape> shapes;
  for (const BufferRef& input : context.inputs) shapes.push_back(input->shape);
  const EinsumEquation equation(context.node, ranks_of(shapes));
  const std::map<int, int64_t> extents = label_extents(equation, shapes);
  const auto name = [](int label) { return label < 0 ? cat("e", -label) : cat("l_", static_cast<char>(label)); };
  Expr term;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::vector<Expr> at;
    for (size_t axis = 0; axis < shapes[i].size(); ++axis) {
      at.push_back(shapes[i][axis] == 1 ? constant_int(DType::Int64, 0) : variable(name(equation.operands[i][axis])));
    }
    const Expr factor = load(context.inputs[i], at);
    term = i == 0 ? factor : term * factor;
  }
  const BufferRef sum = local_buffer("sum", y->dtype);
  std::vector<Expr> y_index;
  for (int label : equation.output) y_index.push_back(variable(name(label)));
  Stmt inner = store(sum, {}, load(sum, {}) + term);
  for (size_t i = equation.summed.size(); i-- > 0;)
    inner = loop(name(equation.summed[i]), extents.at(equation.summed[i]), std::move(inner));
  Stmt body =
      block({alloc(sum), store(sum, {}, constant(y->dtype, 0)), std::move(inner), store(y, y_index, load(sum, {}))});
  for (size_t i = equation.output.size(); i-- > 0;)
    body = loop(name(equation.output[i]), extents.at(equation.output[i]), std::move(body));
  context.emit("reduce", std::move(body));
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const EinsumEquation equation(node, ranks_of(inputs));
  double n = 2.0 * static_cast<double>(element_count(outputs[0]));
  const std::map<int, int64_t> extents = label_extents(equation, inputs);
  for (int label : equation.summed) n *= static_cast<double>(extents.at(label));
  return n;
}

}  // namespace

OpDef define_Einsum() {
  OpDef op;
  op.name = "Einsum";
  op.since = 28;
  op.max_inputs = -1;
  op.traits = kNoTraits;
  op.attributes = {{"equation", required(AttributeType::String), "indices of the operands and of the result"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::einsum_ops
