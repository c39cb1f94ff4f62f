// dnn-train: trains a network of any format on folders of images, whole or with a new head.
#include <cstdlib>

#include "cli/cli.h"
#include "cli/console.h"
#include "compile/open.h"
#include "train/model.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-train",
    .summary =
        "Trains a classifier on images in folders, one folder a class. The model may be of any format, and so may the "
        "result. With a frozen backbone its features are computed once, and an epoch takes seconds. The same command "
        "gives the same bits on any number of threads.",
    .negative = "the loss stops being finite; the best network so far is written",
    .examples = {{"dnn-train model.onnx --data flowers/ -o out.onnx --replace-head linear --freeze '*' --validate 0.2",
                  "a new last layer on frozen features"},
                 {"dnn-train model.onnx --data flowers/ -o out.onnx --replace-head 512 --learning-rate 1e-4",
                  "all layers, and a head of two layers"},
                 {"dnn-train net.h5 --data train/ --validate test/ -o out.h5 --init --epochs 20 --schedule cosine",
                  "from scratch"}}};

struct Options {
  train::TrainRequest request;
};

void declare(cli::Args& args, Options& o) {
  train::TrainRequest& r = o.request;
  args.positional(&r.model, "MODEL", "the network to start from, of any format");
  args.option(&r.data, "--data", "FOLDER", "training images: a folder for each class");
  args.option(&r.output, "-o,--output", "FILE", "where the trained network goes; the extension says the format");
  args.option(&r.validate, "--validate", "FOLDER|SHARE",
              "measure after each epoch, and keep the best: a folder like --data, or a share of its images, e.g. 0.2");
  args.option(&r.epochs, "--epochs", "N", "how often all images are seen", 1);
  args.option(&r.batch, "--batch-size", "N", "images in one step", 1);
  args.option(&r.rate, "--learning-rate", "X", "step size", 0);
  args.choice(&r.optimizer, "--optimizer", {"adam", "sgd"}, "rule of the steps");
  args.option(&r.momentum, "--momentum", "X", "of sgd", 0);
  args.option(&r.weight_decay, "--weight-decay", "X",
              "added to the gradient, times the weight; not for biases and norms", 0);
  args.choice(&r.schedule, "--schedule", {"constant", "cosine"}, "how the learning rate changes from epoch to epoch");
  args.option(&r.augment, "--augment", "LIST", "change training images at random: flip, shift:PIXELS, or both");
  args.option(&r.replace_head, "--replace-head", "SPEC",
              "new last layers: widths of hidden layers, e.g. 1024,512, or linear");
  args.list(&r.freeze, "--freeze", "PATTERN", "leave the model's layers of these names unchanged; '*' is all of them");
  args.flag(&r.init, "--init", "draw all weights anew");
  args.flag(&r.resume, "--resume", "go on from FILE.checkpoint, where it is there");
  args.preprocess(&r.preprocess, &r.spelled_out, &r.apply_orientation);
  args.seed(&r.seed);
  args.threads(&r.threads);
}

int work(const Options& o) {
  train::TrainRequest request = o.request;
  if (request.data.empty()) fail_usage("--data: give a folder of images");
  OpenOptions folders;
  use_folders(&folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  request.compile = folders.compile;
  request.say = [](const std::string& line) {
    if (!cli::console().quiet) cli::show(line);
  };
  request.note = cli::note;
  request.warn = cli::warn;
  train::train_model(request);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
