// Pruning a model file; see model.h.
#include "prune/model.h"

#include <zlib.h>

#include <algorithm>

#include "base/counted.h"
#include "base/error.h"
#include "base/printable.h"
#include "convert/certificate.h"
#include "convert/convert.h"
#include "ops/op.h"
#include "ops/weights.h"
#include "prune/weights.h"
#include "quant/bias.h"
#include "quant/report.h"

namespace dnn::prune {
namespace {

constexpr size_t kMostScanned = 16;  // samples that a scan runs, nine times for each layer

struct Size {
  int64_t bytes = 0, deflated = 0;
};

// As gzip -9 and zip have it.
int64_t deflated_bytes(Bytes bytes) {
  z_stream stream = {};
  if (deflateInit(&stream, Z_BEST_COMPRESSION) != Z_OK) fail_internal("zlib does not start");
  std::vector<unsigned char> out(size_t{1} << 18);
  int64_t made = 0;
  int state = Z_OK;
  size_t at = 0;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && at < bytes.size()) {
      const size_t piece = std::min(bytes.size() - at, size_t{1} << 30);
      stream.next_in =
          reinterpret_cast<Bytef*>(const_cast<std::byte*>(reinterpret_cast<const std::byte*>(bytes.data()) + at));
      stream.avail_in = static_cast<uInt>(piece);
      at += piece;
    }
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    state = deflate(&stream, at == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    made += static_cast<int64_t>(out.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return made;
}

Size size_of(const Graph& graph, const std::string& path, const ConvertOptions& options) {
  Size size;
  for (const ModelFile& file : converted_files(graph, path, options)) {
    const SharedBytes whole = file.bytes.whole();
    size.bytes += static_cast<int64_t>(whole.bytes.size());
    size.deflated += deflated_bytes(whole.bytes);
  }
  return size;
}

double all_multiply_adds(const Graph& graph) {
  double sum = 0;
  for (NodeId id : graph.order()) sum += quant::multiply_adds(graph, id);
  return sum;
}

quant::Plan plan_of(const Graph& bound, const std::set<std::string>& keep) {
  quant::PlanOptions options;
  options.keep_float = keep;
  options.activations = false;
  return quant::make_plan(bound, options);
}

// Batch norms stay: pruned networks are trained again, and learn slowly without norms.
Graph prepared(Graph model) {
  quant::refuse_quantised(model);
  fold_constants(model);
  return model;
}

class Job {
 public:
  Job(const PruneRequest& request, const Format* format)
      : request_(request),
        graph_(
            prepared(read_to_convert(request.model, format, {.surgery = request.surgery, .warn = request.run.warn}))),
        source_(graph_),
        inputs_(source_, request) {
    convert_.warn = request.run.warn;
    convert_.certify = false;
  }

  PrunedModel run() {
    if (request_.sparsity || request_.scan) {
      if (request_.what == What::Weights) {
        prune_weights();
      } else {
        prune_channels();
      }
    }
    if (request_.clusters) cluster();
    if (request_.output.empty()) return std::move(result_);
    validate();
    const Size before = size_of(source_, request_.output, convert_), after = size_of(graph_, request_.output, convert_);
    say(cat(request_.output, ": ", before.bytes, " -> ", after.bytes, " bytes; deflated ", before.deflated, " -> ",
            after.deflated));
    convert_model(std::move(graph_), request_.output, convert_);
    return std::move(result_);
  }

 private:
  using Figures = std::map<ValueId, quant::ChannelFigures>;

  void say(const std::string& line) const {
    if (request_.say) request_.say(line);
  }

  // Measures the values that `figures` has keys for on the calibration inputs; nothing without any.
  Figures measure(const Graph& bound, Figures figures) {
    if (request_.calibrate.empty()) return {};
    quant::Calibration calibration;
    calibration.figures = std::move(figures);
    quant::CalibrateOptions options = request_.run;
    options.keep = request_.scan ? kMostScanned : 0;
    options.seed = request_.seed;
    const std::unique_ptr<SampleSource> source = inputs_.open(request_.calibrate, "--calibrate");
    quant::calibrate(bound, *source, options, &calibration);
    kept_ = std::move(calibration.kept);
    return std::move(calibration.figures);
  }

  // Inputs of the layers with weights.
  static Figures read_by(const Graph& bound, const quant::Plan& plan, const std::vector<size_t>& layers) {
    Figures figures;
    for (size_t i : layers) {
      const Node& node = bound.node(plan.weights[i].node);
      figures[node.inputs[0]].axis = is_convolution(node) ? 1 : -1;
    }
    return figures;
  }

  // Puts other weights into the network, and says how many are 0.
  void put(NodeId id, quant::Alternative other) {
    const std::string name = graph_.value(graph_.node(id).inputs[1]).name;
    set_constant(graph_, id, 1, std::move(other.weights), name);
    if (other.bias) set_bias(graph_, id, std::move(*other.bias));
  }

  void prune_weights() {
    const Graph bound = quant::bound_graph(graph_);
    const quant::Plan plan = plan_of(bound, request_.keep);
    const std::vector<size_t> layers = prunable(bound, plan);
    if (layers.empty()) fail_unsupported("the network has no layer whose weights can be pruned");
    const Figures figures = measure(bound, read_by(bound, plan, layers));
    if (request_.scan) result_.scan = scan_weights(bound, plan, figures, kept_, request_.run);
    if (!request_.sparsity) return;
    const std::vector<double> shares = result_.scan ? shares_by(*result_.scan, *request_.sparsity)
                                                    : std::vector<double>(layers.size(), *request_.sparsity);
    int64_t all = 0, zeros = 0;
    for (size_t l = 0; l < layers.size(); ++l) {
      const quant::Weights& which = plan.weights[layers[l]];
      quant::Alternative other = pruned_weights(bound, which, shares[l], figures);
      all += other.weights.size();
      zeros += zeros_in(other.weights);
      put(which.node, std::move(other));
    }
    say(cat(zeros, " of ", all, " weights of ", counted(layers.size(), "layer"), " are 0 (",
            number_text(100.0 * static_cast<double>(zeros) / static_cast<double>(all), "%.1f"), " %)"));
  }

  void prune_channels() {
    const std::string batch = open_batch(graph_);
    const Graph bound = quant::bound_graph(graph_);
    const quant::Plan plan = plan_of(bound, request_.keep);
    ChannelGroups groups(bound);
    const Figures figures = measure(bound, groups.watched());
    groups.weigh(figures);
    const std::vector<ChannelGroup>& all = groups.groups();
    const auto is_free = [&](const ChannelGroup& group) { return group.free && !is_kept(bound, group); };
    if (std::none_of(all.begin(), all.end(), is_free))
      fail_unsupported("the network has no channels that can be taken out");
    if (request_.scan) result_.scan = scan_channels(bound, plan, groups, figures, kept_, request_.run);
    if (!request_.sparsity) return;
    std::vector<double> by_row;
    if (result_.scan) by_row = shares_by(*result_.scan, *request_.sparsity);
    std::vector<double> shares;
    size_t row = 0;
    int64_t before = 0, after = 0;
    for (const ChannelGroup& group : all) {
      const double share = !group.free ? 0 : by_row.empty() ? *request_.sparsity : by_row[row++];
      shares.push_back(is_free(group) ? share : 0);
    }
    const std::vector<std::vector<int64_t>> kept = groups.kept(shares);
    for (size_t g = 0; g < all.size(); ++g) {
      if (!all[g].free) continue;
      before += all[g].channels;
      after += static_cast<int64_t>(kept[g].size());
    }
    graph_ = groups.without(kept, figures);
    infer_types(graph_);
    const double share = 100 * all_multiply_adds(graph_) / all_multiply_adds(bound);
    if (!batch.empty()) set_batch(graph_, batch);
    say(cat(before - after, " of ", before, " channels are gone; ", number_text(share, "%.1f"),
            " % of the multiply-adds are left"));
  }

  bool is_kept(const Graph& graph, const ChannelGroup& group) const {
    return std::any_of(group.makers.begin(), group.makers.end(), [&](NodeId id) {
      const Node& node = graph.node(id);
      return request_.keep.count(node.name) + request_.keep.count(graph.value(node.outputs[0]).name) != 0;
    });
  }

  void cluster() {
    const Graph bound = quant::bound_graph(graph_);
    const quant::Plan plan = plan_of(bound, request_.keep);
    const std::vector<size_t> layers = prunable(bound, plan);
    if (layers.empty()) fail_unsupported("the network has no layer whose weights can be clustered");
    const Figures figures = measure(bound, read_by(bound, plan, layers));
    const bool keep_zeros = request_.sparsity && request_.what == What::Weights;
    for (size_t i : layers) {
      const quant::Weights& which = plan.weights[i];
      const Node& node = bound.node(which.node);
      quant::Alternative other;
      other.weights = clustered(*bound.constant(node.inputs[1]), *request_.clusters, keep_zeros, request_.seed + i);
      const auto seen = figures.find(node.inputs[0]);
      if (seen != figures.end() && quant::mean_axis(bound, which))
        other.bias = quant::corrected_bias(bound, which, other.weights,
                                           quant::ChannelMeans{1, seen->second.sums, seen->second.count});
      put(which.node, std::move(other));
    }
    say(cat("weights of ", counted(layers.size(), "layer"), " have ", *request_.clusters,
            " different numbers each at most"));
  }

  void validate() {
    if (request_.validate.empty()) return;
    Graph after = graph_;
    fix_open_extents(after);
    const std::unique_ptr<SampleSource> source = inputs_.open(request_.validate, "--validate");
    result_.validation = quant::validate(inputs_.graph(), after, *source, inputs_.label_offset(), request_.run);
    say(quant::validation_text(*result_.validation));
  }

  const PruneRequest& request_;
  ConvertOptions convert_;
  Graph graph_;
  const Graph source_;
  quant::Inputs inputs_;
  std::vector<std::vector<Tensor>> kept_;
  PrunedModel result_;
};

}  // namespace

PrunedModel prune_model(const PruneRequest& request) {
  if (request.output == "-" || (request.output.empty() && !request.scan)) fail_usage("where to? give a file with -o");
  if (!request.sparsity && !request.clusters && !request.scan)
    fail_usage("what to do? --sparsity X sets weights to 0 or takes channels out, --clusters N leaves few numbers");
  if (request.sparsity && !(*request.sparsity > 0 && *request.sparsity < 1))
    fail_usage("--sparsity: a share above 0 and below 1");
  if (request.clusters && *request.clusters < 2) fail_usage("--clusters: 2 or more");
  if (request.scan && request.calibrate.empty()) fail_usage("--scan runs samples: give --calibrate");
  const Format* format = request.output.empty() ? find_format("onnx") : format_for_path(request.output);
  if (format == nullptr || format->to_files == nullptr)
    fail_usage(request.output, ": no format that can be written; see dnn-convert");
  if (request.calibrate.empty() && request.run.warn)
    request.run.warn("without --calibrate biases do not make up for what goes, and weights count by magnitude alone");
  return Job(request, format).run();
}

}  // namespace dnn::prune
