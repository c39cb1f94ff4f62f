// dnn-serve-target: dnn-serve as one static file, for machines with nothing on them. It runs packages whose code was made elsewhere.
#include <cstdlib>
#include <iostream>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "package/cache.h"
#include "package/file.h"
#include "serve/program.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-serve-target",
    .summary =
        "Runs packages for dnn-infer --device ssh://HOST/cpu and the like, as dnn-serve does, from one static file "
        "without a compiler. The code of packages comes from the client.",
    .negative = "",
    .examples = {
        {"dnn-serve-target --stdio", "as ssh starts it"},
        {"dnn-serve-target --tcp 0.0.0.0:7000 --key dnn.key", "for whoever has the key, which is made if missing"},
        {"dnn-serve-target --serial /dev/ttyS0:921600", "for whoever has the cable"}}};

void declare(cli::Args& args, serve::CommandLine& line) {
  serve::declare_ways(args, line, "listen on TCP, for who has the key; port 0 picks a free one");
  serve::declare_limits(args, line);
}

void print_address(const std::string& at) { std::cout << at << std::endl; }

std::shared_ptr<const Package> open(const std::string& path, const DeviceSpec&, const std::string&, bool trusted) {
  if (!looks_like_package(as_bytes(read_head(path, 8))))
    fail_unsupported("this server runs packages alone: compile the model with dnn-compile --target");
  const OpenedPackage opened = read_package(path, {}, OpenedFor::Running);
  if (opened.older)
    fail_unsupported("a package of another version of dnn-tools, which this server cannot compile anew");
  if (!trusted && opened.package->variants.front().compiled())
    fail_unsupported("code of an unknown client is not run, and this server cannot compile the package anew");
  return opened.package;
}

int work(const serve::CommandLine& line) {
  serve::check(line);
  if (!line.tcp.empty() && line.key.empty())
    fail_usage("--tcp needs --key FILE: without a compiler only known clients are served");
  serve::Options options;
  options.open = open;
  options.device.variable = cli::variable;
  options.note = cli::note;
  if (line.list) {
    std::cout << serve::devices_here(options, cli::warn);
    return 0;
  }
  serve::run(line, std::move(options), default_cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME")),
             print_address);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
