// Inputs: what a command line names, as samples of one network.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "infer/sample_source.h"

namespace dnn::quant {

// How the inputs of a model are read.
struct InputChoice {
  std::string model;                             // the file, for messages
  std::vector<std::string> calibrate, validate;  // as for open_samples()
  std::string preprocess, labels;
  PreprocessOptions spelled_out = {};
  bool apply_orientation = false;
};

class Inputs {
 public:
  // Both must outlive it. Throws Usage where the network's batch is fixed at several samples.
  Inputs(const Graph& network, const InputChoice& choice);

  // `option` is how messages call them. Throws Usage where images have no preprocessing.
  std::unique_ptr<SampleSource> open(const std::vector<std::string>& inputs, const char* option, Shard shard = {});

  // The preprocessing that the command line asks for, as JSON; "" where it asks for none.
  std::string asked_preprocess() const;

  const Graph& graph() const { return package_.graph(); }        // every extent fixed
  int64_t label_offset() const { return label_offset_; }         // of the inputs opened last
  const std::string& preprocess() const { return preprocess_; }  // as JSON; "" where they are no images

 private:
  const InputChoice& choice_;
  Package package_;
  BatchPlan plan_;
  int64_t label_offset_ = 0;
  std::string preprocess_;
};

}  // namespace dnn::quant
