// Options of dnn-train; see train_args.h.
#include "train/train_args.h"

#include "target/isa.h"
#include "target/processor.h"
#include "train/preset.h"

namespace dnn::train {

namespace {

void declare_steps(cli::Args& args, TrainRequest* r) {
  args.option(&r->rate, "--learning-rate", "X", "step size", 0);
  args.list(&r->rate_scale, "--rate-scale", "PATTERN=X",
            "learning rate of layers of these names, times X: 'head/*=10'");
  args.choice(&r->optimizer, "--optimizer", {"adam", "adamw", "sgd"}, "rule of the steps");
  args.option(&r->momentum, "--momentum", "X", "of sgd", 0);
  args.flag(&r->nesterov, "--nesterov", "Nesterov's momentum for sgd");
  args.option(&r->weight_decay, "--weight-decay", "X",
              "added to the gradient, times the weight (adamw: taken off the weight); not for biases and norms", 0);
  args.option(&r->clip, "--clip-norm", "X", "scale gradients whose common norm is above X; 0: none", 0);
  args.option(&r->schedule, "--schedule", "NAME",
              "learning rate by epoch: constant, cosine, step:EPOCHS:FACTOR, exponential:FACTOR");
  args.option(&r->warmup, "--warmup", "N", "epochs in which the learning rate rises from a tenth", 0);
}

}  // namespace

void declare_training(cli::Args& args, TrainArgs* o) {
  TrainRequest& r = o->request;
  args.given(&o->given);
  args.positional(&r.model, "MODEL", "the network to start from, of any format");
  args.option(&r.data, "--data", "FOLDER",
              "training images: a folder for each class, a FILE.dnnd of dnn-pack, or the Oxford pets' own layout");
  args.option(&r.output, "-o,--output", "FILE", "where the trained network goes; the extension says the format");
  args.option(&r.validate, "--validate", "FOLDER|SHARE",
              "measure after each epoch, and keep the best: images like --data, or a share of its images, e.g. 0.2");
  args.choice(&o->preset, "--preset", train_preset_names(),
              "take all that is not given from a scenario (docs/howto/train.md)");
  args.option(&r.epochs, "--epochs", "N", "how often all images are seen", 1);
  args.option(&r.batch, "--batch-size", "N", "images in one batch", 1);
  args.option(&r.accumulate, "--accumulate", "N", "batches in one step", 1);
  declare_steps(args, &r);
  args.option(&r.patience, "--patience", "N", "stop after N epochs that are not better than the best; 0: never", 0);
  args.option(&r.label_smoothing, "--label-smoothing", "X", "this share of each target is spread over all classes", 0);
  args.option(
      &r.augment, "--augment", "LIST",
      "change training images at random: flip, shift:PIXELS, crop:AREA, brightness:X, contrast:X, saturation:X");
  args.option(&r.feature_variants, "--feature-variants", "N",
              "random changes of each image whose features a frozen network computes; 0: flip alone", 0);
  args.option(&r.replace_head, "--replace-head", "SPEC",
              "new last layers: widths of hidden layers, e.g. 1024,512 or 1024:0.5 with dropout, or linear");
  args.list(&r.freeze, "--freeze", "PATTERN", "leave the model's layers of these names unchanged; '*' is all of them");
  args.flag(&r.keep_statistics, "--keep-statistics",
            "norms learn scale and shift alone: they use the model's own statistics, which stay");
  args.optional_value(&r.init, "--init", "RULE", "torch",
                      "draw all weights anew, as PyTorch's layers do by themselves, or after He (--init=he)");
  args.option(&r.teacher, "--teacher", "MODEL", "learn from this network's answers too; it may be of any format");
  args.option(&r.temperature, "--temperature", "X", "by which the teacher's and the network's logits are divided", 0);
  args.option(&r.teacher_weight, "--teacher-weight", "X", "of the teacher in the loss; the labels' is 1 - X", 0);
  args.option(
      &r.quantize, "--quantize", "STATE",
      "round as int8 does while training, with the ranges of a --state file of dnn-quantize; the result is int8");
  args.flag(&r.reduce_range, "--reduce-range", "with --quantize: int8 weights within 64, as dnn-quantize has it");
  args.only_with("--reduce-range", {"--quantize"});
  args.option(
      &r.supernet, "--supernet", "RANGES",
      "train all branched children within these ranges (a YAML file) with the network, which they share weights "
      "with; then dnn-branch search");
  args.option(&r.logdir, "--logdir", "DIR", "write files for TensorBoard, and train.log with json_stats lines");
  args.flag(&r.histograms, "--histograms", "with --logdir: histograms of the weights too");
  args.choice(&r.precision, "--precision", {"float32", "float64"},
              "of the arithmetic of steps; the file keeps its own");
  args.flag(&r.winograd, "--winograd", "faster steps of convolutions, by Winograd's algorithm, that round more");
  args.flag(&r.recompute, "--recompute", "compute activations again in place of keeping them: less memory, more time");
  args.flag(&r.profile, "--profile", "show at the end what each part of a step took, and what bounds it");
  args.flag(&o->mpi, "--mpi",
            "share each batch out among the processes that mpirun started (docs/howto/train-on-machines.md)");
  args.flag(&r.resume, "--resume", "go on from FILE.checkpoint, where it is there");
  args.preprocess(&r.preprocess, &r.spelled_out, &r.apply_orientation);
  args.list(&r.surgery.shapes, "--shape", "NAME:DIMS",
            "set the extents of the input where they are open, e.g. x:1x3x224x224");
  args.seed(&r.seed);
  args.threads(&r.threads);
}

TrainRequest train_request(const TrainArgs& o, const CompileOptions& compile,
                           const std::function<void(const std::string&)>& note) {
  TrainRequest request = o.request;
  if (request.data.empty()) fail_usage("--data: give a folder of images");
  apply_preset(o.preset, o.given, &request);
  if (const std::string line = split_data_folder(o.given, &request); note && !line.empty()) note(line);
  request.compile = compile;
  request.compile.isas = {supported_isas().back()};  // it runs here and nowhere else
  request.compile.processor = processor_kind();
  return request;
}

}  // namespace dnn::train
