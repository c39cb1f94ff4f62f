// Options of branched networks; see branch_args.h.
#include "branch/branch_args.h"

#include <algorithm>

#include "base/affinity.h"
#include "base/counted.h"
#include "cli/console.h"
#include "compile/open.h"
#include "place/open.h"
#include "remote/address.h"

namespace dnn::branch {
namespace {

// Keeps this process, before anything starts threads, to the processors of a hexadecimal mask, and to the first of these where fewer threads
// are asked for.
void limit_processors(const std::string& mask, int64_t threads) {
  if (mask.empty() && threads == 0) return;
  std::vector<int> processors = allowed_processors();
  if (!mask.empty()) {
    const std::string digits = starts_with(mask, "0x") ? mask.substr(2) : mask;
    const auto bit_of = [&](int processor) {
      const size_t digit = processor / 4;
      if (digit >= digits.size()) return false;
      return (std::stoi(digits.substr(digits.size() - 1 - digit, 1), nullptr, 16) >> processor % 4 & 1) != 0;
    };
    if (digits.empty() || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      fail_usage("--core-affinity ", mask, ": not a hexadecimal mask of processors, as f0");
    std::erase_if(processors, [&](int processor) { return !bit_of(processor); });
    if (processors.empty()) fail_usage("--core-affinity ", mask, ": this process may use none of these processors");
  }
  if (threads > static_cast<int64_t>(processors.size()))
    fail_usage("--num-threads ", threads, ": there are ", counted(processors.size(), "processor"));
  if (threads > 0) processors.resize(threads);
  keep_to(processors);
}

}  // namespace

std::vector<Part> BranchArgs::parts() const {
  std::vector<Part> parts = parse_parts(devices);
  remote::check_key(key, devices);
  DeviceOptions connection;
  connection.variable = cli::variable;
  connection.key_file = key;
  place::connect_parts(parts, connection);
  return parts;
}

CompileOptions BranchArgs::compile() const {
  OpenOptions folders;
  use_folders(&folders, cli::variable);
  folders.compile.opt = level[0] - '0';
  return folders.compile;
}

EvaluateRequest BranchArgs::evaluate_request() const {
  EvaluateRequest request = evaluate;
  request.configs.assign(configs.begin() + 1, configs.end());
  if (request.configs.empty()) fail_usage("eval: no network; name models, configurations or folders of these");
  if (devices.empty()) fail_usage("eval: pass --devices, e.g. C=cpu@0,D=cpu@1");
  if (output.empty()) fail_usage("eval: pass -o result.csv");
  if (flops) fail_usage("eval measures; leave out --flops");
  request.weights = weights;
  limit_processors(affinity, threads);
  request.parts = parts();
  request.output = output;
  request.compile = compile();
  return request;
}

MakeRequest BranchArgs::make_request() const {
  MakeRequest request = make;
  request.model = configs[0];
  if (devices.empty() && request.plan.empty())
    fail_usage("pass --devices for the search, e.g. C=cpu@0,D=cpu@1, or --config FILE of an earlier one");
  if (!devices.empty()) request.parts = parts();
  if (request.plan.empty() && request.parts.size() < 2) fail_usage("--devices: branches are for two devices or more");
  request.search.compile = compile();
  request.search.runs = evaluate.runs;
  return request;
}

void declare_branch(cli::Args& args, BranchArgs* options) {
  BranchArgs& o = *options;
  args.positionals(&o.configs, "[eval|search] NET",
                   "a model or a configuration; with --flops and eval as many as you like; eval takes folders, too; "
                   "search takes none");
  args.option(&o.output, "-o,--output", "FILE",
              "write the network, in the format that the name says; of eval: the CSV of latencies");
  args.option(&o.weights, "--weights", "FILE",
              "a checkpoint of pycls, or a state dict, whose weights the network gets; of eval also a folder of such "
              "files, called as the configurations");
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
  args.option(&o.threads, "--num-threads", "N", "eval: no more processors than these in all (0: all)", 0);
  args.option(&o.affinity, "--core-affinity", "MASK", "eval: no processors but those of this hexadecimal mask, as f0");
  args.option(&o.evaluate.timeline, "--timeline", "FILE", "eval: write one inference as a Chrome trace");
}

void refuse_eval_options(const BranchArgs& o) {
  const EvaluateRequest &given = o.evaluate, none;
  if (given.image != none.image || given.preprocess != none.preprocess || given.warmup != none.warmup ||
      given.timeline != none.timeline || given.baseline != none.baseline || o.threads != 0 || !o.affinity.empty())
    fail_usage(
        "--input-image, --preprocess, --warmup, --timeline, --baseline, --num-threads and --core-affinity belong to "
        "dnn-branch eval NET...");
}

void check_branch(const BranchArgs& o, bool is_model) {
  refuse_eval_options(o);
  const BranchArgs left_out;
  const EvaluateRequest &given = o.evaluate, &none = left_out.evaluate;
  const SearchOptions &search = o.make.search, &usual = left_out.make.search;
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

}  // namespace dnn::branch
