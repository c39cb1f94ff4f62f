// dnn-serve: runs packages for tools on other machines, or for other processes of this one.
#include <iostream>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "infer/served.h"
#include "kenning/scenario.h"
#include "kenning/serve_kenning.h"
#include "serve/program.h"

namespace dnn::tools::dnn_serve {

const cli::Tool kTool = {
    .name = "dnn-serve",
    .summary =
        "Runs networks for dnn-infer --device ssh://HOST/cpu, tcp://HOST:PORT/cpu, unix:PATH/cpu or serial:TTY/cpu. "
        "Over "
        "ssh nothing has to be started: dnn-infer runs dnn-serve --stdio there.",
    .negative = "",
    .examples = {{"dnn-serve --unix /run/user/1000/dnn.sock", "for processes of this user"},
                 {"dnn-serve --tcp 127.0.0.1:7000", "for this machine; code is compiled anew"},
                 {"dnn-serve --tcp 0.0.0.0:7000 --key dnn.key", "for whoever has the key, which is made if missing"},
                 {"dnn-serve --serial /dev/ttyS0:921600", "for whoever has the cable"},
                 {"dnn-serve --protocol kenning --tcp 127.0.0.1:12345", "for benchmarks of Kenning"},
                 {"dnn-serve --config scenario.json", "where that scenario of Kenning has its server"}}};

struct Options {
  std::string protocol = "dnn", config;
  serve::CommandLine line;
};

void declare(cli::Args& args, Options& o) {
  serve::declare_ways(args, o.line, "listen on TCP; port 0 picks a free one. Beyond loopback only with --key");
  args.choice(&o.protocol, "--protocol", {"dnn", "kenning", "kenning-2021", "kenning-2026"},
              "dnn, or Kenning's: told by who speaks first, or by its year");
  args.option(&o.config, "--config", "FILE", "Kenning's protocol, where this scenario of Kenning (JSON) says");
  serve::declare_limits(args, o.line);
}

void print_address(const std::string& at) { std::cout << at << std::endl; }

// The address of a scenario, and the protocol that it takes.
void use_scenario(Options* o) {
  if (!o->line.tcp.empty() || !o->line.unix_path.empty() || !o->line.serial.empty() || o->line.stdio)
    fail_usage("--config says where to listen: leave out --stdio, --tcp, --unix and --serial");
  const std::string text = read_file(o->config);
  serve::Scenario scenario;
  try {
    scenario = serve::parse_scenario(text);
  } catch (Error& e) {
    throw e.within(o->config);
  }
  o->line.tcp = scenario.tcp;
  o->line.serial = scenario.serial;
  if (o->protocol == "dnn") o->protocol = "kenning";
  for (const std::string& line : scenario.ignored) cli::note(cat(o->config, ": ", line));
}

int work(const Options& given) {
  Options o = given;
  if (!o.config.empty()) use_scenario(&o);
  serve::check(o.line);
  const bool kenning = o.protocol != "dnn";
  if (kenning && o.line.tcp.empty() && o.line.serial.empty())
    fail_usage("--protocol ", o.protocol, " is for --tcp HOST:PORT and --serial TTY");
  if (kenning && !o.line.key.empty()) fail_usage("--protocol ", o.protocol, " knows no keys: leave out --key");
  serve::Options options;
  options.device.variable = cli::variable;
  if (kenning) {
    std::optional<remote::kenning::Wire> wire;
    if (o.protocol == "kenning-2021") wire = remote::kenning::Wire::Seed;
    if (o.protocol == "kenning-2026") wire = remote::kenning::Wire::Header12;
    options.protocol = {"Kenning's protocol",
                        [wire](Transport& client, const std::string& name, bool trusted, const serve::Options& own) {
                          serve::serve_kenning(client, name, wire, trusted, own);
                        }};
  }
  if (o.line.list) {
    std::cout << serve::devices_here(options, cli::warn);
    return 0;
  }
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  folders.note = options.note = cli::note;
  folders.warn = cli::warn;
  options.open = [folders](const std::string& path, const DeviceSpec& device, const std::string& isa, bool trusted) {
    return open_for_client(path, device, isa, trusted, folders);
  };
  serve::run(o.line, std::move(options), folders.cache_folder, print_address);
  return 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_serve
