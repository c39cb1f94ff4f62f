// dnn-prune: takes channels out of a network, sets weights to 0, or leaves few different numbers among them.
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "prune/model.h"

namespace dnn::tools::dnn_prune {

const cli::Tool kTool = {
    .name = "dnn-prune",
    .summary =
        "Prunes a float32 network, or clusters its weights. Channels that matter least are taken out, so that the "
        "network is "
        "smaller and faster; or weights become 0, or few different numbers, so that its file packs better.",
    .negative = "no calibration input can be read",
    .examples = {{"dnn-prune model.onnx -o small.onnx --prune channels --sparsity 0.2 --calibrate photos/ "
                  "--preprocess imagenet-torch",
                  "a fifth of the channels goes"},
                 {"dnn-prune model.onnx -o sparse.onnx --sparsity 0.5 --scan --calibrate photos/",
                  "half of the weights become 0, where it harms least"},
                 {"dnn-prune model.onnx -o packed.keras --clusters 64 --calibrate photos/", "64 numbers a layer"},
                 {"dnn-prune model.onnx --scan --calibrate photos/", "what each layer bears"}}};

struct Options {
  prune::PruneRequest request;
  std::string what = "weights";
  std::vector<std::string> keep;
};

void declare(cli::Args& args, Options& o) {
  prune::PruneRequest& r = o.request;
  args.positional(&r.model, "MODEL", "a float32 model of any format");
  args.option(&r.output, "-o,--output", "FILE", "where the result goes, in any format that dnn-convert writes");
  args.choice(&o.what, "--prune", {"weights", "channels"},
              "what --sparsity is of: weights become 0, channels are taken out with all that makes and reads them");
  args.option(&r.sparsity, "--sparsity", "X", "the share that goes, e.g. 0.5", 0);
  args.option(&r.clusters, "--clusters", "N", "each layer's weights become N different numbers (k-means)", 0);
  args.list(
      &r.calibrate, "--calibrate", "INPUT",
      "inputs like those the network will see, as dnn-infer's INPUT: they say what matters, and biases make up for "
      "what goes");
  args.flag(&r.scan, "--scan",
            "print what each layer bears; --sparsity then takes more where it harms less. -o may be left out");
  args.list(&o.keep, "--keep", "NAME", "leave a layer as it is, by its name or what it makes");
  args.preprocess(&r.preprocess, &r.spelled_out, &r.apply_orientation);
  args.list(&r.validate, "--validate", "INPUT", "compare labels, and top-1 where classes are known, on these inputs");
  args.option(&r.labels, "--labels", "FILE", "the classes of --validate, one a line, a synset id first where known");
  args.list(&r.surgery.shapes, "--shape", "NAME:DIMS", "set an input shape, e.g. x:1x3x224x224");
  args.option(&r.surgery.batch, "--batch", "N|NAME",
              "set the first extent of every input, or leave it open under a name");
  args.seed(&r.seed);
  args.threads(&r.run.threads);
}

int work(const Options& o) {
  prune::PruneRequest request = o.request;
  request.what = o.what == "channels" ? prune::What::Channels : prune::What::Weights;
  request.keep = {o.keep.begin(), o.keep.end()};
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  request.run.compile = folders.compile;
  request.run.warn = cli::warn;
  request.say = cli::say_unless_quiet;
  const prune::PrunedModel result = prune::prune_model(request);
  cli::say_wrote(request.output);
  if (result.scan) cli::write_text("-", prune::scan_text(*result.scan, request.what));
  return 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_prune
