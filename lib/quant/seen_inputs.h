// Seen inputs: what a calibration state has read, and which samples two command lines name both.
#pragma once
#include <string>
#include <vector>

#include "quant/calibrate.h"

namespace dnn::quant {

struct SeenInputs {
  std::vector<std::string> inputs;  // as a command line named them
  Ranges done = {};                 // ids of samples
  std::string folder = {};          // where their relative paths begin; "": where this process is

  // True for the same files in the same order, however their paths are spelt. Files that are not here, as another machine has them, go by
  // what they are called.
  bool is(const SeenInputs& other) const;
};

// The same from the folder where this process is.
SeenInputs named_here(const std::vector<std::string>& inputs);

// Positions of `inputs` whose samples the other has done: all of these where it is the same, else those whose images are the same files, by
// whatever paths, as parts of another list or through links. None where they are no images, or are not here.
Ranges done_by(const SeenInputs& other, const SeenInputs& inputs);

int64_t count_positions(const Ranges& ranges);
// Positions of both.
Ranges common_positions(const Ranges& a, const Ranges& b);

}  // namespace dnn::quant
