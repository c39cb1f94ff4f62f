// Broadcasting, and what all element-wise operators share; see elementwise.h.
#include "ops/elementwise.h"

#include <algorithm>

namespace dnn {

std::vector<Dim> broadcast_dims(const Node& node, const std::vector<Dim>& a, const std::vector<Dim>& b) {
  std::vector<Dim> result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {  // from the back
    const Dim da = i < a.size() ? a[a.size() - 1 - i] : Dim(1), db = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
    Dim& out = result[result.size() - 1 - i];
    if (da == db) {
      out = da;
    } else if (da.size == 1) {
      out = db;
    } else if (db.size == 1) {
      out = da;
    } else if (da.fixed() && db.fixed()) {
      fail_malformed(node.label(), ": ", Type(DType::Undefined, a).text(), " and ", Type(DType::Undefined, b).text(),
                     " do not broadcast");
    } else {
      out = da.fixed() ? da : db.fixed() ? db : Dim();
    }
  }
  return result;
}

Shape broadcast_shape(const Node& node, const Shape& a, const Shape& b) {
  const std::vector<Dim> da(a.begin(), a.end()), db(b.begin(), b.end());
  Shape result;
  for (const Dim& dim : broadcast_dims(node, da, db)) result.push_back(dim.size);
  return result;
}

namespace {

// Steps along the axes of an output of `rank` axes; 0 where one element serves them all.
std::vector<int64_t> broadcast_steps(size_t rank, const Shape& input) {
  std::vector<int64_t> steps(rank, 0);
  const std::vector<int64_t> own = row_major_strides(input);
  for (size_t i = 0; i < input.size(); ++i) {
    if (input[i] != 1) steps[rank - input.size() + i] = own[i];
  }
  return steps;
}

// Offsets over the first `rank` axes of `output`.
std::vector<int64_t> offsets_over(const Shape& output, size_t rank, const std::vector<int64_t>& steps) {
  int64_t n = 1;
  for (size_t axis = 0; axis < rank; ++axis) n *= output[axis];
  std::vector<int64_t> offsets(n), index(rank, 0);
  int64_t at = 0;
  for (int64_t& offset : offsets) {
    offset = at;
    for (size_t axis = rank; axis-- > 0;) {
      at += steps[axis];
      if (++index[axis] < output[axis]) break;
      at -= steps[axis] * output[axis];
      index[axis] = 0;
    }
  }
  return offsets;
}

}  // namespace

std::vector<std::vector<int64_t>> broadcast_offsets(const Shape& output, const std::vector<Shape>& inputs) {
  std::vector<std::vector<int64_t>> result;
  for (const Shape& input : inputs)
    result.push_back(offsets_over(output, output.size(), broadcast_steps(output.size(), input)));
  return result;
}

BroadcastRuns broadcast_runs(const Shape& output, const std::vector<Shape>& inputs) {
  std::vector<std::vector<int64_t>> steps;
  for (const Shape& input : inputs) steps.push_back(broadcast_steps(output.size(), input));
  BroadcastRuns runs;
  runs.step.assign(inputs.size(), 0);
  runs.offsets.resize(inputs.size());
  if (element_count(output) == 0) return runs;
  size_t rank = output.size();
  for (bool any = false; rank > 0; --rank) {  // axes of one element fit into any run
    bool fits = true;
    for (size_t i = 0; i < inputs.size() && output[rank - 1] != 1; ++i) {
      const int64_t step = steps[i][rank - 1] == 0 ? 0 : 1;
      if (!any) runs.step[i] = step;
      fits = fits && runs.step[i] == step;
    }
    if (!fits) break;
    any = any || output[rank - 1] != 1;
    runs.length *= output[rank - 1];
  }
  for (size_t i = 0; i < steps.size(); ++i) runs.offsets[i] = offsets_over(output, rank, steps[i]);
  return runs;
}

void for_each_run(ThreadPool* pool, const Shape& output, const Shape& a, const Shape& b,
                  const std::function<void(const BroadcastRun&)>& body) {
  const BroadcastRuns runs = broadcast_runs(output, {a, b});
  const int64_t n = element_count(output), step_a = runs.step[0], step_b = runs.step[1];
  share(pool, n, static_cast<double>(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t from = i % runs.length, count = std::min(end - i, runs.length - from);
      const size_t run = i / runs.length;
      body({i, runs.offsets[0][run] + from * step_a, runs.offsets[1][run] + from * step_b, step_a, step_b, count});
      i += count;
    }
  });
}

namespace internal {

void run_unary(ReferenceContext& context, const RowKernel<UnaryRow>& kernel) {
  const Tensor& x = context.input(0);
  Tensor y(kernel.output, x.shape());
  const auto size_x = static_cast<int64_t>(dtype_size(x.dtype())), size_y = static_cast<int64_t>(dtype_size(y.dtype()));
  const std::byte* in = x.bytes().data();
  std::byte* out = y.mutable_bytes();
  share(context.pool, x.size(), static_cast<double>(x.size()), [&](int64_t begin, int64_t end) {
    kernel.row(kernel.functor, in + begin * size_x, out + begin * size_y, end - begin);
  });
  context.outputs[0] = std::move(y);
}

void run_binary(ReferenceContext& context, const Tensor& a, const Tensor& b, const RowKernel<BinaryRow>& kernel) {
  Tensor y(kernel.output, broadcast_shape(context.node, a.shape(), b.shape()));
  const auto size_of = [](const Tensor& tensor) { return static_cast<int64_t>(dtype_size(tensor.dtype())); };
  const int64_t size_a = size_of(a), size_b = size_of(b), size_y = size_of(y);
  const std::byte *in_a = a.bytes().data(), *in_b = b.bytes().data();
  std::byte* out = y.mutable_bytes();
  for_each_run(context.pool, y.shape(), a.shape(), b.shape(), [&](const BroadcastRun& run) {
    kernel.row(kernel.functor, in_a + run.a * size_a, run.step_a, in_b + run.b * size_b, run.step_b,
               out + run.begin * size_y, run.count);
  });
  context.outputs[0] = std::move(y);
}

}  // namespace internal

namespace {
void infer_broadcast(InferContext& context, DType dtype) {
  Type type;
  type.dtype = dtype;
  std::vector<Dim> dims;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.has_shape(i)) {
      context.set_output(0, type);
      return;
    }
    dims = broadcast_dims(context.node, dims, *context.inputs[i]->shape);
  }
  type.shape = std::move(dims);
  context.set_output(0, std::move(type));
}
}  // namespace

void infer_elementwise(InferContext& context) { infer_broadcast(context, context.input(0).dtype); }
void infer_comparison(InferContext& context) { infer_broadcast(context, DType::Bool); }

std::vector<loops::Expr> broadcast_indices(const Shape& shape, const std::vector<loops::Expr>& indices) {
  std::vector<loops::Expr> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    result.push_back(shape[i] == 1 ? loops::constant_int(DType::Int64, 0) : indices[indices.size() - shape.size() + i]);
  }
  return result;
}

void emit_map(LowerContext& context, const loops::BufferRef& output,
              const std::function<loops::Expr(const std::vector<loops::Expr>& indices)>& element) {
  std::vector<loops::Expr> indices;
  for (size_t i = 0; i < output->shape.size(); ++i) indices.push_back(loops::variable("d" + std::to_string(i)));
  loops::Stmt body = loops::store(output, indices, element(indices));
  for (size_t i = output->shape.size(); i-- > 0;)
    body = loops::loop("d" + std::to_string(i), output->shape[i], std::move(body));
  context.emit("map", std::move(body));
}

void lower_float_elementwise(LowerContext& context) {
  const DType dtype = context.outputs[0]->dtype;
  if (is_float(dtype) || dtype == DType::Bool) lower_elementwise(context);
}

void lower_elementwise(LowerContext& context) {
  for (const loops::BufferRef& input : context.inputs) {
    if (input != nullptr && !loops::has_arithmetic(input->dtype)) return;
  }
  if (!loops::has_arithmetic(context.outputs[0]->dtype)) return;
  const OpDef* op = find_op(context.node.domain, context.node.op);
  emit_map(context, context.outputs[0], [&](const std::vector<loops::Expr>& indices) {
    std::vector<loops::Expr> inputs;
    for (const loops::BufferRef& input : context.inputs) {
      inputs.push_back(input == nullptr ? loops::Expr() : loops::load(input, broadcast_indices(input->shape, indices)));
    }
    return op->element(context.node, inputs);
  });
}

}  // namespace dnn
