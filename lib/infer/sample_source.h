// Samples: what a network is given, one after another: images, arrays, the samples of a stream, generated values.
//
// The contract of lib/infer: from inputs on a command line (open_samples), read ahead of the device (Prefetch), through a
// session in batches (Runner), into a stream's records and the figures of the run.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/io.h"
#include "image/dataset.h"
#include "image/labels.h"
#include "image/preprocess.h"
#include "package/package.h"
#include "stream/records.h"

namespace dnn {

// One input of the network as one sample fills it: in a network of batch b, [1, ...] of its [b, ...].
struct InputSlot {
  std::string name;
  DType dtype = DType::Undefined;
  Shape shape;
  // An integer input that the network dequantises first takes real numbers r as round(r / scale) + zero_point; 0: it does not.
  double scale = 0;
  int64_t zero_point = 0;
  // Float16 or bfloat16 of a model that computes in float64 here: it is given the numbers that it gets in its own type.
  DType stated = DType::Undefined;
};
// Real numbers as the slot wants them: quantised where it says so, rounded to even and saturated, else cast.
Tensor fit(const Tensor& tensor, const InputSlot& slot);

// How samples map to runs of a package.
struct BatchPlan {
  int64_t batch = 1;     // samples in one run
  bool batched = false;  // inputs and outputs are cut along their first axis; otherwise a run is one sample
  std::vector<InputSlot> slots;
};
// A package is batched when all its inputs and outputs have the same first extent. Throws Unsupported where an input's
// shape is open.
BatchPlan plan_batch(const Package& package);

// One sample, ready for the network or failed.
struct LoadedSample {
  int64_t id = 0;
  std::string path;
  std::optional<int64_t> truth;  // a label of the run's set
  std::vector<Tensor> inputs;    // by slot
  std::string warning;           // what the decoder complained about
  std::optional<Error> error;    // why there are no inputs
};

class SampleSource {
 public:
  using Load = std::function<LoadedSample()>;
  virtual ~SampleSource() = default;
  // The next sample as a job, or nullopt at the end. One thread at a time may ask; any may do the job.
  virtual std::optional<Load> next() = 0;
  // How many samples there are, where that is known beforehand.
  virtual std::optional<int64_t> count() const { return std::nullopt; }
  // Facts that the samples bring along, known before the first one: labels and preprocessing of a stream's samples.
  virtual std::vector<stream::Header> provenance() const { return {}; }
};

struct Shard {
  int64_t index = 0, count = 1;
  static Shard parse(const std::string& text);  // "0/8"; Usage unless 0 <= index < count
  std::string text() const;                     // "" for the whole
};

struct SourceOptions {
  std::vector<std::string> inputs;  // as on the command line, see open_samples()
  std::string fill;                 // one of fill_names() or "exec:COMMAND" in place of inputs; "": none
  uint64_t seed = 0;
  int64_t fill_count = 1;
  Shard shard;
  TruthSource truth = TruthSource::Auto;
  std::optional<Preprocess> preprocess;  // of images; without it images are refused (Usage)
  // Of images in its place: the network's only input, of a sample that holds the image as uint8 [H, W, 3]. Thread-safe.
  std::function<Tensor(const stream::Sample&)> preprocessor;
  bool apply_orientation = false;  // before it
  bool of_others = false;          // an .npz may hold arrays of inputs that this network has not
  int64_t most_expanded = 0;       // to how many bytes an .npz may expand; 0: most_expanded() of tensor/npy.h
  // What a program that makes samples is told, and how long it may say nothing.
  stream::Header for_programs = {};
  double wait_s = 600;
  std::optional<LabelSet> labels;  // fitted to the network; truth is looked up in it
  int64_t label_offset = 0;        // truth is the class found, less this
};

// The samples that `inputs` name, in their order; ids count from 0 through all shards. An input is
//   a folder, an image, a pack of images (image/pack.h), a text file of images (read_image_list)   images, preprocessed
//   FILE.npy, NAME=FILE.npy                                        an array for the only input, or for the one of that name
//   FILE.npz                                                       arrays by input name
//   FILE or - with a stream                                        its samples' tensors, and tensors of role input by name
// Arrays fill one sample when they have a sample's shape (the batch extent may be left out), and several when they stack
// them along the first axis. NAME= arrays belong together and stack equally many. An input is never run, whatever its name:
// a folder of other people's files may have brought it. What runs is `fill`, exec:COMMAND, which writes a stream
// (stream/dialogue.h).
// Throws Usage, Malformed (an array that does not fit), Environment; an image that cannot be read is that sample's error.
std::unique_ptr<SampleSource> open_samples(const SourceOptions& options, const BatchPlan& plan);

// What --fill takes: "zeros", "ones", "random".
const std::vector<std::string>& fill_names();
// Throws Usage for another name; "" is none.
void check_fill(const std::string& name);

// An image that inputs name: a file, or one of a pack.
struct ImageFile {
  std::string path;  // the pack's, of a packed one
  size_t place = 0;  // in it
};
// All of them in the order of their ids where they are images alone; else none.
std::vector<ImageFile> image_files(const std::vector<std::string>& inputs);

// Whether any of the inputs names images, decided by content, so that a preprocessing is wanted.
bool names_images(const std::vector<std::string>& inputs);

// How many samples for `slot` an array of this dtype and shape holds. Throws Malformed naming `what` where it does not fit.
int64_t count_samples(DType dtype, const Shape& shape, const InputSlot& slot, const std::string& what);

// Cuts `array` into samples for `slot`, converted to its type. Throws Malformed naming `what`.
std::vector<Tensor> cut_samples(const Tensor& array, const InputSlot& slot, const std::string& what);

// One of them after the other, as they are asked for.
class SampleCutter {
 public:
  SampleCutter(const Tensor& array, const InputSlot& slot, const std::string& what);
  int64_t count() const { return count_; }
  Tensor at(int64_t i) const;

 private:
  std::shared_ptr<const Tensor> array_;  // of the slot's type
  Shape shape_;
  int64_t count_;
};

}  // namespace dnn
