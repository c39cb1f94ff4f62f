// The target "loops": every node that lowers to loops also runs as these loops, and must give the reference's bits.
#include <cstring>

#include "base/error.h"
#include "interp/interpreter.h"
#include "onnx/target.h"
#include "ops/op.h"

namespace dnn::conformance {
namespace {

constexpr double kMaxFlops = 4e6;       // evaluate() walks trees: larger nodes would take minutes
constexpr int64_t kMaxConstant = 4096;  // elements of an input that a lowering may know

loops::BufferRef buffer_for(const std::string& name, const Tensor& tensor) {
  return std::make_shared<const loops::Buffer>(
      loops::Buffer{name, tensor.dtype(), tensor.shape(), {}, loops::Scope::Global});
}

// Filled with a pattern that no test expects, so that an element without a store shows.
Tensor poisoned(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, {element_count(shape)});
  if (tensor.size() > 0) std::memset(tensor.mutable_bytes(), dtype == DType::Bool ? 1 : 0xa5, tensor.size_bytes());
  return tensor;
}

// A node, its values and its kernel arguments.
class NodeLoops {
 public:
  NodeLoops(const Node& node, const std::vector<const Tensor*>& inputs, const std::vector<const Tensor*>& outputs,
            const std::vector<bool>& known)
      : node_(node), outputs_(outputs), context_{node, {}, {}, {}, {}, {}} {
    for (size_t i = 0; i < inputs.size(); ++i) {
      context_.inputs.push_back(inputs[i] == nullptr ? nullptr : add(*inputs[i], cat("in", i)));
      context_.constants.push_back(known[i] ? inputs[i] : nullptr);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == nullptr) {
        context_.outputs.push_back(nullptr);
        continue;
      }
      context_.outputs.push_back(buffer_for(cat("out", i), *outputs[i]));
      buffers_.push_back(context_.outputs.back());
      arguments_.push_back(poisoned(outputs[i]->dtype(), outputs[i]->shape()));
    }
  }

  // Whether the node has loops. Throws Internal where they give other bits than the reference.
  bool check(const OpDef& op) {
    op.lower(context_);
    if (context_.stages.empty()) return false;
    for (const loops::BufferRef& temporary : context_.temporaries) {
      buffers_.push_back(temporary);
      arguments_.push_back(poisoned(temporary->dtype, temporary->shape));
    }
    for (const LowerContext::Stage& stage : context_.stages)
      loops::evaluate(loops::Kernel{"node", "", stage.pattern, buffers_, stage.body}, arguments_);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i] == nullptr) continue;
      for (size_t k = 0; k < buffers_.size(); ++k) {
        if (buffers_[k] == context_.outputs[i] && !arguments_[k].reshaped(outputs_[i]->shape()).identical(*outputs_[i]))
          fail_internal(node_.label(), ": output ", i, " of its loops differs from the reference\n",
                        loops::to_text(context_.stages[0].body));
      }
    }
    return true;
  }

 private:
  loops::BufferRef add(const Tensor& tensor, const std::string& name) {
    buffers_.push_back(buffer_for(name, tensor));
    arguments_.push_back(tensor.dtype() == DType::String ? tensor : tensor.reshaped({tensor.size()}));
    return buffers_.back();
  }

  const Node& node_;
  const std::vector<const Tensor*>& outputs_;
  LowerContext context_;
  std::vector<loops::BufferRef> buffers_;
  std::vector<Tensor> arguments_;
};

class Loops : public Target {
 public:
  void load(const std::vector<Job>& jobs) override { jobs_ = &jobs; }

  std::vector<Tensor> run(size_t job_i, const std::vector<Tensor>& inputs) override {
    const Graph& graph = *(*jobs_)[job_i].graph;
    std::vector<Tensor> values(static_cast<size_t>(graph.value_count()));
    for (ValueId id = 0; id < graph.value_count(); ++id) {
      if (const Tensor* constant = graph.constant(id)) values[static_cast<size_t>(id)] = *constant;
    }
    const Observer keep = [&](const Graph& where, ValueId id, const Tensor& value) {
      if (&where == &graph) values[static_cast<size_t>(id)] = value;
    };
    std::vector<Tensor> results = interpret(graph, inputs, keep);
    for (NodeId id : graph.order()) check(graph, graph.node(id), values);
    return results;
  }

  std::string summary() const override { return cat(n_lowered_, " of ", n_nodes_, " nodes ran as loops too"); }

 private:
  static const Tensor* value_of(const std::vector<Tensor>& values, ValueId id) {
    return id == kNoValue || !values[static_cast<size_t>(id)].defined() ? nullptr : &values[static_cast<size_t>(id)];
  }

  void check(const Graph& graph, const Node& node, const std::vector<Tensor>& values) {
    ++n_nodes_;
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || op->lower == nullptr) return;
    std::vector<const Tensor*> inputs, outputs;
    std::vector<bool> known;
    std::vector<Shape> input_shapes, output_shapes;
    for (ValueId id : node.inputs) {
      inputs.push_back(value_of(values, id));
      const bool leaf = id != kNoValue && (graph.is_input(id) || graph.constant(id) != nullptr);
      known.push_back(leaf && known.size() > 0 && inputs.back()->size() <= kMaxConstant);
      input_shapes.push_back(inputs.back() == nullptr ? Shape() : inputs.back()->shape());
    }
    double flops = 0;
    for (ValueId id : node.outputs) {
      outputs.push_back(value_of(values, id));
      output_shapes.push_back(outputs.back() == nullptr ? Shape() : outputs.back()->shape());
      flops += outputs.back() == nullptr ? 0 : static_cast<double>(outputs.back()->size());
    }
    if (op->flops != nullptr) flops = op->flops(node, input_shapes, output_shapes);
    if (flops <= kMaxFlops && NodeLoops(node, inputs, outputs, known).check(*op)) ++n_lowered_;
  }

  const std::vector<Job>* jobs_ = nullptr;
  int n_nodes_ = 0, n_lowered_ = 0;
};

}  // namespace

std::unique_ptr<Target> open_loops() { return std::make_unique<Loops>(); }

}  // namespace dnn::conformance
