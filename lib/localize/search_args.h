// Options that dnn-localize, dnn-repair and dnn-bisect share.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "infer/device_args.h"
#include "infer/setup.h"
#include "localize/localize_models.h"
#include "localize/one_model.h"

namespace dnn {

struct SearchArgs : DeviceArgs {
  std::string preprocess;
  NetworkOptions network;  // its device is connected()'s
  std::optional<std::string> json;
  std::optional<double> time_limit;
  std::vector<std::string> inputs, given;
  int threads = 0;

  bool gives(const std::string& name) const;  // whether the command line has the option, by its long name
  // Throws Usage for one of `names` that is given without a word.
  void check_not_empty(const std::vector<std::pair<std::string, std::string>>& values) const;
  // The network's options on the device that is asked for. Throws what connecting throws.
  NetworkOptions connected() const;
  // Begins when it is called.
  Deadline deadline() const { return time_limit ? Deadline(*time_limit) : Deadline(); }
};

// Declares --preprocess, --shape, --json, --time-limit, --trust, --key, --adb-host, --device and --threads.
void declare_search(cli::Args& args, SearchArgs* o, const std::string& device_help);

void set_folders(OpenOptions* folders);

// A request for LocalizeRequest, OneModelRequest or what inherits from them: inputs, preprocessing, folders, threads.
template <class Request>
Request search_request(const SearchArgs& o) {
  Request request;
  request.inputs = o.inputs;
  request.preprocess = o.preprocess;
  set_folders(&request.folders);
  request.threads = o.threads;
  return request;
}

// As connected(). Models as they are written are interpreted, which spares compiling them, where no device is named and neither
// is a package.
NetworkOptions interpreted_where_written(const SearchArgs& o, const std::string& source, const std::string& target);

// Two models, for LocalizeRequest, PreprocessRequest or what inherits from them.
template <class Request>
Request pair_request(const SearchArgs& o, const std::string& source, const std::string& target,
                     const std::string& target_preprocess) {
  auto request = search_request<Request>(o);
  request.source = source;
  request.target = target;
  request.target_preprocess = target_preprocess;
  request.network = interpreted_where_written(o, source, target);
  request.deadline = o.deadline();
  return request;
}

// True for a trace of dnn-infer: a file that begins as a stream does. A pipe, which cannot be looked at twice, is not asked.
bool looks_like_trace(const std::string& path);

// Shows how many samples are done.
template <class Request>
void show_samples(Request* request, std::optional<cli::Progress>* progress) {
  request->begin = [progress](int64_t n_samples) { progress->emplace("samples", n_samples); };
  request->done = [progress] { (*progress)->advance(); };
}

// The report as JSON where --json says, and as text unless standard output is taken, by JSON or by what `other` says ("-").
void write_report(const SearchArgs& o, const std::string& json, const std::string& text, const std::string& other = "");

}  // namespace dnn
