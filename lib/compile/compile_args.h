// The options of dnn-compile that say what a package is: how it computes, for which machines, and what is written on the way to it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "compile/open.h"

namespace dnn {

// Texts as they stand on the command line, "" where not given.
struct CompileArgs {
  std::string device = "cpu", level = "3", precision = "float32", arithmetic = "onnx", isas, targets, processor, passes,
              emit, emit_c, compiler;
  std::vector<std::string> shapes, ignored;
  int64_t batch = 1, stop_after = -1;
  bool explain = false, keep_source = false;

  bool in_integers() const { return precision == "int8"; }
};

// The device that the package is for.
struct CompileDevice {
  std::string kind;       // "cpu"
  bool remote = false;    // of another machine, which says itself what it is
  bool float64 = false;   // it computes in float64
  bool searched = false;  // with schedules that are searched, or were, for this processor
};

// True if a compiler here makes the code of packages for that kind of device, for instruction sets.
bool builds_here(const std::string& kind);

// Declares --opt, --precision and --arithmetic.
void declare_numbers(cli::Args& args, CompileArgs* o);
// Declares --shape, --ignore-attribute, --batch, --isa, --target, --processor, --pass, --stop-after, --emit, --emit-c, --explain,
// --keep-source and --compiler.
void declare_package(cli::Args& args, CompileArgs* o);

// Throws Usage unless something is written, to `output` ("-" is standard output, "" none) or as the options say, and all of it can be,
// for that device.
void check_compile(const CompileArgs& o, const CompileDevice& device, const std::string& output);

// The request for compile_file(); folders and log sinks are the caller's. Makes the folder of --emit. Throws Usage.
OpenOptions compile_request(const CompileArgs& o, const CompileDevice& device);

}  // namespace dnn
