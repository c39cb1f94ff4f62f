// The command lines of dnn-serve and dnn-serve-target: options that they share, and serving as these say.
#pragma once
#include <functional>
#include <string>

#include "cli/cli.h"
#include "serve/serve.h"

namespace dnn::serve {

struct CommandLine {
  std::string tcp, unix_path, serial, key, store;
  bool stdio = false, list = false;
  Limits limits;
};

// Ways to be reached; `tcp_help` of --tcp.
void declare_ways(cli::Args& args, CommandLine& line, const std::string& tcp_help);
void declare_limits(cli::Args& args, CommandLine& line);

// Usage where options contradict each other.
void check(const CommandLine& line);

// The text of --probe: a line for each device of this machine that runs packages. `problem` is told of kinds that cannot be listed.
std::string devices_here(const Options& options, const std::function<void(const std::string& why)>& problem);

// Serves until a signal ends it, or --stdio's client does. `options` lacks key, limits and store, for which `cache_folder` is the default
// place ("": there is none). `print_address` gets the address where clients find it, once it listens there.
void run(const CommandLine& line, Options options, const std::string& cache_folder,
         const std::function<void(const std::string&)>& print_address);

}  // namespace dnn::serve
