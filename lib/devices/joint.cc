// Sessions that share the arena of one package; see joint.h.
#include "devices/joint.h"

#include <algorithm>

#include "devices/activations.h"
#include "devices/cpu_kernels.h"

namespace dnn {
namespace {

Tensor empty_tensor(const Type& type) { return {type.dtype, type.fixed_shape()}; }

// The state that the segments of a package have in common.
struct Shared {
  Shared(std::shared_ptr<const Package> p, const std::vector<DeviceOptions>& parts)
      : package(std::move(p)), variant(choose_cpu_variant(*package, "")), kernels(*package, variant) {
    if (!can_be_joint(variant)) fail_malformed("the plan is damaged: its package cannot be shared out");
    const TensorBudget budget(most_activations(*package, variant));
    arena = Tensor(DType::UInt8, {variant.arena_bytes});
    arena_data = arena.mutable_bytes();
    for (const DeviceOptions& part : parts) {
      pools.push_back(std::make_unique<ThreadPool>(part.threads, part.processors));
      processors.push_back(part.processors);
    }
  }

  const std::shared_ptr<const Package> package;
  const Variant& variant;
  const CpuKernels kernels;
  Tensor arena;
  std::byte* arena_data = nullptr;
  std::vector<std::unique_ptr<ThreadPool>> pools;  // by part
  std::vector<std::vector<int>> processors;
};

class JointSession : public Session {
 public:
  JointSession(std::shared_ptr<Shared> shared, const JointSegment& segment)
      : Session(shared->package, &shared->variant), shared_(std::move(shared)), segment_(segment) {
    for (size_t step : segment_.steps) add_step(step);
  }

  std::string isa() const override { return variant_->target.isa; }
  int threads() const override { return pool().size(); }
  std::vector<int> pinned_to() const override { return shared_->processors[segment_.part]; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    std::vector<Tensor> outputs;
    for (ValueId v : segment_.outputs) {
      outputs.push_back(is_of_caller(v) ? empty_tensor(graph().value(v).type) : Tensor());
    }
    for (const Crossing& c : crossings_) {
      void*& pointer = pointers_[c.step][c.argument];
      if (c.is_output) {
        pointer = outputs[c.number].mutable_bytes();
      } else {
        check_input(inputs[c.number], segment_.inputs[c.number]);
        pointer = const_cast<std::byte*>(inputs[c.number].bytes().data());
      }
    }
    for (size_t i = 0; i < segment_.steps.size(); ++i)
      shared_->kernels.run(pool(), segment_.steps[i], pointers_[i].data());
    return outputs;
  }

  std::vector<Tensor> trace(const std::vector<Tensor>&, const Observer&) override {
    fail_unsupported("a segment of a shared package is not traced alone");
  }

 private:
  // An argument of a step whose memory each run brings anew.
  struct Crossing {
    size_t step, argument;  // in segment_.steps and there
    bool is_output;
    size_t number;  // of the segment's inputs or outputs
  };

  ThreadPool& pool() const { return *shared_->pools[segment_.part]; }

  bool is_of_caller(ValueId v) const {
    if (v == kNoValue) return false;
    const Argument::Kind kind = variant_->values[v].where.kind;
    return kind == Argument::Kind::Input || kind == Argument::Kind::Output;
  }

  void add_step(size_t step) {
    std::vector<void*> pointers;
    for (const Argument& a : variant_->steps[step].arguments) {
      const size_t at = a.at;
      void* pointer = nullptr;
      if (a.kind == Argument::Kind::Arena) {
        pointer = shared_->arena_data + at;
      } else if (a.kind == Argument::Kind::Constant) {
        pointer = const_cast<std::byte*>(package_->constants[at].bytes().data());
      } else {
        crossings_.push_back(crossing(a.value, pointers_.size(), pointers.size()));
      }
      pointers.push_back(pointer);
    }
    pointers_.push_back(std::move(pointers));
  }

  Crossing crossing(ValueId v, size_t step, size_t argument) const {
    for (const bool is_output : {true, false}) {
      const std::vector<ValueId>& list = is_output ? segment_.outputs : segment_.inputs;
      const auto found = std::find(list.begin(), list.end(), v);
      if (found != list.end()) return {step, argument, is_output, static_cast<size_t>(found - list.begin())};
    }
    fail_malformed("the plan is damaged: a segment uses a value that it does not list");
  }

  void check_input(const Tensor& tensor, ValueId v) const {
    const Type& type = graph().value(v).type;
    if (tensor.dtype() != type.dtype || tensor.shape() != type.fixed_shape())
      fail_malformed("input '", graph().value(v).name, "' wants ", type.text(), ", is given ", Type(tensor).text());
  }

  const std::shared_ptr<Shared> shared_;
  const JointSegment segment_;
  std::vector<std::vector<void*>> pointers_;  // by step of the segment
  std::vector<Crossing> crossings_;
};

}  // namespace

bool can_be_joint(const Variant& variant) {
  using Kind = Argument::Kind;
  const auto fits = [](const Step& step) {
    return step.kernel >= 0 && step.samples <= 1 &&
           std::all_of(step.arguments.begin(), step.arguments.end(), [](const Argument& a) {
             const bool crosses = a.kind == Kind::Input || a.kind == Kind::Output;
             return a.kind == Kind::Arena || a.kind == Kind::Constant || (crosses && a.value != kNoValue);
           });
  };
  const std::vector<ValueId>& outputs = variant.graph->outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Argument& where = variant.values[outputs[i]].where;
    if (where.kind != Kind::Output || where.at != static_cast<int64_t>(i)) return false;
  }
  return variant.state.empty() && variant.sample_arena_bytes == 0 &&
         std::all_of(variant.steps.begin(), variant.steps.end(), fits);
}

std::vector<std::unique_ptr<Session>> open_joint(std::shared_ptr<const Package> package,
                                                 const std::vector<JointSegment>& segments,
                                                 const std::vector<DeviceOptions>& parts) {
  const auto shared = std::make_shared<Shared>(std::move(package), parts);
  std::vector<std::unique_ptr<Session>> sessions;
  for (const JointSegment& segment : segments) sessions.push_back(std::make_unique<JointSession>(shared, segment));
  return sessions;
}

}  // namespace dnn
