// Options of a search of children; see child_search_args.h.
#include "train/child_search_args.h"

#include "target/isa.h"
#include "target/processor.h"

namespace dnn::train {

void declare_children(cli::Args& args, ChildSearch* o) {
  args.option(&o->supernet, "--supernet", "MODEL", "search: a network that dnn-train --supernet has trained");
  args.option(&o->data, "--data", "FOLDER",
              "eval: labelled images, for the accuracy; search: images of its training, for the statistics of norms");
  args.option(&o->validate, "--validate", "FOLDER", "search: images that the children are judged on");
  args.option(&o->latency_us, "--latency", "US",
              "search: no child that takes longer (0: than the network itself on the best single device)", 0);
  args.option(&o->children, "--children", "N", "search: children that are timed", 1);
  args.option(&o->images, "--calibrate", "N", "search: images of --data for the statistics of norms", 1);
}

void refuse_children(const ChildSearch& o) {
  const ChildSearch none;
  if (o.supernet != none.supernet || o.data != none.data || o.validate != none.validate ||
      o.latency_us != none.latency_us || o.children != none.children || o.images != none.images)
    fail_usage(
        "--supernet, --validate, --latency, --children and --calibrate belong to dnn-branch search, --data to it and "
        "to dnn-branch eval");
}

ChildSearch child_search_request(const ChildSearch& o, const branch::BranchArgs& others) {
  if (others.configs.size() != 1)
    fail_usage("search takes no network but --supernet MODEL; leave out ", others.configs[1]);
  branch::refuse_eval_options(others);
  if (!others.weights.empty() || others.flops) fail_usage("search reads a supernet; leave out --weights and --flops");
  ChildSearch request = o;
  if (request.supernet.empty()) fail_usage("search: pass --supernet MODEL, a network of dnn-train --supernet");
  if (request.data.empty() || request.validate.empty())
    fail_usage("search: pass --data and --validate, folders or packs of images");
  request.plan = others.make.plan;
  request.plan_out = others.make.plan_out;
  if (others.devices.empty() && request.plan.empty())
    fail_usage("search: pass --devices, e.g. C=cpu@0,D=cpu@1, or --config FILE for a child that is chosen already");
  if (!others.devices.empty()) request.parts = others.parts();
  request.runs = others.evaluate.runs;
  request.seed = others.evaluate.seed;
  request.compile = others.compile();
  request.compile.isas = {supported_isas().back()};
  request.compile.processor = processor_kind();
  return request;
}

}  // namespace dnn::train
