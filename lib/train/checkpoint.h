// Checkpoints: all that a run needs to go on as if it had never stopped, in one file that is written whole.
#pragma once
#include <string>

#include "train/fit.h"

namespace dnn::train {

// `settings`: one line that says which run it is of; where it is a JSON object, its `ranks` (1) is their number.
void write_checkpoint(const std::string& path, const Progress& progress, const std::string& settings);
// Throws Environment, Malformed for a damaged file, Usage for one of other settings.
Progress read_checkpoint(const std::string& path, const std::string& settings);

}  // namespace dnn::train
