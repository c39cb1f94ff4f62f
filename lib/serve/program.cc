// Command lines of servers; see program.h.
#include "serve/program.h"

#include "base/text.h"
#include "package/file.h"
#include "remote/address.h"
#include "remote/serial.h"
#include "serve/listen.h"
#include "serve/serial.h"

namespace dnn::serve {

void declare_ways(cli::Args& args, CommandLine& line, const std::string& tcp_help) {
  args.flag(&line.stdio, "--stdio", "serve one client on standard input and output, as ssh starts it (default)");
  args.option(&line.tcp, "--tcp", "HOST:PORT", tcp_help);
  args.option(&line.unix_path, "--unix", "PATH", "listen on a Unix socket, for this user");
  args.option(&line.serial, "--serial", "TTY[:BAUD]",
              cat("serve a serial line; ", remote::kSerialBaud, " baud by default"));
}

void declare_limits(cli::Args& args, CommandLine& line) {
  Limits& limits = line.limits;
  args.option(&line.key, "--key", "FILE",
              "take only clients that have this key, and sign every frame; made if missing");
  args.flag(&line.list, "--probe", "print the devices of this machine that run packages, and stop");
  args.option(&line.store, "--store", "DIR", "keep uploaded packages here (default: the cache folder)");
  args.option(&limits.store_bytes, "--max-store", "BYTES", "remove the longest unused packages beyond this", 1);
  args.option(&limits.upload_bytes, "--max-upload", "BYTES", "refuse larger packages", 1);
  args.option(&limits.memory_bytes, "--max-memory", "BYTES", "address space of a client's process; 0: no limit", 0);
  args.option(&limits.run_s, "--max-run", "S", "end a client whose request takes longer to work on; 0: no limit", 0);
  args.option(&limits.clients, "--clients", "N", "clients at once", 1);
  args.option(&limits.idle_s, "--idle", "S", "drop a client that asks for nothing for so long", 0.001);
  args.option(&limits.frame_s, "--stall", "S", "drop a client that stops within a message for so long", 0.001);
}

void check(const CommandLine& line) {
  const int ways = static_cast<int>(line.stdio) + static_cast<int>(!line.tcp.empty()) +
                   static_cast<int>(!line.unix_path.empty()) + static_cast<int>(!line.serial.empty());
  if (ways > 1) fail_usage("give one of --stdio, --tcp, --unix and --serial");
  if (!line.key.empty() && line.tcp.empty() && line.serial.empty()) fail_usage("--key is for --tcp and --serial");
}

std::string devices_here(const Options& options, const std::function<void(const std::string& why)>& problem) {
  std::string text;
  for (const Device& device : devices()) {
    if (!DeviceSpec::runs_packages(device)) continue;
    for (const std::string& line : list_devices(device, options.device, problem)) text += line + "\n";
  }
  return text;
}

void run(const CommandLine& line, Options options, const std::string& cache_folder,
         const std::function<void(const std::string&)>& print_address) {
  options.limits = line.limits;
  options.store = line.store.empty() && !cache_folder.empty() ? cache_folder + "/served" : line.store;
  if (!line.key.empty()) options.key = load_or_make_key(line.key).secret;
  if (!line.serial.empty()) {
    serve_serial(remote::parse_serial(line.serial), options, print_address);
  } else if (!line.tcp.empty()) {
    listen(remote::parse_host_port(line.tcp, "--tcp " + line.tcp), options, print_address);
  } else if (!line.unix_path.empty()) {
    std::string device;
    const auto no_device = [](const std::string&) { return false; };
    listen(*remote::parse_address("unix:" + line.unix_path, no_device, &device), options, print_address);
  } else {
    serve_standard(options);
  }
}

}  // namespace dnn::serve
