// dnn-serve: runs packages for tools on other machines, or for other processes of this one.
#include <cstdlib>
#include <iostream>

#include "cli/cli.h"
#include "cli/console.h"
#include "infer/served.h"
#include "kenning/serve_kenning.h"
#include "remote/serial.h"
#include "serve/listen.h"
#include "serve/serial.h"

namespace {

using namespace dnn;

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
                 {"dnn-serve --protocol kenning --tcp 127.0.0.1:12345", "for benchmarks of Kenning"}}};

struct Options {
  std::string protocol = "dnn", tcp, unix_path, serial, key, store;
  bool stdio = false, list = false;
  serve::Limits limits;
};

void declare(cli::Args& args, Options& o) {
  args.flag(&o.stdio, "--stdio", "serve one client on standard input and output, as ssh starts it (default)");
  args.option(&o.tcp, "--tcp", "HOST:PORT", "listen on TCP; port 0 picks a free one. Beyond loopback only with --key");
  args.option(&o.unix_path, "--unix", "PATH", "listen on a Unix socket, for this user");
  args.option(&o.serial, "--serial", "TTY[:BAUD]",
              cat("serve a serial line; ", remote::kSerialBaud, " baud by default"));
  args.choice(&o.protocol, "--protocol", {"dnn", "kenning", "kenning-2021", "kenning-2026"},
              "dnn, or Kenning's: told by who speaks first, or by its year");
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

int work(const Options& o) {
  const int ways = static_cast<int>(o.stdio) + static_cast<int>(!o.tcp.empty()) +
                   static_cast<int>(!o.unix_path.empty()) + static_cast<int>(!o.serial.empty());
  if (ways > 1) fail_usage("give one of --stdio, --tcp, --unix and --serial");
  if (!o.key.empty() && o.tcp.empty() && o.serial.empty()) fail_usage("--key is for --tcp and --serial");
  const bool kenning = o.protocol != "dnn";
  if (kenning && o.tcp.empty()) fail_usage("--protocol ", o.protocol, " is for --tcp HOST:PORT");
  if (kenning && !o.key.empty()) fail_usage("--protocol ", o.protocol, " knows no keys: leave out --key");
  serve::Options options;
  options.limits = o.limits;
  options.device.variable = variable;
  if (kenning) {
    std::optional<remote::kenning::Wire> wire;
    if (o.protocol == "kenning-2021") wire = remote::kenning::Wire::Seed;
    if (o.protocol == "kenning-2026") wire = remote::kenning::Wire::Header12;
    options.protocol = {"Kenning's protocol",
                        [wire](FdTransport& client, const std::string& name, bool trusted, const serve::Options& own) {
                          serve::serve_kenning(client, name, wire, trusted, own);
                        }};
  }
  if (o.list) {
    for (const Device& device : devices()) {
      if (!DeviceSpec::runs_packages(device)) continue;
      for (const std::string& line : device.list(options.device)) std::cout << line << '\n';
    }
    return 0;
  }
  OpenOptions folders;
  use_folders(&folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  folders.note = options.note = cli::note;
  folders.warn = cli::warn;
  options.open = [folders](const std::string& path, const DeviceSpec& device, const std::string& isa, bool trusted) {
    return open_for_client(path, device, isa, trusted, folders);
  };
  options.store = o.store;
  if (options.store.empty() && !folders.cache_folder.empty()) options.store = folders.cache_folder + "/served";
  if (!o.key.empty()) options.key = load_or_make_key(o.key).secret;
  const auto print_address = [](const std::string& at) { std::cout << at << std::endl; };
  if (!o.serial.empty()) {
    serve::serve_serial(remote::parse_serial(o.serial), options, print_address);
    return 0;
  }
  if (o.tcp.empty() && o.unix_path.empty()) {
    serve::serve_standard(options);
    return 0;
  }
  remote::Address address;
  if (o.tcp.empty()) {
    std::string device;
    address = *remote::parse_address(
        "unix:" + o.unix_path, [](const std::string&) { return false; }, &device);
  } else {
    address = remote::parse_host_port(o.tcp, "--tcp " + o.tcp);
  }
  serve::listen(address, options, print_address);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
