// lowering_check: a node's lower() run by loops::evaluate, compared to the bit with its reference().
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ops/op.h"

namespace dnn {

// The stages and buffers that an operator's lower() gave for some inputs.
struct Lowered {
  LowerContext context;
  std::vector<Tensor> outputs;  // by node output; undefined where left out
};

// A node of `op` with one value per input (null: left out) and `n_outputs` outputs, ids counted from 0.
inline Node test_node(std::string op, const std::vector<const Tensor*>& inputs, Attributes attributes = {},
                      int n_outputs = 1) {
  Node node;
  node.op = std::move(op);
  node.attributes = std::move(attributes);
  ValueId next = 0;
  for (const Tensor* input : inputs) node.inputs.push_back(input == nullptr ? kNoValue : next++);
  for (int i = 0; i < n_outputs; ++i) node.outputs.push_back(next++);
  return node;
}

// What reference() gives.
inline std::vector<Tensor> run_reference(const Node& node, const std::vector<const Tensor*>& inputs,
                                         ThreadPool* pool = nullptr) {
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr) fail_internal("no operator ", node.op);
  ReferenceContext context{node, inputs, std::vector<Tensor>(node.outputs.size()), {}, pool};
  op->reference(context);
  return std::move(context.outputs);
}

// Every store to one of `outputs` also counts itself in that output's counter.
inline loops::Stmt count_stores(const loops::Stmt& stmt, const std::vector<loops::BufferRef>& outputs,
                                const std::vector<loops::BufferRef>& counters) {
  std::vector<loops::Stmt> children;
  for (const loops::Stmt& child : stmt->children) children.push_back(count_stores(child, outputs, counters));
  loops::Stmt same = loops::rebuild(*stmt, std::move(children));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (stmt->kind != loops::StmtKind::Store || stmt->buffer != outputs[i]) continue;
    const loops::Expr count = loops::load(counters[i], stmt->indices) + 1;
    return loops::block({same, loops::store(counters[i], stmt->indices, count)});
  }
  return same;
}

// Runs lower() for these inputs: outputs of reference()'s dtypes and shapes, `constant` inputs handed over as values.
// Empty stages give empty outputs. Adds a failure where an output element is not stored exactly once.
inline Lowered run_lowered(const Node& node, const std::vector<const Tensor*>& inputs,
                           const std::vector<Tensor>& expected, bool constant = false) {
  const OpDef* op = find_op(node.domain, node.op);
  Lowered result{LowerContext{node, {}, {}, {}, {}, {}}, {}};
  LowerContext& context = result.context;
  std::vector<Tensor> arguments;
  std::vector<loops::BufferRef> buffers, outputs, counters;
  auto add = [&](const loops::BufferRef& buffer, Tensor tensor) {
    buffers.push_back(buffer);
    arguments.push_back(std::move(tensor));
    return buffer;
  };
  auto buffer = [](std::string name, DType dtype, const Shape& shape) {
    return std::make_shared<const loops::Buffer>(
        loops::Buffer{std::move(name), dtype, shape, {}, loops::Scope::Global});
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* input = inputs[i];
    context.constants.push_back(constant ? input : nullptr);
    if (input == nullptr) {
      context.inputs.push_back(nullptr);
      continue;
    }
    context.inputs.push_back(
        add(buffer(cat("in", i), input->dtype(), input->shape()), input->reshaped({input->size()})));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined()) {
      context.outputs.push_back(nullptr);
      continue;
    }
    Tensor poison(expected[i].dtype(), {expected[i].size()});
    if (poison.size() > 0) std::memset(poison.mutable_bytes(), 0xa5, poison.size_bytes());
    outputs.push_back(add(buffer(cat("out", i), expected[i].dtype(), expected[i].shape()), std::move(poison)));
    context.outputs.push_back(outputs.back());
  }
  if (op->lower != nullptr) op->lower(context);
  if (context.stages.empty()) return result;
  for (const loops::BufferRef& temporary : context.temporaries) {
    Tensor poison(temporary->dtype, {element_count(temporary->shape)});
    if (poison.size() > 0) std::memset(poison.mutable_bytes(), 0xa5, poison.size_bytes());
    add(temporary, std::move(poison));
  }
  for (const loops::BufferRef& output : outputs) {
    counters.push_back(add(buffer(output->name + "_stores", DType::Int32, output->shape),
                           Tensor(DType::Int32, {element_count(output->shape)})));
  }
  for (const LowerContext::Stage& stage : context.stages) {
    EXPECT_FALSE(stage.pattern.empty());
    loops::evaluate(loops::Kernel{"test", "", stage.pattern, buffers, count_stores(stage.body, outputs, counters)},
                    arguments);
  }
  size_t output = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined()) {
      result.outputs.emplace_back();
      continue;
    }
    auto find = [&](const loops::BufferRef& which) {
      for (size_t j = 0; j < buffers.size(); ++j) {
        if (buffers[j] == which) return arguments[j];
      }
      return Tensor();
    };
    result.outputs.push_back(find(outputs[output]).reshaped(expected[i].shape()));
    int64_t wrong = 0;
    for (int32_t count : find(counters[output]).values<int32_t>()) wrong += count != 1 ? 1 : 0;
    EXPECT_EQ(wrong, 0) << "elements of output " << i << " of " << node.op << " are not stored exactly once";
    ++output;
  }
  return result;
}

// The same bits, but for the sign and payload of NaNs: neither IEEE 754 nor C++ says which operand's an operation keeps.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.identical(b)) return true;
  const bool floating = a.dtype() == DType::Float32 || a.dtype() == DType::Float64;
  if (!floating || a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::isnan(x[i]) && std::isnan(y[i])) && (x[i] != y[i] || std::signbit(x[i]) != std::signbit(y[i])))
      return false;
  }
  return true;
}

// The node's reference() and lower() agree to the bit; adds a failure where they do not, or where lower() has no stages.
// Returns reference()'s outputs. `constant`: lower() is told the inputs' values.
inline std::vector<Tensor> check_lowering(const Node& node, const std::vector<const Tensor*>& inputs,
                                          bool constant = false) {
  std::vector<Tensor> expected = run_reference(node, inputs);
  const Lowered lowered = run_lowered(node, inputs, expected, constant);
  EXPECT_FALSE(lowered.context.stages.empty()) << node.op << " is not lowered";
  if (lowered.context.stages.empty()) return expected;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined() || same_bits(expected[i], lowered.outputs[i])) continue;
    const std::vector<double> want = to_doubles(expected[i]), got = to_doubles(lowered.outputs[i]);
    size_t at = 0;
    while (at + 1 < want.size() && (want[at] == got[at] || (std::isnan(want[at]) && std::isnan(got[at])))) ++at;
    ADD_FAILURE() << node.op << " output " << i << " " << shape_text(expected[i].shape()) << " differs at element "
                  << at << ": reference " << exact_text(want[at]) << ", lowered " << exact_text(got[at]) << "\n"
                  << loops::to_text(lowered.context.stages[0].body);
  }
  return expected;
}

// `n` numbers of a fixed pseudo-random sequence in [-1, 1) (floats) or 0..100 (integers), or bits (bool).
inline Tensor random_tensor(DType dtype, const Shape& shape, uint64_t seed = 1) {
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (double& value : values) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const double unit = static_cast<double>(state >> 11) * 0x1p-53;
    value = is_float(dtype)        ? 2 * unit - 1
            : dtype == DType::Bool ? static_cast<double>(unit < 0.5)
                                   : std::floor(101 * unit);
  }
  return convert(Tensor::of<double>(shape, values), dtype);
}

}  // namespace dnn
