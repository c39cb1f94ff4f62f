// The command line of dnn-infer: which network runs, where, on what, and what is recorded of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "infer/device_args.h"
#include "infer/setup.h"

namespace dnn {

struct InferArgs : DeviceArgs {
  std::string model, output = "-", preprocess, labels, shard = "0/1", postprocess, timeline;
  NetworkOptions network;  // its device is the default: a DeviceSpec of `device` belongs there
  PreprocessOptions spelled_out;
  SourceOptions source;
  RunOptions run;
  std::optional<int64_t> decode_threads, in_flight;
  std::optional<std::string> usage, affinity, trace;
  std::vector<std::string> select, given, command;
  int threads = 0;
  bool exif = false, list_devices = false;

  bool gives(const char* name) const;  // whether the command line has the option, by its long name
  bool takes_images() const { return source.fill.empty() && names_images(source.inputs); }
  bool spells_out() const { return !preprocess.empty() || spelled_out.any(); }
  bool traces() const { return trace || !select.empty(); }
  std::vector<std::string> traced_layers() const;  // of --trace and --select; none: all
  int usage_ms() const;                            // between usage records; 0: none are wanted. Throws Usage
  size_t runs_in_flight() const;                   // through a placed package; 0: as many as it says
};

void declare_infer(cli::Args& args, InferArgs& o);

// Throws Usage for options that have no say on that device.
void check_infer(const InferArgs& o, const DeviceSpec& device);
// The same of a package that is placed on several devices, which says itself where it runs, and of options for such packages alone.
void check_placement(const InferArgs& o, const DeviceSpec& device, const Package& package);

}  // namespace dnn
