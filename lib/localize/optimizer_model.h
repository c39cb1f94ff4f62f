// Searching the passes of somebody else's optimiser, as a command line asks for it, and the report for people and programs.
#pragma once
#include <string>
#include <vector>

#include "localize/bisect_model.h"
#include "localize/optimizer_search.h"

namespace dnn {

// The optimiser that `text` names: NAME of an adapter (optimize_NAME.py), or a command. `COMMAND passes` prints its passes, one a line, in
// the order in which it applies them; `COMMAND apply MODEL.onnx OUT.onnx PASS...` writes what these make of the model. The model is
// written for it in `folder`. Throws Environment and Usage where it does not run.
Optimizer open_optimizer(const std::string& text, const Graph& model, const std::string& folder,
                         const DeviceOptions& options);

struct OptimizedModel {
  std::string model, optimizer;  // names
  std::vector<std::string> paths;
  OutputTolerance tolerance;
  OptimizerReport report;
  NotJudged not_judged;
  bool agrees() const { return !report.differs && !not_judged.any(); }
};

// Throws Usage, and what reading, the optimiser and the interpreter throw.
OptimizedModel optimizer_model(const BisectRequest& request, const std::string& optimizer);

// The passes found, with what they changed; ends with a newline.
std::string optimizer_text(const OptimizedModel& optimized);
// schemas/localize/optimizer.schema.json, on one line.
std::string optimizer_json(const OptimizedModel& optimized);

}  // namespace dnn
