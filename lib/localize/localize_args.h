// The command line of dnn-localize: what it can do, and which options have a say in what.
#pragma once
#include <optional>
#include <string>

#include "localize/localize.h"
#include "localize/search_args.h"

namespace dnn {

struct LocalizeArgs : SearchArgs {
  std::string source, target, target_preprocess, sort = "divergence", reduce, alignment, aligned, csv, precision, fill,
                                                 source_arithmetic;
  ParameterTolerance tolerance;
  LabelSampling sampling;
  int64_t top = 20;
  bool preprocessing = false;

  // Where one of its options is given.
  std::optional<LabelSampling> label_sampling() const;
};

void declare_localize(cli::Args& args, LocalizeArgs& o);

enum class LocalizeTask : unsigned { Models = 1, Traces = 2, Preprocessing = 4, Precision = 8 };

// The task that options and files ask for. Throws Usage for an option that has no say in that, and for options that contradict.
LocalizeTask localize_task(const LocalizeArgs& o);

LocalizeRequest localize_request(const LocalizeArgs& o);

}  // namespace dnn
