// The options of dnn-compile that put parts of a model on several devices.
#pragma once
#include <string>
#include <vector>

#include "cli/cli.h"
#include "compile/open.h"
#include "place/place.h"

namespace dnn::place {

struct PlaceArgs {
  std::string file;  // of rules, or kAuto; "": the package is for one device
  std::string devices, rules_out, goal = kLatency;

  bool any() const { return !file.empty(); }
};

// Declares --place, --devices and --place-out.
void declare_place(cli::Args& args, PlaceArgs* o);

// Throws Usage for options that are `given` and contradict, or miss another. `output`: where the package goes.
void check_place(const PlaceArgs& o, const std::vector<std::string>& given, const std::string& output);

// The placed package of the model at `path`, written to `to`. Says what a search finds. Throws Usage, and as compile_file_by() and
// place_model() do.
std::shared_ptr<const Package> compile_placed(const PlaceArgs& o, const std::string& path, const OpenOptions& open,
                                              const DeviceOptions& connection, ByteSink* to);

}  // namespace dnn::place
