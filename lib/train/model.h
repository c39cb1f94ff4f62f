// Training a model file as a command line asks for it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "convert/surgery.h"
#include "image/preprocess.h"
#include "train/fit.h"
#include "train/ranks.h"

namespace dnn::train {

struct TrainRequest {
  std::string model, data, output;  // the output's name says the format
  Surgery surgery = {};             // of the model as it is read
  std::string validate;             // a folder or pack, or a share like 0.2; "" for none
  std::string optimizer = "adam", schedule = "constant", augment = "none";
  std::optional<std::string> replace_head;  // as for parse_head()
  std::vector<std::string> freeze;          // patterns of the source's layers
  std::vector<std::string> rate_scale;      // "PATTERN=FACTOR" of layers
  std::optional<std::string> init;          // weights drawn anew: "torch" or "he"
  std::string supernet;       // a file of elastic ranges (branch/ranges.h): train all its children; "" for none
  std::string quantize;       // a state of dnn-quantize: train for integers; "" for none
  bool reduce_range = false;  // with quantize: as dnn-quantize's
  bool resume = false;
  int64_t epochs = 10, batch = 32, accumulate = 1, patience = 0, warmup = 0;
  int64_t feature_variants = 0;
  double rate = 1e-3, momentum = 0.9, weight_decay = 0, clip = 0, label_smoothing = 0;
  bool nesterov = false;
  bool keep_statistics = false;  // norms learn scale and shift, and use the model's own statistics
  std::string teacher;           // a model; "" for none
  double temperature = 4, teacher_weight = 0.5;
  std::string logdir;  // "" for none
  bool histograms = false;
  bool profile = false;               // say at the end where the time of a step goes
  std::string precision = "float32";  // or float64: of the steps; the file keeps the model's own
  bool winograd = false;              // steps by Winograd's algorithm: less time, more rounding
  bool recompute = false;  // steps compute activations again in place of keeping them: less memory, more time
  bool logits = false;     // no Softmax behind a new head
  bool io_spec = false;    // write OUTPUT.json as Kenning does
  uint64_t seed = 0;
  int threads = 0;
  std::string preprocess;
  PreprocessOptions spelled_out = {};
  bool apply_orientation = false;
  CompileOptions compile = {};
  Ranks* ranks = nullptr;  // the other processes that train the same network with this one (train/ranks.h); null: none
  std::function<void(const std::string& line)> say = {};      // results as they come; may be empty
  std::function<void(const std::string& line)> note = {};     // what it does; may be empty
  std::function<void(const std::string& message)> warn = {};  // may be empty
};

// With ranks all call it with the same request, but for the log sinks: rank 0 alone writes files and reads the checkpoint.
// Trains and writes the network of the best epoch. The checkpoint lies beside the output until then, as OUT.checkpoint.
// Throws Usage, Malformed for an image that cannot be read, Unsupported with all layers that cannot be trained, Negative where the loss
// stops being finite (the best network so far is written then), and what reading, compiling and writing throw; with ranks also
// FailedTogether (run_rank()).
void train_model(const TrainRequest& request);

}  // namespace dnn::train
