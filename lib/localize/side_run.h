// A side of a bisection, compiled and loaded with what is left out, to be run.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "localize/bisect_side.h"
#include "localize/rewrites.h"

namespace dnn {

// Tensors of the types that widen_to_float64 widens, as float64.
std::vector<Tensor> in_float64(const std::vector<Tensor>& inputs);

// What `run` gives, or the error that it throws.
Outcome outcome_of(const std::function<std::vector<Tensor>()>& run);

class SideRun {
 public:
  // `side` must outlive it. What cannot be compiled fails with each run; Usage and Environment are thrown.
  SideRun(const Graph& model, const BisectSide& side, const LeftOut& left_out);
  Outcome run(const std::vector<Tensor>& inputs);
  bool runs() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  Session& session() { return *session_; }

 private:
  const BisectSide& side_;
  std::shared_ptr<Package> package_;
  std::unique_ptr<Session> session_;
  std::string error_;
};

}  // namespace dnn
