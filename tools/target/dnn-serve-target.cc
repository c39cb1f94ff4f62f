// dnn-serve-target: dnn-serve as one static file, for machines with nothing on them. It runs packages whose code was made elsewhere.
#include <cstdlib>
#include <iostream>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "package/cache.h"
#include "package/file.h"
#include "serve/listen.h"
#include "serve/serial.h"

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

struct Options {
  std::string tcp, unix_path, serial, key, store;
  bool stdio = false, list = false;
  serve::Limits limits;
};

void declare(cli::Args& args, Options& o) {
  args.flag(&o.stdio, "--stdio", "serve one client on standard input and output, as ssh starts it (default)");
  args.option(&o.tcp, "--tcp", "HOST:PORT", "listen on TCP, for who has the key; port 0 picks a free one");
  args.option(&o.unix_path, "--unix", "PATH", "listen on a Unix socket, for this user");
  args.option(&o.serial, "--serial", "TTY[:BAUD]", "serve a serial line; 115200 baud by default");
  args.option(&o.key, "--key", "FILE", "take only clients that have this key, and sign every frame; made if missing");
  args.flag(&o.list, "--probe", "print the devices of this machine that run packages, and stop");
  args.option(&o.store, "--store", "DIR", "keep uploaded packages here (default: the cache folder)");
  args.option(&o.limits.store_bytes, "--max-store", "BYTES", "remove the longest unused packages beyond this", 1);
  args.option(&o.limits.upload_bytes, "--max-upload", "BYTES", "refuse larger packages", 1);
  args.option(&o.limits.memory_bytes, "--max-memory", "BYTES", "address space of a client's process; 0: no limit", 0);
  args.option(&o.limits.clients, "--clients", "N", "clients at once", 1);
  args.option(&o.limits.idle_s, "--idle", "S", "drop a client that asks for nothing for so long", 0.001);
  args.option(&o.limits.frame_s, "--stall", "S", "drop a client that stops within a message for so long", 0.001);
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::shared_ptr<const Package> open(const std::string& path, const DeviceSpec&, const std::string&, bool trusted) {
  if (!looks_like_package(as_bytes(read_head(path, 8))))
    fail_unsupported("this server runs packages alone: compile the model with dnn-compile --target");
  const OpenedPackage opened = read_package(path, {}, ConstantsChecked::Behind);
  if (opened.older)
    fail_unsupported("a package of another version of dnn-tools, which this server cannot compile anew");
  if (!trusted && opened.package->variants.front().compiled())
    fail_unsupported("code of an unknown client is not run, and this server cannot compile the package anew");
  return opened.package;
}

int work(const Options& o) {
  const int ways = static_cast<int>(o.stdio) + static_cast<int>(!o.tcp.empty()) +
                   static_cast<int>(!o.unix_path.empty()) + static_cast<int>(!o.serial.empty());
  if (ways > 1) fail_usage("give one of --stdio, --tcp, --unix and --serial");
  if (!o.tcp.empty() && o.key.empty())
    fail_usage("--tcp needs --key FILE: without a compiler only known clients are served");
  if (!o.key.empty() && o.tcp.empty() && o.serial.empty()) fail_usage("--key is for --tcp and --serial");
  serve::Options options;
  options.open = open;
  options.limits = o.limits;
  options.device.variable = variable;
  options.note = cli::note;
  if (o.list) {
    for (const Device& device : devices()) {
      if (!DeviceSpec::runs_packages(device)) continue;
      for (const std::string& line : device.list(options.device)) std::cout << line << '\n';
    }
    return 0;
  }
  const std::string cache = default_cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
  options.store = o.store.empty() && !cache.empty() ? cache + "/served" : o.store;
  if (!o.key.empty()) options.key = load_or_make_key(o.key).secret;
  const auto print_address = [](const std::string& at) { std::cout << at << std::endl; };
  if (!o.serial.empty()) {
    serve::serve_serial(remote::parse_serial(o.serial), options, print_address);
  } else if (!o.tcp.empty()) {
    serve::listen(remote::parse_host_port(o.tcp, "--tcp " + o.tcp), options, print_address);
  } else if (!o.unix_path.empty()) {
    std::string device;
    const auto no_device = [](const std::string&) { return false; };
    serve::listen(*remote::parse_address("unix:" + o.unix_path, no_device, &device), options, print_address);
  } else {
    serve::serve_standard(options);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
