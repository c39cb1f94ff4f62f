// dnn-tools: every tool in one program, which is the tool that its name says or its first argument.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"

// tools.def, made by CMake: a row DNN_TOOL(dnn_x) for each file dnn-x.cc of this folder.
#define DNN_TOOL(name)         \
  namespace dnn::tools::name { \
  cli::Program program();      \
  }
#include "tools.def"
#undef DNN_TOOL

namespace {

using namespace dnn;

constexpr std::string_view kPrefix = "dnn-";
// Boards know dnn-serve by this name, whichever program scripts/deploy put there (DNN_SERVE_TARGET).
constexpr std::string_view kServeOnBoards = "dnn-serve-target";

std::vector<cli::Program> programs() {
  return {
#define DNN_TOOL(name) dnn::tools::name::program(),
#include "tools.def"
#undef DNN_TOOL
  };
}

// The tool called `name`, with or without "dnn-"; no value where there is none.
std::optional<cli::Program> find_program(const std::string& name) {
  for (const cli::Program& program : programs()) {
    if (program.tool->name == name || program.tool->name == cat(kPrefix, name)) return program;
  }
  return std::nullopt;
}

std::string names() {
  std::vector<std::string> out;
  for (const cli::Program& program : programs()) out.push_back(program.tool->name.substr(kPrefix.size()));
  return join(out);
}

const cli::Tool kTool = {
    .name = "dnn-tools",
    .summary =
        "Runs one of the tools, all of which this program holds: `dnn-tools convert` is dnn-convert. Without "
        "arguments it lists them with what they do. It is also the tool whose name it is called by: the "
        "commands dnn-convert, dnn-compile and so on are links to it.",
    .negative = "",
    .examples = {{"dnn-tools", "what there is"},
                 {"dnn-tools infer --help", "the options of dnn-infer"},
                 {"dnn-tools convert model.onnx -o model.tflite", "the same as dnn-convert"}}};

struct Options {
  std::string tool;
};

void declare(cli::Args& args, Options& o) {
  args.optional_positional(&o.tool, "TOOL", cat("the tool, with its arguments behind it: ", names()));
}

int work(const Options& o) {
  if (!o.tool.empty()) fail_usage("there is no tool '", o.tool, "'; choose from ", names());
  for (const cli::Program& program : programs()) {
    const std::string& summary = program.tool->summary;
    std::cout << program.tool->name << '\t' << summary.substr(0, summary.find_first_of(".:;")) << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string called = argc > 0 ? argv[0] : "";
  called.erase(0, called.rfind('/') + 1);
  if (const std::optional<cli::Program> program = find_program(called == kServeOnBoards ? "dnn-serve" : called))
    return program->run(argc, argv);
  if (argc > 1) {
    if (const std::optional<cli::Program> program = find_program(argv[1])) {
      std::string name = program->tool->name;
      argv[1] = name.data();
      return program->run(argc - 1, argv + 1);
    }
  }
  return cli::run(kTool, argc, argv, declare, work);
}
