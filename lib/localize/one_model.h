// One model as a command line names it, as it is written, and its samples: what searches that run it in several ways begin with.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "compile/open.h"
#include "image/labels.h"
#include "image/preprocess.h"
#include "infer/setup.h"
#include "localize/bisect_side.h"
#include "localize/judged.h"

namespace dnn {

struct OneModelRequest {
  std::string model;
  std::vector<std::string> inputs;  // as for open_samples()
  std::string preprocess;
  PreprocessOptions spelled_out;
  bool apply_orientation = false;
  OpenOptions folders;  // cache and key places, log sinks
  int threads = 0;
};

// The model for the reference device: no passes, no kernels; of `network` shapes and trust count. Throws Usage where its batch is
// fixed at more than one.
std::shared_ptr<const Package> open_as_written(const OneModelRequest& request, const NetworkOptions& network);

struct HeldSamples {
  std::optional<LabelSet> labels;
  std::vector<BisectSample> samples;
  NotJudged not_judged;  // of those that were given
};

// At most 1000, and all but the first in a tenth of the time; a sample that cannot be read is warned of and left out.
HeldSamples hold_samples(const OneModelRequest& request, const Package& written, const Deadline& deadline);

}  // namespace dnn
