// dnn-fuzz: makes random networks, which every device, level, framework and conversion has to run alike.
#include "cli/cli.h"
#include "cli/console.h"
#include "convert/convert.h"
#include "hunt/network.h"

namespace dnn::tools::dnn_fuzz {

const cli::Tool kTool = {
    .name = "dnn-fuzz",
    .summary =
        "Writes a random network, which --seed alone decides: operators with any attributes, odd extents, branches and "
        "joins. "
        "Whatever runs it has to give the same to rounding: operators that jump read numbers that no rounding has "
        "touched. scripts/hunt makes many, runs them everywhere and reduces those that differ.",
    .negative = "",
    .examples = {{"dnn-fuzz --seed 7 -o net.onnx", "the seventh network"},
                 {"dnn-fuzz --seed 7 --kind cnn --steps 30 -o net.tflite", "layers of image networks, for LiteRT"}}};

struct Options {
  std::string output, kind = "any", real = "float32";
  hunt::NetworkOptions network;
};

void declare(cli::Args& args, Options& o) {
  std::vector<std::string> names;
  for (const hunt::KindRow& row : hunt::kinds()) names.push_back(row.name);
  args.option(&o.output, "-o,--output", "FILE", "where the network goes, in any format that dnn-convert writes");
  args.choice(&o.kind, "--kind", names, "what it is made of: all operators, or those of one kind of network");
  args.option(&o.network.steps, "--steps", "N", "operators, or small blocks of them, that are put together", 1);
  args.choice(&o.real, "--dtype", {"float16", "float32", "float64", "bfloat16"},
              "type of inputs, weights and what follows from them");
  args.flag(&o.network.open, "--open", "leave the first extent of the inputs open");
  args.seed(&o.network.seed);
}

int work(const Options& o) {
  if (o.output.empty()) fail_usage("where to? give a file with -o");
  hunt::NetworkOptions options = o.network;
  for (const hunt::KindRow& row : hunt::kinds()) {
    if (o.kind == row.name) options.kind = row.kind;
  }
  options.real = dtype_from_name(o.real);
  ConvertOptions convert;
  convert.certify = false;
  convert.write.newer_opset = true;
  convert.warn = cli::warn;
  convert_model(hunt::random_network(options), o.output, convert);
  cli::say_wrote(o.output);
  return 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_fuzz
