// Reducing a model to what still differs; see reduce.h.
#include "localize/reduce.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/printable.h"
#include "base/version.h"
#include "base/zip_write.h"
#include "convert/convert.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "localize/words.h"
#include "ops/op.h"
#include "tensor/compare.h"
#include "tensor/npy.h"

namespace dnn {
namespace {

struct Part {
  Graph graph;
  std::vector<Tensor> inputs;
};

// A window of half the height and width, at the beginning or the end of both.
Tensor halved(const Tensor& tensor, bool end) {
  const Shape& s = tensor.shape();
  const int64_t height = (s[2] + 1) / 2, width = (s[3] + 1) / 2;
  const int64_t top = end ? s[2] - height : 0, left = end ? s[3] - width : 0;
  const Tensor whole = tensor.arranged_copy();
  Tensor result(tensor.dtype(), {s[0], s[1], height, width});
  const auto element = static_cast<int64_t>(dtype_size(tensor.dtype()));
  const std::byte* in = whole.bytes().data();
  std::byte* out = result.mutable_bytes();
  for (int64_t plane = 0; plane < s[0] * s[1]; ++plane) {
    for (int64_t y = 0; y < height; ++y)
      std::copy_n(in + ((plane * s[2] + top + y) * s[3] + left) * element, width * element,
                  out + (plane * height + y) * width * element);
  }
  return result;
}

class Reducer {
 public:
  Reducer(const Graph& model, const std::vector<Tensor>& inputs, const RunModel& source, const RunModel& target,
          const ReduceOptions& options)
      : model_(model), source_(source), target_(target), options_(options) {
    infer_types(model_);
    values_.resize(static_cast<size_t>(model_.value_count()));
    interpret(model_, inputs, [&](const Graph& graph, ValueId id, const Tensor& value) {
      if (&graph == &model_) values_[static_cast<size_t>(id)] = value;
    });
  }

  Reduced run() {
    std::vector<NodeId> nodes = model_.order();
    const auto n_before = static_cast<int64_t>(nodes.size());
    std::optional<Part> part = part_of(nodes);
    if (!part || !differs(*part)) throw Error(ErrorKind::Negative, "the two do not differ on the whole model");
    nodes = minimal(std::move(nodes));
    part = part_of(nodes);
    shrink(&*part);
    Reduced reduced;
    reduced.graph = std::move(part->graph);
    reduced.inputs = std::move(part->inputs);
    reduced.source = source_(reduced.graph, reduced.inputs);
    reduced.target = target_(reduced.graph, reduced.inputs);
    reduced.movement = movement(reduced.source, reduced.target, options_.tolerance);
    for (size_t i = 0; i < std::min(reduced.source.outputs.size(), reduced.target.outputs.size()); ++i) {
      const Tensor &a = reduced.source.outputs[i], &b = reduced.target.outputs[i];
      if (a.size() != b.size() || a.dtype() == DType::String) continue;
      const Distance d = compare(a, b);
      if (d.max_abs_index < 0 || d.max_abs < reduced.movement.max_abs) continue;
      reduced.output = i;
      reduced.at = d.max_abs_index;
      reduced.expected = to_doubles(a)[static_cast<size_t>(d.max_abs_index)];
      reduced.got = to_doubles(b)[static_cast<size_t>(d.max_abs_index)];
    }
    reduced.n_nodes_before = n_before;
    reduced.n_probes = n_probes_;
    return reduced;
  }

 private:
  bool differs(const Part& part) {
    if (n_probes_ >= options_.max_probes || (n_probes_ > 0 && options_.deadline.stops())) return false;
    ++n_probes_;
    return movement(source_(part.graph, part.inputs), target_(part.graph, part.inputs), options_.tolerance).excess > 1;
  }

  // These nodes alone; nothing where a value that they read is not known.
  std::optional<Part> part_of(const std::vector<NodeId>& nodes) const {
    const std::set<NodeId> kept(nodes.begin(), nodes.end());
    Part part;
    Graph& g = part.graph;
    g = model_;
    g.metadata.clear();
    g.inputs.clear();
    g.outputs.clear();
    std::set<ValueId> made, read;
    for (NodeId id : model_.order()) {
      if (kept.count(id) == 0) {
        g.remove_node(id);
        continue;
      }
      const Node& node = model_.node(id);
      made.insert(node.outputs.begin(), node.outputs.end());
      read.insert(node.inputs.begin(), node.inputs.end());
      for (ValueId v : captured_values(model_, node)) read.insert(v);
    }
    made.erase(kNoValue);
    read.erase(kNoValue);
    for (ValueId v : read) {
      if (made.count(v) != 0 || (model_.constant(v) != nullptr && !model_.is_input(v))) continue;
      const Tensor& value = values_[static_cast<size_t>(v)];
      if (!value.defined() || value.dtype() == DType::String) return std::nullopt;
      g.value(v).constant.reset();
      g.value(v).type = Type(value);
      g.inputs.push_back(v);
      part.inputs.push_back(value);
    }
    for (ValueId v : made) {
      if (read.count(v) == 0 || model_.is_output(v)) g.outputs.push_back(v);
    }
    for (ValueId v = 0; v < g.value_count(); ++v) {
      if (read.count(v) == 0 && made.count(v) == 0) g.value(v).constant.reset();  // weights of nodes that are gone
    }
    if (g.outputs.empty() || g.inputs.empty()) return std::nullopt;
    return part;
  }

  bool differs(const std::vector<NodeId>& nodes) {
    if (nodes.empty()) return false;
    const std::optional<Part> part = part_of(nodes);
    const bool result = part && differs(*part);
    if (options_.note) options_.note(cat(nodes.size(), " nodes: ", result ? "differ" : "agree"));
    return result;
  }

  // No chunk of what is left can be left out, down to single nodes.
  std::vector<NodeId> minimal(std::vector<NodeId> nodes) {
    size_t n_chunks = 2;
    while (nodes.size() > 1 && n_probes_ < options_.max_probes && !options_.deadline.stops()) {
      n_chunks = std::min(n_chunks, nodes.size());
      const auto bound = [&](size_t i) {
        return nodes.begin() + static_cast<std::ptrdiff_t>(i * nodes.size() / n_chunks);
      };
      std::optional<std::vector<NodeId>> smaller;
      bool subset = false;
      for (size_t i = 0; i < n_chunks && !smaller; ++i) {
        std::vector<NodeId> chunk(bound(i), bound(i + 1));
        if (chunk.size() < nodes.size() && differs(chunk)) {
          smaller = std::move(chunk);
          subset = true;
        }
      }
      for (size_t i = 0; n_chunks > 2 && i < n_chunks && !smaller; ++i) {
        std::vector<NodeId> rest(nodes.begin(), bound(i));
        rest.insert(rest.end(), bound(i + 1), nodes.end());
        if (differs(rest)) smaller = std::move(rest);
      }
      if (smaller) {
        nodes = std::move(*smaller);
        n_chunks = subset ? 2 : std::max<size_t>(n_chunks - 1, 2);
      } else if (n_chunks >= nodes.size()) {
        break;
      } else {
        n_chunks *= 2;
      }
    }
    return nodes;
  }

  // Images smaller by half, all those of one size together, as long as the difference stays.
  void shrink(Part* part) {
    for (bool again = true; again;) {
      again = false;
      std::set<std::pair<int64_t, int64_t>> sizes;
      for (const Tensor& input : part->inputs) {
        if (input.rank() == 4 && input.dim(2) > 1 && input.dim(3) > 1) sizes.insert({input.dim(2), input.dim(3)});
      }
      for (const auto& size : sizes) {
        for (const bool end : {false, true}) {
          std::optional<Part> smaller = shrunk(*part, size, end);
          if (!smaller || !differs(*smaller)) continue;
          if (options_.note) options_.note(cat("inputs of ", size.first, "x", size.second, " halved: differ"));
          *part = std::move(*smaller);
          again = true;
          break;
        }
        if (again) break;
      }
    }
  }

  static std::optional<Part> shrunk(const Part& part, const std::pair<int64_t, int64_t>& size, bool end) {
    Part smaller = part;
    Graph& g = smaller.graph;
    for (NodeId id : g.order()) {  // to be inferred anew
      for (ValueId v : g.node(id).outputs) {
        if (v != kNoValue && g.value(v).type.shape) g.value(v).type.shape.reset();
      }
    }
    for (size_t i = 0; i < smaller.inputs.size(); ++i) {
      Tensor& input = smaller.inputs[i];
      if (input.rank() != 4 || input.dim(2) != size.first || input.dim(3) != size.second) continue;
      input = halved(input, end);
      g.value(g.inputs[i]).type = Type(input);
    }
    try {
      infer_types(g);
      verify(g);
      interpret(g, smaller.inputs);
    } catch (const Error&) {
      return std::nullopt;
    }
    return smaller;
  }

  Graph model_;
  const RunModel &source_, &target_;
  const ReduceOptions& options_;
  std::vector<Tensor> values_;  // of the whole model, by id
  int64_t n_probes_ = 0;
};

std::string report_of(const Reduced& r, const ReproFacts& facts) {
  std::string nodes = cat(r.graph.order().size(), r.graph.order().size() == 1 ? " node" : " nodes");
  std::string out = cat("# ", plain(facts.target), " differs from ", plain(facts.source), " on ", nodes, "\n\n");
  const auto failed = [](const Outcome& o) { return !o.error.empty(); };
  if (failed(r.source) || failed(r.target)) {
    out += cat("`", facts.source, "`: ", failed(r.source) ? plain(r.source.error) : "runs", "\n`", facts.target,
               "`: ", failed(r.target) ? plain(r.target.error) : "runs", "\n");
  } else {
    out += cat("| | |\n|---|---|\n| output | `", plain(r.graph.value(r.graph.outputs[r.output]).name), "` ",
               shape_text(r.source.outputs[r.output].shape()), ", element ", r.at, " |\n| expected (",
               plain(facts.source), ") | ", words::precise(r.expected), " |\n| got (", plain(facts.target), ") | ",
               words::precise(r.got), " |\n| largest difference | ", words::number(r.movement.max_abs), " of ",
               words::number(r.movement.largest), " |\n");
  }
  out +=
      cat("\nReduced from `", plain(facts.model), "` (", r.n_nodes_before, " nodes) in ", r.n_probes,
          " probes. What the nodes left read from nodes that are gone is in `inputs.npz`.\n\n## To reproduce\n\n    ",
          facts.command,
          "\n\n`reduced.onnx` is an ordinary ONNX file; `inputs.npz` has one array per input, by name.\n\n## "
          "Versions\n\n- dnn-tools ",
          version(), " (", commit(), "), ", compiler(), "\n- ", facts.machine, "\n\n## The network\n\n```\n");
  return out + to_text(r.graph, {.inline_elements = 16, .inline_all = false}) + "```\n";
}

}  // namespace

Reduced reduce_model(const Graph& model, const std::vector<Tensor>& inputs, const RunModel& source,
                     const RunModel& target, const ReduceOptions& options) {
  return Reducer(model, inputs, source, target, options).run();
}

std::string write_reduced(const Reduced& reduced, const ReproFacts& facts, const std::string& folder) {
  make_folders(folder);
  ConvertOptions options;
  options.certify = false;
  convert_model(reduced.graph, folder + "/reduced.onnx", options);
  ZipWriter arrays;
  for (size_t i = 0; i < reduced.inputs.size(); ++i) {
    arrays.add(reduced.graph.value(reduced.graph.inputs[i]).name + ".npy", Content(format_npy(reduced.inputs[i])));
  }
  write_file(folder + "/inputs.npz", arrays.content().text());
  std::string report = report_of(reduced, facts);
  write_file(folder + "/report.md", report);
  return report;
}

}  // namespace dnn
