// Teachers; see teacher.h.
#include "train/teacher.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "convert/probes.h"
#include "convert/source.h"
#include "convert/surgery.h"
#include "infer/setup.h"
#include "ops/build.h"
#include "ops/op.h"
#include "train/step.h"

namespace dnn::train {
namespace {

// For each class of the data its place in the teacher's output; empty where they are the same. A teacher without class names has
// them in the data's order.
std::vector<int64_t> order_of(const Graph& model, const LabelSet& classes, int64_t outputs, const std::string& path) {
  if (outputs != classes.size())
    fail_usage("--teacher ", path, ": it has ", outputs, " classes, the images ", classes.size());
  std::vector<int64_t> order;
  for (const auto& [key, text] : model.metadata) {
    if (key != "labels") continue;
    const LabelSet own = LabelSet::parse(text, "teacher");
    if (own.size() != outputs) return {};
    bool same = true;
    for (int64_t i = 0; i < classes.size(); ++i) {
      const int64_t at = own.index_of(classes.label(i));
      if (at < 0) fail_usage("--teacher ", path, ": it knows no class ", quoted(classes.label(i)));
      order.push_back(at);
      same = same && at == i;
    }
    if (same) order.clear();
  }
  return order;
}

}  // namespace

Teacher read_teacher(const std::string& path, const LabelSet& classes, const std::string& preprocess_name,
                     const PreprocessOptions& spelled_out, bool apply_orientation,
                     const std::function<void(const std::string&)>& warn) {
  Teacher teacher;
  Graph model = read_to_convert(path, nullptr, {.warn = warn});
  if (model.inputs.size() != 1 || model.outputs.size() != 1)
    fail_unsupported(path, ": a network of one input and one output is wanted, it has ", model.inputs.size(), " and ",
                     model.outputs.size());
  set_batch(model, "batch");
  infer_types(model);
  const Package package = package_of(model);
  const BatchPlan plan = plan_batch(package);
  std::optional<Preprocess> chosen = choose_preprocess(package, plan, "", {}, apply_orientation);
  if (!chosen) chosen = choose_preprocess(package, plan, preprocess_name, spelled_out, apply_orientation);
  if (!chosen) fail_usage("images need a --preprocess: ", dnn::join(preprocess_names()));
  teacher.input = {*chosen, plan.slots[0]};
  Graph one = model;
  set_batch(one, "1");
  infer_types(one);
  one = with_logits(one);
  const std::vector<int64_t> order = order_of(model, classes, one.value(one.outputs[0]).type.fixed_shape()[1], path);
  teacher.graph = std::move(model);
  if (order.empty()) return teacher;
  // Classes in the data's order: a Gather behind the logits.
  const ValueId logits = find_logits(teacher.graph);
  teacher.graph.outputs = {logits};
  NewGraph net(std::move(teacher.graph));
  net.graph().outputs.clear();
  net.set_name("order");
  const std::vector<Dim> extents = net.type(logits).shape.value();
  const auto found = std::find(extents.begin() + 1, extents.end(), Dim(classes.size()));
  if (found == extents.end())
    fail_unsupported(path, ": its output is ", net.type(logits).text(), ", not scores of classes");
  const int64_t axis = found - extents.begin();
  net.output(net.emit("Gather", {logits, net.list(order)}, {{"axis", axis}}), "logits");
  teacher.graph = net.finish();
  return teacher;
}

}  // namespace dnn::train
