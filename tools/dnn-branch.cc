// dnn-branch: builds branched networks from configurations, and measures them on several devices at once.
#include <iostream>

#include "branch/branch_args.h"
#include "branch/network.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "convert/convert.h"
#include "train/child_search_args.h"

namespace dnn::tools::dnn_branch {

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

struct Options : branch::BranchArgs {
  train::ChildSearch search;
};

void declare(cli::Args& args, Options& o) {
  branch::declare_branch(args, &o);
  train::declare_children(args, &o.search);
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

int eval(const Options& o) {
  train::ChildSearch others = o.search;
  others.data.clear();
  train::refuse_children(others);
  branch::EvaluateRequest request = o.evaluate_request();
  request.data = o.search.data;
  request.warn = cli::warn;
  request.say = cli::say_unless_quiet;
  branch::evaluate(request);
  return 0;
}

// The child of a supernet, searched or as --config says.
Graph search(const Options& o) {
  train::ChildSearch request = train::child_search_request(o.search, o);
  request.say = cli::say_unless_quiet;
  request.warn = cli::warn;
  return train::search_children(request);
}

// A model's branches, searched or as --config says.
Graph make(const Options& o) {
  branch::MakeRequest request = o.make_request();
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

int work(const Options& o) {
  if (o.configs[0] == "eval") return eval(o);
  const bool searches = o.configs[0] == "search";
  const bool is_model = !branch::is_config(o.configs[0]);
  if (!searches) {
    train::refuse_children(o.search);
    branch::check_branch(o, is_model && !o.flops);
  }
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

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_branch
