// Statistics of batch norms; see norms.h.
#include "train/norms.h"

#include <map>

#include "base/error.h"
#include "convert/surgery.h"
#include "devices/device.h"
#include "graph/locate.h"
#include "ops/op.h"

namespace dnn::train {
namespace {

bool is_norm(const Node& node) { return node.domain.empty() && node.op == "BatchNormalization"; }

// Outputs: mean and variance of each norm, in the order of the nodes.
Graph moments_graph(const Graph& model, int64_t batch) {
  Graph fixed = model;
  set_batch(fixed, std::to_string(batch));
  infer_types(fixed);
  NewGraph net(without_nodes(fixed));
  std::vector<ValueId> moments;
  for (NodeId id : fixed.order()) {
    const Node& node = fixed.node(id);
    if (!is_norm(node)) {
      net.add(node, {});
      continue;
    }
    const BatchMoments found = normalize_by_batch(net, node);
    moments.push_back(found.mean);
    moments.push_back(found.variance);
  }
  for (ValueId v : moments) net.output(v);
  return net.finish();
}

}  // namespace

Graph without_nodes(const Graph& model) {
  Graph graph = model;
  graph.outputs.clear();
  for (NodeId id : std::vector<NodeId>(graph.order())) graph.remove_node(id);
  return graph;
}

BatchMoments normalize_by_batch(NewGraph& net, const Node& norm) {
  net.set_name(norm.name);
  const ValueId x = norm.inputs[0];
  if (net.shape(x).size() < 2) fail_unsupported(norm.label(), ": no batch to take statistics of");
  Node moments;
  moments.op = "ChannelMoments";
  moments.domain = kInternalDomain;
  moments.inputs = {x};
  const std::vector<ValueId> batch = net.add(std::move(moments), {norm.name + "/mean", norm.name + "/variance"});
  Node normal = norm;
  normal.inputs[3] = batch[0];
  normal.inputs[4] = batch[1];
  net.add(std::move(normal), {});
  return {batch[0], batch[1]};
}

void recalibrate(Graph* model, int64_t batches, const std::function<Tensor(int64_t n)>& load, int threads,
                 const CompileOptions& compile) {
  std::vector<ValueId> statistics;
  for (NodeId id : model->order()) {
    const Node& node = model->node(id);
    if (!is_norm(node)) continue;
    for (size_t i : {3, 4}) {
      if (model->constant(node.inputs[i]) == nullptr)
        fail_usage(label_in(*model, node), ": its statistics are computed");
      for (ValueId v : statistics) {
        if (v == node.inputs[i]) fail_usage(label_in(*model, node), ": its statistics are another norm's, too");
      }
      statistics.push_back(node.inputs[i]);
    }
  }
  if (statistics.empty()) return;
  std::vector<std::vector<double>> sums(statistics.size());
  std::map<int64_t, std::unique_ptr<Session>> sessions;  // by batch
  double images = 0;
  for (int64_t n = 0; n < batches; ++n) {
    const Tensor batch = load(n);
    const auto size = static_cast<double>(batch.dim(0));
    std::unique_ptr<Session>& session = sessions[batch.dim(0)];
    if (session == nullptr)
      session = open_session(
          "cpu", std::make_shared<const Package>(dnn::compile(moments_graph(*model, batch.dim(0)), compile)),
          {.threads = threads, .isa = {}});
    const std::vector<Tensor> found = session->run({batch});
    for (size_t i = 0; i < found.size(); ++i) {
      sums[i].resize(found[i].size());
      for (size_t c = 0; c < sums[i].size(); ++c) sums[i][c] += size * double{found[i].data<float>()[c]};
    }
    images += size;
  }
  for (size_t i = 0; i < statistics.size(); ++i) {
    Tensor mean(DType::Float32, model->constant(statistics[i])->shape());
    for (size_t c = 0; c < sums[i].size(); ++c) mean.mutable_data<float>()[c] = static_cast<float>(sums[i][c] / images);
    model->value(statistics[i]).constant = std::move(mean);
  }
}

}  // namespace dnn::train
