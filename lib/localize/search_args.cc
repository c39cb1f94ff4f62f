// Options of several tools; see search_args.h.
#include "localize/search_args.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "cli/output.h"
#include "package/file.h"

namespace dnn {
namespace {

bool is_package(const std::string& path) {
  return std::filesystem::is_regular_file(path) && looks_like_package(as_bytes(read_head(path, 8)));
}

}  // namespace

bool SearchArgs::gives(const std::string& name) const {
  return std::find(given.begin(), given.end(), name) != given.end();
}

void SearchArgs::check_not_empty(const std::vector<std::pair<std::string, std::string>>& values) const {
  for (const auto& [name, value] : values) {
    if (value.empty() && gives(name)) fail_usage(name, ": the name is empty");
  }
}

NetworkOptions SearchArgs::connected() const {
  NetworkOptions result = network;
  check_connection(device);
  result.device = device;
  result.as_written = true;
  result.device.connect(connection());
  return result;
}

void declare_search(cli::Args& args, SearchArgs* o, const std::string& device_help) {
  o->network.variable = cli::variable;
  args.given(&o->given);
  args.option(&o->preprocess, "--preprocess", "NAME", join(preprocess_names(), ", "));
  args.list(&o->network.shapes, "--shape", "NAME:DIMS", "extents that a model leaves open, as x:1x3x224x224");
  args.optional_value(&o->json, "--json", "FILE", "-",
                      "the report as JSON, instead of the text, or into FILE beside it");
  args.option(&o->time_limit, "--time-limit", "SECONDS", "of models, end by then with the best found so far", 0);
  args.flag(&o->network.trust, "--trust", "run the code of a package that another user made");
  args.option(&o->key, "--key", "FILE", "the key of the dnn-serve at --device tcp://HOST:PORT/cpu");
  args.option(&o->adb_host, "--adb-host", "HOST", "HOST[:PORT] of the adb server, for --device adb://SERIAL/cpu");
  args.device(&o->device, device_help);
  args.threads(&o->threads);
}

void set_folders(OpenOptions* folders) {
  use_folders(folders, cli::variable);
  folders->note = cli::note;
  folders->warn = cli::warn;
}

NetworkOptions interpreted_where_written(const SearchArgs& o, const std::string& source, const std::string& target) {
  NetworkOptions network = o.connected();
  if (!o.gives("--device") && runs_as_written(network) && !is_package(source) && !is_package(target))
    network.device = "reference";
  return network;
}

bool looks_like_trace(const std::string& path) {
  return std::filesystem::is_regular_file(path) && stream::looks_like_stream(as_bytes(read_head(path, 32)));
}

void write_report(const SearchArgs& o, const std::string& json, const std::string& text, const std::string& other) {
  if (o.json) cli::write_text(*o.json, json);
  if (o.json != "-" && other != "-") cli::write_text("-", text);
}

}  // namespace dnn
