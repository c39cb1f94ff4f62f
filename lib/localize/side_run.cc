// Running a side; see side_run.h.
#include "localize/side_run.h"

#include "interp/interpreter.h"

namespace dnn {

std::vector<Tensor> in_float64(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> wide;
  for (const Tensor& input : inputs) wide.push_back(is_widened(input.dtype()) ? convert(input, DType::Float64) : input);
  return wide;
}

Outcome outcome_of(const std::function<std::vector<Tensor>()>& run) {
  Outcome outcome;
  try {
    outcome.outputs = run();
  } catch (const Error& e) {
    outcome.error = e.what();
  }
  return outcome;
}

SideRun::SideRun(const Graph& model, const BisectSide& side, const LeftOut& left_out) : side_(side) {
  if (side.as_it_is != nullptr) return;
  try {
    package_ = std::make_shared<Package>(side.compiler(model, leaving_out(side.compile, left_out)));
    session_ = open_session(side.device, package_, side.run);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Usage || e.kind() == ErrorKind::Environment) throw;
    error_ = e.what();
  }
}

Outcome SideRun::run(const std::vector<Tensor>& inputs) {
  if (!error_.empty()) return {{}, error_};
  Session& session = side_.as_it_is != nullptr ? *side_.as_it_is : *session_;
  try {
    return {session.run(side_.compile.element == DType::Float64 ? in_float64(inputs) : inputs), ""};
  } catch (const Error& e) {
    // That another machine cannot be reached any more is no result of the network.
    if (side_.device.is_remote() && e.kind() == ErrorKind::Environment) throw;
    return {{}, e.what()};
  }
}

}  // namespace dnn
