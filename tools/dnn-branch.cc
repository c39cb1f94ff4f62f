// dnn-branch: builds branched networks from configurations, and measures them on several devices at once.
#include <iostream>

#include "branch/evaluate.h"
#include "branch/make.h"
#include "branch/network.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "compile/open.h"
#include "convert/convert.h"
#include "target/isa.h"
#include "target/processor.h"
#include "train/child_search.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-branch",
    .summary =
        "Makes networks whose stages are branches for several processors: of a model, by a search on these processors, "
        "or "
        "of a configuration, a YAML file of pycls (mbanynet), as NN-Stretch publishes them. 'dnn-branch eval NET...' "
        "measures them with all branches at once, against each device alone.",
    .negative = "",
    .examples = {
        {"dnn-branch resnet50.onnx --devices cpu@0,cpu@1 -o branched.onnx", "branches of the stages of a model"},
        {"dnn-branch R-50-CD.yaml -o branched.onnx", "builds the network, with random weights"},
        {"dnn-branch R-50-CD.yaml --weights trained.pyth -o branched.onnx", "with trained ones"},
        {"dnn-branch --flops configs/*.yaml", "their sizes, as pycls counts them"},
        {"dnn-branch eval configs/ --devices C=cpu@0,D=cpu@1 -o result.csv", "latencies on two processors"},
        {"dnn-branch search --supernet super.onnx --data train/ --validate test/ --devices C=cpu@0,D=cpu@1 -o "
         "child.onnx",
         "the best child of a supernet of dnn-train --supernet"}}};

struct Options {
  std::vector<std::string> configs;
  std::string output, weights, devices, key, level = "3";
  bool flops = false;
  branch::MakeRequest make;
  branch::EvaluateRequest evaluate;
  train::ChildSearch search;
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.configs, "[eval|search] NET",
                   "a model or a configuration; with --flops and eval as many as you like; eval takes folders, too; "
                   "search takes none");
  args.option(&o.output, "-o,--output", "FILE",
              "write the network, in the format that the name says; of eval: the CSV of latencies");
  args.option(&o.weights, "--weights", "FILE",
              "a checkpoint of pycls, or a state dict, whose weights the network gets");
  args.flag(&o.flops, "--flops", "print parameters, multiply-adds and activations as pycls counts them");
  args.option(&o.evaluate.image_size, "--image-size", "N", "height and width of the input (0: TRAIN.IM_SIZE)", 0);
  args.option(&o.devices, "--devices", "LIST",
              "what runs each device's branches, [LETTER=]KIND[:N][@CORES], e.g. C=cpu@0,D=cpu@1+3,G=opencl:0");
  args.option(&o.make.plan_out, "--config-out", "FILE", "of a model: write the branches that the search chose");
  args.option(&o.make.plan, "--config", "FILE", "of a model: make the branches of such a file, without a search");
  args.option(&o.make.search.alpha, "--main-share", "X", "least share of a stage's arithmetic in its main branch", 0);
  args.option(&o.make.search.beta, "--least-share", "X", "least share of it in all branches together", 0);
  args.option(&o.make.search.gamma, "--most-time", "X",
              "most time of a branch, as a share of the stage's on the best single device", 0);
  args.option(&o.make.search.merge_us, "--merge-cost", "US", "what joining a stage's branches is taken to cost", 0);
  args.option(&o.evaluate.baseline, "--baseline", "MODEL", "eval: the model that runs on each device alone");
  args.option(&o.key, "--key", "FILE", "eval: the key of the dnn-serve at tcp://HOST:PORT/cpu");
  args.choice(&o.level, "-O,--opt", {"0", "1", "2", "3", "4"}, "eval: optimisation level");
  args.option(&o.evaluate.image, "--input-image", "FILE", "eval: run on this image (default: random numbers)");
  args.option(&o.evaluate.preprocess, "--preprocess", "NAME", "eval: how the image becomes the input");
  args.option(&o.evaluate.runs, "--runs", "N", "eval: timed runs of each network", 1);
  args.option(&o.evaluate.warmup, "--warmup", "N", "eval: runs before them", 0);
  args.option(&o.evaluate.timeline, "--timeline", "FILE", "eval: write one inference as a Chrome trace");
  args.option(&o.search.supernet, "--supernet", "MODEL", "search: a network that dnn-train --supernet has trained");
  args.option(&o.search.data, "--data", "FOLDER", "search: images of its training, for the statistics of norms");
  args.option(&o.search.validate, "--validate", "FOLDER", "search: images that the children are judged on");
  args.option(&o.search.latency_us, "--latency", "US",
              "search: no child that takes longer (0: than the network itself on the best single device)", 0);
  args.option(&o.search.children, "--children", "N", "search: children that are timed", 1);
  args.option(&o.search.images, "--calibrate", "N", "search: images of --data for the statistics of norms", 1);
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

// The parts of --devices, connected.
std::vector<branch::Part> parts_of(const Options& o) {
  std::vector<branch::Part> parts = branch::parse_parts(o.devices);
  DeviceOptions connection;
  connection.variable = cli::variable;
  connection.key_file = o.key;
  place::connect_parts(parts, connection);
  return parts;
}

CompileOptions compile_options(const Options& o) {
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  folders.compile.opt = o.level[0] - '0';
  return folders.compile;
}

int run_eval(const Options& o) {
  branch::EvaluateRequest request = o.evaluate;
  request.configs.assign(o.configs.begin() + 1, o.configs.end());
  if (request.configs.empty()) fail_usage("eval: no network; name models, configurations or folders of these");
  if (o.devices.empty()) fail_usage("eval: pass --devices, e.g. C=cpu@0,D=cpu@1");
  if (o.output.empty()) fail_usage("eval: pass -o result.csv");
  if (!o.weights.empty() || o.flops) fail_usage("eval measures; leave out --weights and --flops");
  request.parts = parts_of(o);
  request.output = o.output;
  request.compile = compile_options(o);
  request.warn = cli::warn;
  request.say = cli::say_unless_quiet;
  branch::evaluate(request);
  return 0;
}

// The child of a supernet, searched or as --config says.
Graph search(const Options& o) {
  if (o.configs.size() != 1) fail_usage("search takes no network but --supernet MODEL; leave out ", o.configs[1]);
  if (!o.weights.empty() || o.flops) fail_usage("search reads a supernet; leave out --weights and --flops");
  train::ChildSearch request = o.search;
  if (request.supernet.empty()) fail_usage("search: pass --supernet MODEL, a network of dnn-train --supernet");
  if (request.data.empty() || request.validate.empty())
    fail_usage("search: pass --data and --validate, folders or packs of images");
  request.plan = o.make.plan;
  request.plan_out = o.make.plan_out;
  if (o.devices.empty() && request.plan.empty())
    fail_usage("search: pass --devices, e.g. C=cpu@0,D=cpu@1, or --config FILE for a child that is chosen already");
  if (!o.devices.empty()) request.parts = parts_of(o);
  request.runs = o.evaluate.runs;
  request.seed = o.evaluate.seed;
  request.compile = compile_options(o);
  request.compile.isas = {supported_isas().back()};
  request.compile.processor = processor_kind();
  request.say = cli::say_unless_quiet;
  request.warn = cli::warn;
  return train::search_children(request);
}

// A model's branches, searched or as --config says.
Graph make(const Options& o) {
  branch::MakeRequest request = o.make;
  request.model = o.configs[0];
  if (o.devices.empty() && request.plan.empty())
    fail_usage("pass --devices for the search, e.g. C=cpu@0,D=cpu@1, or --config FILE of an earlier one");
  if (!o.devices.empty()) request.parts = parts_of(o);
  if (request.plan.empty() && request.parts.size() < 2) fail_usage("--devices: branches are for two devices or more");
  request.search.compile = compile_options(o);
  request.search.runs = o.evaluate.runs;
  request.search.say = request.say = cli::say_unless_quiet;
  request.warn = cli::warn;
  return branch::make_branched(request);
}

Graph build(const Options& o) {
  Graph graph =
      branch::build_network(branch::read_config(o.configs[0], cli::warn), o.evaluate.seed, o.evaluate.image_size);
  if (o.weights.empty()) {
    cli::say(cat("the weights are random (seed ", o.evaluate.seed, "); pass --weights FILE for trained ones"));
  } else {
    branch::load_weights(graph, o.weights, cli::warn);
  }
  return graph;
}

// Options that would change nothing are mistakes.
void refuse_idle_options(const Options& o, bool is_model) {
  const Options left_out;
  const branch::EvaluateRequest &given = o.evaluate, &none = left_out.evaluate;
  if (given.image != none.image || given.preprocess != none.preprocess || given.warmup != none.warmup ||
      given.timeline != none.timeline || given.baseline != none.baseline)
    fail_usage("--input-image, --preprocess, --warmup, --timeline and --baseline belong to dnn-branch eval NET...");
  const train::ChildSearch &asked = o.search, &nothing = left_out.search;
  if (asked.supernet != nothing.supernet || asked.data != nothing.data || asked.validate != nothing.validate ||
      asked.latency_us != nothing.latency_us || asked.children != nothing.children || asked.images != nothing.images)
    fail_usage("--supernet, --data, --validate, --latency, --children and --calibrate belong to dnn-branch search");
  const branch::SearchOptions &search = o.make.search, &usual = left_out.make.search;
  const bool searches = search.alpha != usual.alpha || search.beta != usual.beta || search.gamma != usual.gamma ||
                        search.merge_us != usual.merge_us;
  if (is_model) {
    if (!o.make.plan.empty() && (searches || given.runs != none.runs))
      fail_usage("--config says which branches there are; leave out --runs and the search's shares and costs");
    if (o.devices.empty() && (!o.key.empty() || o.level != left_out.level))
      fail_usage("--key and -O are for measuring, which --devices asks for");
    if (!o.weights.empty() || given.image_size != none.image_size || given.seed != none.seed)
      fail_usage("--weights, --image-size and --seed belong to configurations; ", o.configs[0], " is a model");
    return;
  }
  if (!o.devices.empty() || !o.key.empty() || o.level != left_out.level || given.runs != none.runs)
    fail_usage("--devices, --key, -O and --runs belong to models and to dnn-branch eval NET...");
  if (!o.make.plan.empty() || !o.make.plan_out.empty() || searches)
    fail_usage("--config, --config-out and the search's shares belong to models; ", o.configs[0],
               " is a configuration");
}

int work(const Options& o) {
  if (o.configs[0] == "eval") return run_eval(o);
  const bool searches = o.configs[0] == "search";
  const bool is_model = !branch::is_config(o.configs[0]);
  if (!searches) refuse_idle_options(o, is_model && !o.flops);
  if (o.flops && !o.output.empty()) fail_usage("--flops prints and writes nothing; leave out -o");
  if (o.flops) return print_counts(o);
  if (o.output.empty()) fail_usage("nothing to do; pass -o FILE or --flops");
  if (!searches && o.configs.size() != 1)
    fail_usage("-o takes one model or configuration, ", o.configs.size(), " are given");
  ConvertOptions options;
  options.certify = false;
  convert_model(searches ? search(o) : is_model ? make(o) : build(o), o.output, options);
  cli::say_wrote(o.output);
  return 0;
}

}  // namespace

cli::Program dnn_branch() { return cli::program(kTool, declare, work); }
