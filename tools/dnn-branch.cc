// dnn-branch: builds branched networks from configurations.
#include <iostream>

#include "branch/network.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "convert/convert.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-branch",
    .summary =
        "Builds networks whose stages are branches for several processors. A configuration is a YAML file of pycls "
        "(mbanynet), as NN-Stretch publishes them.",
    .negative = "",
    .examples = {{"dnn-branch R-50-CD.yaml -o branched.onnx", "builds the network, with random weights"},
                 {"dnn-branch R-50-CD.yaml --weights trained.pyth -o branched.onnx", "with trained ones"},
                 {"dnn-branch --flops configs/*.yaml", "their sizes, as pycls counts them"}}};

struct Options {
  std::vector<std::string> configs;
  std::string output, weights;
  bool flops = false;
  uint64_t seed = 1;
  int64_t image_size = 0;
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.configs, "CFG", "a configuration; with --flops as many as you like");
  args.option(&o.output, "-o,--output", "FILE", "write the network, in the format that the name says");
  args.option(&o.weights, "--weights", "FILE",
              "a checkpoint of pycls, or a state dict, whose weights the network gets");
  args.flag(&o.flops, "--flops", "print parameters, multiply-adds and activations as pycls counts them");
  args.option(&o.image_size, "--image-size", "N", "height and width of the input, e.g. 224 (0: TRAIN.IM_SIZE)", 0);
  args.seed(&o.seed);
}

int print_counts(const Options& o) {
  std::cout << "cfg\tparams\tflops\tacts\tweights\n";
  for (const std::string& path : o.configs) {
    const branch::Counts c = branch::count_network(branch::read_config(path, cli::warn), o.image_size);
    std::cout << path << '\t' << c.params << '\t' << c.flops << '\t' << c.acts << '\t' << c.weights << '\n';
  }
  return 0;
}

int work(const Options& o) {
  if (o.flops && !o.output.empty()) fail_usage("--flops prints and writes nothing; leave out -o");
  if (o.flops) return print_counts(o);
  if (o.output.empty()) fail_usage("nothing to do; pass -o FILE or --flops");
  if (o.configs.size() != 1) fail_usage("-o takes one configuration, ", o.configs.size(), " are given");
  Graph graph = branch::build_network(branch::read_config(o.configs[0], cli::warn), o.seed, o.image_size);
  if (o.weights.empty()) {
    cli::say(cat("the weights are random (seed ", o.seed, "); pass --weights FILE for trained ones"));
  } else {
    branch::load_weights(graph, o.weights, cli::warn);
  }
  ConvertOptions options;
  options.certify = false;
  convert_model(std::move(graph), o.output, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
