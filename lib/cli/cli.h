// The shape of every tool: options in a struct, `declare` binds them, `work` does the job, run() does all the rest.
//
//   static const cli::Tool kTool = {.name = "dnn-x", .summary = "Does x to y.", .examples = {{"dnn-x a.y", "does it"}}};
//   struct Options { std::string input; int n = 5; };
//   void declare(cli::Args& args, Options& o) {
//     args.positional(&o.input, "FILE", "what to do it to; '-' is standard input");
//     args.option(&o.n, "-n,--count", "N", "how often");
//   }
//   int work(const Options& o) { ... return 0; }
//   cli::Program program() { return cli::program(kTool, declare, work); }
//
// in namespace dnn::tools::dnn_x, for tools are compiled together.
//
// run() parses, prints --help and --version, turns exceptions into one line on stderr and their exit code, and checks
// that everything written to standard output arrived. It ignores SIGPIPE, so that a dead child or peer is an error
// with a name; a reader of standard output that went away ends the tool silently with 141. Processes that a tool
// starts must reset SIGPIPE to its default.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/preprocess.h"

namespace dnn::cli {

inline constexpr int kExitClosedOutput = 141;  // 128 + SIGPIPE, as a shell reports it

struct Tool {
  struct Example {
    std::string command, text;
  };
  std::string name;
  std::string summary;   // one paragraph; its first sentence is the one-line description
  std::string negative;  // what exit code 1 means here; empty when the tool never answers "no"
  std::vector<Example> examples = {};
};

// The name of a precision that f16, bf16 and f32 stand for; any other word as it is.
std::string precision_name(const std::string& name);

// The options and arguments that a tool binds to its variables. Names are "-o,--output" or "--output"; the variable's
// value before parsing is the default and appears in --help. Of a repeated option the last counts. Numbers are finite and
// not below `least`.
class Args {
 public:
  void positional(std::string* value, const std::string& name, const std::string& help);
  void optional_positional(std::string* value, const std::string& name, const std::string& help);
  // All further arguments, at least `minimum`.
  void positionals(std::vector<std::string>* values, const std::string& name, const std::string& help,
                   size_t minimum = 1);

  void flag(bool* value, const std::string& names, const std::string& help);
  void option(std::string* value, const std::string& names, const std::string& placeholder, const std::string& help);
  void option(int* value, const std::string& names, const std::string& placeholder, const std::string& help,
              int least = INT32_MIN);
  void option(int64_t* value, const std::string& names, const std::string& placeholder, const std::string& help,
              int64_t least = INT64_MIN);
  void option(uint64_t* value, const std::string& names, const std::string& placeholder, const std::string& help);
  void option(double* value, const std::string& names, const std::string& placeholder, const std::string& help,
              double least = std::numeric_limits<double>::lowest());
  void option(std::optional<std::string>* value, const std::string& names, const std::string& placeholder,
              const std::string& help);
  void option(std::optional<int64_t>* value, const std::string& names, const std::string& placeholder,
              const std::string& help, int64_t least = INT64_MIN);
  void option(std::optional<double>* value, const std::string& names, const std::string& placeholder,
              const std::string& help, double least = std::numeric_limits<double>::lowest());
  // --name or --name=VALUE (never `--name VALUE`); a bare --name sets `bare`.
  void optional_value(std::optional<std::string>* value, const std::string& names, const std::string& placeholder,
                      const std::string& bare, const std::string& help);
  void optional_value(std::optional<double>* value, const std::string& names, const std::string& placeholder,
                      const std::string& bare, const std::string& help, double least);
  // One of `choices`, or an alias of one (precision_name()).
  void choice(std::string* value, const std::string& names, const std::vector<std::string>& choices,
              const std::string& help);
  // May be repeated; each use appends.
  void list(std::vector<std::string>* values, const std::string& names, const std::string& placeholder,
            const std::string& help);

  // The shared rows. --quiet, --verbose, --help and --version are there without asking.
  void output(std::string* value);  // -o, --output FILE; "-" is standard output
  void threads(int* value);         // --threads N; 0 is all processors
  void seed(uint64_t* value);       // --seed N
  // --device NAME
  void device(std::string* value, const std::string& help = "where to run: reference, cpu, opencl:0, ...");

  // How images become inputs: --preprocess, what is spelled out over it, --exif.
  void preprocess(std::string* name, PreprocessOptions* spelled_out, bool* exif);

  // The options that the command line gives, by their long names: for a tool that does several things, with options of each.
  void given(std::vector<std::string>* names) { given_ = names; }

  // Throws Usage in parse() where the command line gives `option` and none of `others`, by their long names, without which it says nothing.
  void only_with(const std::string& option, const std::vector<std::string>& others) {
    only_with_.emplace_back(option, others);
  }

  // What a tool's own parsing may want: the command line as given, program name first.
  const std::vector<std::string>& command() const { return command_; }

  struct Row {
    enum class Kind { Flag, Value, OptionalValue, List } kind;
    std::string names, placeholder, help, bare;
    bool shared = false;
    std::function<void(const std::string&)> set;  // called with each value given; throws Usage
  };
  struct Positional {
    std::string name, help;
    size_t minimum, maximum;
    std::function<void(const std::string&)> set;
  };

  // Used by run() and its tests.
  enum class Outcome { Work, Help, Version };
  explicit Args(std::vector<std::string> command);
  Outcome parse();
  std::string help(const Tool& tool) const;

 private:
  // A tool's own row takes the place of a shared one of its name.
  void add(Row row) {
    std::erase_if(rows_, [&](const Row& other) { return other.shared && other.names == row.names; });
    rows_.push_back(std::move(row));
  }

  std::vector<std::string> command_;
  std::vector<Row> rows_;
  std::vector<Positional> positionals_;
  std::vector<std::string>* given_ = nullptr;
  std::vector<std::pair<std::string, std::vector<std::string>>> only_with_;
  bool adding_shared_ = false;
};

int run_tool(const Tool& tool, int argc, char** argv, const std::function<void(Args&)>& declare,
             const std::function<int()>& work);

// The whole of a tool's main().
template <class Options>
int run(const Tool& tool, int argc, char** argv, void (*declare)(Args&, Options&), int (*work)(const Options&)) {
  Options options;
  return run_tool(
      tool, argc, argv, [&](Args& args) { declare(args, options); }, [&] { return work(options); });
}

// A tool of the program dnn-tools.
struct Program {
  const Tool* tool;
  std::function<int(int argc, char** argv)> run;
};

// The whole of a tool's own function; `tool` must outlive what it returns.
template <class Options>
Program program(const Tool& tool, void (*declare)(Args&, Options&), int (*work)(const Options&)) {
  return {&tool, [&tool, declare, work](int argc, char** argv) { return run(tool, argc, argv, declare, work); }};
}

}  // namespace dnn::cli
