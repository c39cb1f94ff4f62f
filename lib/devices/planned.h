// What devices with a memory plan share: values of the variant's graph found by their placement, and nodes without a
// kernel run by the interpreter on values fetched from and stored to the device.
#pragma once
#include <vector>

#include "devices/device.h"

namespace dnn {

class PlannedSession : public Session {
 public:
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) final {
    const TensorBudget budget = run_budget(inputs);
    return execute(inputs, {});
  }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) final;
  std::vector<Tensor> fork(const std::vector<Tensor>& inputs, const Fork& observe) final {
    return execute(inputs, observe);
  }
  void enable_profile(bool on) final { profiling_ = on; }
  std::vector<StepProfile> profile() const final { return profile_; }

 protected:
  PlannedSession(std::shared_ptr<const Package> package, const Variant& variant);

  // Runs a step's kernel, for all samples.
  virtual void launch(size_t step) = 0;
  // Runs the kernels of this step and of as many of those behind it as the device takes at once; the number of the next step.
  virtual size_t launch_from(size_t step) {
    launch(step);
    return step + 1;
  }
  // Runs the steps from `first` to `last`, which samples may go through on their own. `times_ns`: where to add, by step, the time that
  // each took, or null.
  virtual void launch_samples(size_t first, size_t last, std::vector<int64_t>* times_ns);
  // Before a run: whether what each sample has in its arena must be there until the run ends, for all samples.
  virtual void keep_samples(bool) {}
  // Waits until what was launched is done (profiling, fetching).
  virtual void finish() {}
  // Inputs have changed: make them visible to kernels.
  virtual void upload_inputs() {}
  // Physical bytes of a value that lies in the arena, behind which those of the samples lie, or of output `index`, to host memory and back.
  virtual void read_arena(int64_t offset, std::byte* to, size_t bytes) = 0;
  virtual void write_arena(int64_t offset, const std::byte* from, size_t bytes) = 0;
  virtual void read_output(size_t index) { (void)index; }
  virtual void write_output(size_t index) { (void)index; }

  const std::vector<Tensor>& inputs() const { return *inputs_; }
  Tensor& output(size_t index) { return outputs_[index]; }

 private:
  std::vector<Tensor> execute(const std::vector<Tensor>& given, const Fork& observe);
  void run_step(size_t step);
  void run_samples(size_t first, size_t last);
  template <class Move>
  void move(ValueId id, size_t bytes, Move&& one);
  std::vector<Tensor> gather_outputs();
  std::vector<Tensor> resume(size_t step, const Instead& instead);
  Tensor fetch(ValueId id);
  void store(ValueId id, Tensor tensor);
  void interpret_step(const Step& step);
  const Placement& place(ValueId id) const { return variant_->values[id]; }
  DType stored_type(ValueId id) const {
    return place(id).dtype == DType::Undefined ? graph().value(id).type.dtype : place(id).dtype;
  }

  const std::vector<Tensor>* inputs_ = nullptr;
  std::vector<Tensor> outputs_, slots_;
  bool profiling_ = false;
  std::vector<StepProfile> profile_;
};

}  // namespace dnn
