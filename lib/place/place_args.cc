// Options of placed packages; see place_args.h.
#include "place/place_args.h"

#include <algorithm>

#include "base/file.h"
#include "cli/console.h"

namespace dnn::place {

void declare_place(cli::Args& args, PlaceArgs* o) {
  args.option(
      &o->file, "--place", "FILE|auto",
      "run parts of the model on several devices: as the rules in FILE say, or as a search on these devices finds");
  args.option(&o->devices, "--devices", "LIST",
              "with --place: [LETTER=]KIND[:N][@CORES][:PRECISION], as C=cpu@0-1,G=opencl:0,ssh://board/cpu");
  args.choice(&o->goal, "--place-for", {kLatency, kThroughput},
              "with --place auto: the shortest time of one run, or the most runs a second, several at once");
  args.option(&o->rules_out, "--place-out", "FILE", "with --place auto: write what it found as rules");
}

void check_place(const PlaceArgs& o, const std::vector<std::string>& given, const std::string& output) {
  const auto is_given = [&](const char* name) { return std::find(given.begin(), given.end(), name) != given.end(); };
  if (!o.any()) {
    for (const char* name : {"--devices", "--place-out", "--place-for"}) {
      if (is_given(name)) fail_usage(name, " is for parts on several devices: with --place");
    }
    return;
  }
  if (o.devices.empty()) fail_usage("--place: pass --devices, e.g. C=cpu@0,G=opencl:0");
  if (output.empty()) fail_usage("say where the package goes: -o FILE");
  for (const char* name : {"--device", "--isa", "--processor", "--target", "--stop-after", "--emit", "--emit-c",
                           "--explain", "--tune", "--tuning-log", "--precision", "--calibrate"}) {
    if (is_given(name)) fail_usage(name, " is for a package of one device: leave it out with --place");
  }
  if (!o.rules_out.empty() && o.file != kAuto)
    fail_usage("--place-out writes what --place auto finds; ", o.file, " has the rules already");
  if (is_given("--place-for") && o.file != kAuto)
    fail_usage("--place-for is for the search of --place auto; ", o.file, " has the rules already");
}

std::shared_ptr<const Package> compile_placed(const PlaceArgs& o, const std::string& path, const OpenOptions& open,
                                              const DeviceOptions& connection, ByteSink* to) {
  PlaceRequest request;
  request.parts = parse_parts(o.devices);
  request.file = o.file;
  if (o.file != kAuto) request.rules = read_file(o.file);
  request.goal = o.goal;
  request.rules_out = o.rules_out;
  request.connection = connection;
  request.compile = open.compile;
  request.keep_source = open.keep_source;
  request.say = cli::say_unless_quiet;
  return compile_file_by(path, open, to, [&](const Graph& graph) { return place_model(graph, request); });
}

}  // namespace dnn::place
