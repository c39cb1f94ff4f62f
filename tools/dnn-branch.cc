// dnn-branch: builds branched networks from configurations, and measures them on several devices at once.
#include <cstdlib>
#include <iostream>

#include "branch/evaluate.h"
#include "branch/network.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "compile/open.h"
#include "convert/convert.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-branch",
    .summary =
        "Builds networks whose stages are branches for several processors. A configuration is a YAML file of pycls "
        "(mbanynet), as NN-Stretch publishes them. 'dnn-branch eval CFG...' measures them with all branches at once, "
        "against each device alone.",
    .negative = "",
    .examples = {{"dnn-branch R-50-CD.yaml -o branched.onnx", "builds the network, with random weights"},
                 {"dnn-branch R-50-CD.yaml --weights trained.pyth -o branched.onnx", "with trained ones"},
                 {"dnn-branch --flops configs/*.yaml", "their sizes, as pycls counts them"},
                 {"dnn-branch eval configs/ --devices C=cpu@0,D=cpu@1 -o result.csv", "latencies on two processors"}}};

struct Options {
  std::vector<std::string> configs;
  std::string output, weights, devices, key, level = "3";
  bool flops = false;
  branch::EvaluateRequest evaluate;
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.configs, "[eval] CFG",
                   "a configuration; with --flops and eval as many as you like; eval takes folders, too");
  args.option(&o.output, "-o,--output", "FILE",
              "write the network, in the format that the name says; of eval: the CSV of latencies");
  args.option(&o.weights, "--weights", "FILE",
              "a checkpoint of pycls, or a state dict, whose weights the network gets");
  args.flag(&o.flops, "--flops", "print parameters, multiply-adds and activations as pycls counts them");
  args.option(&o.evaluate.image_size, "--image-size", "N", "height and width of the input (0: TRAIN.IM_SIZE)", 0);
  args.option(&o.devices, "--devices", "LIST",
              "eval: what runs each device's branches, [LETTER=]KIND[:N][@CORES], e.g. C=cpu@0,D=cpu@1+3,G=opencl:0");
  args.option(&o.key, "--key", "FILE", "eval: the key of the dnn-serve at tcp://HOST:PORT/cpu");
  args.choice(&o.level, "-O,--opt", {"0", "1", "2", "3", "4"}, "eval: optimisation level");
  args.option(&o.evaluate.image, "--input-image", "FILE", "eval: run on this image (default: random numbers)");
  args.option(&o.evaluate.preprocess, "--preprocess", "NAME", "eval: how the image becomes the input");
  args.option(&o.evaluate.runs, "--runs", "N", "eval: timed runs of each network", 1);
  args.option(&o.evaluate.warmup, "--warmup", "N", "eval: runs before them", 0);
  args.option(&o.evaluate.timeline, "--timeline", "FILE", "eval: write one inference as a Chrome trace");
  args.seed(&o.evaluate.seed);
}

int print_counts(const Options& o) {
  std::cout << "cfg\tparams\tflops\tacts\tweights\n";
  for (const std::string& path : o.configs) {
    const branch::Counts c = branch::count_network(branch::read_config(path, cli::warn), o.evaluate.image_size);
    std::cout << path << '\t' << c.params << '\t' << c.flops << '\t' << c.acts << '\t' << c.weights << '\n';
  }
  return 0;
}

int run_eval(const Options& o) {
  branch::EvaluateRequest request = o.evaluate;
  request.configs.assign(o.configs.begin() + 1, o.configs.end());
  if (request.configs.empty()) fail_usage("eval: no configuration; name files or folders");
  if (o.devices.empty()) fail_usage("eval: pass --devices, e.g. C=cpu@0,D=cpu@1");
  if (o.output.empty()) fail_usage("eval: pass -o result.csv");
  if (!o.weights.empty() || o.flops) fail_usage("eval measures; leave out --weights and --flops");
  request.parts = branch::parse_parts(o.devices);
  DeviceOptions connection;
  connection.variable = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  connection.key_file = o.key;
  branch::connect_parts(request.parts, connection);
  request.output = o.output;
  OpenOptions folders;
  use_folders(&folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  request.compile = folders.compile;
  request.compile.opt = o.level[0] - '0';
  request.warn = cli::warn;
  request.say = [](const std::string& line) {
    if (!cli::console().quiet) cli::say(line);
  };
  branch::evaluate(request);
  return 0;
}

// Options that would change nothing where a network is built are mistakes.
void refuse_idle_options(const Options& o) {
  const Options left_out;
  const branch::EvaluateRequest &given = o.evaluate, &none = left_out.evaluate;
  if (!o.devices.empty()) fail_usage("--devices belongs to eval: dnn-branch eval CFG... --devices ", o.devices);
  if (!o.key.empty() || o.level != left_out.level || given.image != none.image || given.preprocess != none.preprocess ||
      given.runs != none.runs || given.warmup != none.warmup || given.timeline != none.timeline)
    fail_usage(
        "--key, -O, --input-image, --preprocess, --runs, --warmup and --timeline belong to dnn-branch eval CFG...");
}

int work(const Options& o) {
  if (o.configs[0] == "eval") return run_eval(o);
  refuse_idle_options(o);
  if (o.flops && !o.output.empty()) fail_usage("--flops prints and writes nothing; leave out -o");
  if (o.flops) return print_counts(o);
  if (o.output.empty()) fail_usage("nothing to do; pass -o FILE or --flops");
  if (o.configs.size() != 1) fail_usage("-o takes one configuration, ", o.configs.size(), " are given");
  Graph graph =
      branch::build_network(branch::read_config(o.configs[0], cli::warn), o.evaluate.seed, o.evaluate.image_size);
  if (o.weights.empty()) {
    cli::say(cat("the weights are random (seed ", o.evaluate.seed, "); pass --weights FILE for trained ones"));
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
