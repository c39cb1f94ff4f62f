// dnn-train: trains a network of any format on folders of images, whole or with a new head.
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "compile/open.h"
#include "train/model.h"
#include "train/mpi_link.h"
#include "train/train_args.h"

namespace dnn::tools::dnn_train {

const cli::Tool kTool = {
    .name = "dnn-train",
    .summary =
        "Trains a classifier on images in folders, one folder a class, or in a pack of dnn-pack. The model may be of "
        "any format, and so may the result. With a frozen backbone its features are computed once, and an epoch takes "
        "seconds. The same command gives the same bits on any number of threads.",
    .negative = "the loss stops being finite; the best network so far is written",
    .examples = {{"dnn-train model.onnx --data flowers/ -o out.onnx --replace-head linear --freeze '*' --validate 0.2",
                  "a new last layer on frozen features"},
                 {"dnn-train model.onnx --data flowers/ -o out.onnx --replace-head 512 --learning-rate 1e-4",
                  "all layers, and a head of two layers"},
                 {"dnn-train net.h5 --data train/ --validate test/ -o out.h5 --init --epochs 20 --schedule cosine",
                  "from scratch"},
                 {"dnn-train small.onnx --data train.dnnd --teacher big.keras -o out.onnx --logdir log",
                  "a network that learns from another one, with a log for TensorBoard"},
                 {"dnn-train net.onnx --data train/ --quantize net.json -o int8.onnx --epochs 3 --learning-rate 1e-5",
                  "int8, after dnn-quantize net.onnx --calibrate train/ --state net.json"}}};

void declare(cli::Args& args, train::TrainArgs& o) { train::declare_training(args, &o); }

// With ranks the first one alone says how it goes.
void train_network(const train::TrainArgs& o, train::Ranks* ranks) {
  const bool speaks = ranks == nullptr || ranks->is_first();
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  std::function<void(const std::string&)> note;
  if (speaks) note = cli::note;
  train::TrainRequest request;
  train::together(ranks, [&] { request = train::train_request(o, folders.compile, note); });
  request.ranks = ranks;
  request.note = note;
  if (speaks) {
    request.say = cli::show_unless_quiet;
    request.warn = cli::warn;
  }
  train::train_model(request);
  if (speaks) cli::say_wrote(request.output);
}

int work(const train::TrainArgs& o) {
  if (!o.mpi) {
    train::refuse_unasked_ranks(cli::variable);
    train_network(o, nullptr);
    return 0;
  }
  train::Ranks ranks(train::join_mpi_ranks());
  if (!ranks.is_first()) cli::console().tool += cat(", rank ", ranks.rank());
  cli::note(cat("rank ", ranks.rank(), " of ", ranks.size()));
  if (ranks.size() == 1) cli::warn("--mpi: one rank alone, which trains as without it; mpirun -n N starts N ranks");
  return train::run_rank(
      ranks, [&] { train_network(o, ranks.size() > 1 ? &ranks : nullptr); }, [] { return cli::say_failure(kTool); });
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_train
