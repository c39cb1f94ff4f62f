// Reducing a model to what still differs; see reduce.h.
#include "localize/reduce.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/version.h"
#include "base/zip_write.h"
#include "convert/convert.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "localize/parts.h"
#include "localize/words.h"
#include "ops/op.h"
#include "target/isa.h"
#include "tensor/compare.h"
#include "tensor/npy.h"

namespace dnn {
namespace {

class Reducer {
 public:
  Reducer(const Graph& model, const std::vector<Tensor>& inputs, const RunModel& source, const RunModel& target,
          const ReduceOptions& options)
      : parts_(model, inputs), source_(source), target_(target), options_(options) {}

  Reduced run() {
    std::vector<NodeId> nodes = parts_.model().order();
    const auto n_before = static_cast<int64_t>(nodes.size());
    std::optional<Part> part = parts_.of(nodes);
    if (!part || !differs(*part)) throw Error(ErrorKind::Negative, "the two do not differ on the whole model");
    nodes = minimal(std::move(nodes));
    part = parts_.of(nodes);
    smaller(&*part);
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
      reduced.expected = to_doubles(a)[d.max_abs_index];
      reduced.got = to_doubles(b)[d.max_abs_index];
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

  bool differs(const std::vector<NodeId>& nodes) {
    if (nodes.empty()) return false;
    const std::optional<Part> part = parts_.of(nodes);
    const bool result = part && differs(*part);
    if (options_.note) options_.note(cat(counted(nodes.size(), "node"), ": ", result ? "differ" : "agree"));
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

  void smaller(Part* part) {
    const auto shapes = [&] {
      std::vector<Shape> found;
      for (const Tensor& input : part->inputs) found.push_back(input.shape());
      return found;
    };
    shrink(shapes, [&](const Halving& halving) {
      Part half = *part;
      for (size_t i : halving.inputs) half.inputs[i] = half_of(half.inputs[i], halving, halving.axes);
      try {
        half.graph = with_inputs(std::move(half.graph), half.inputs);
        interpret(half.graph, half.inputs);
      } catch (const Error&) {
        return false;
      }
      if (!differs(half)) return false;
      *part = std::move(half);
      if (options_.note)
        options_.note(cat("inputs of ", shape_text(part->inputs[halving.inputs[0]].shape()), ": differ"));
      return true;
    });
  }

  const Parts parts_;
  const RunModel &source_, &target_;
  const ReduceOptions& options_;
  int64_t n_probes_ = 0;
};

std::string report_of(const Reduced& r, const ReproFacts& facts) {
  const std::string nodes = counted(r.graph.order().size(), "node");
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
  out += cat("\nReduced from `", plain(facts.model), "` (", counted(r.n_nodes_before, "node"), ") in ",
             counted(r.n_probes, "probe"),
             ". What the nodes left read from nodes that are gone is in `inputs.npz`.\n\n## To reproduce\n\n    ",
             facts.command,
             "\n\n`reduced.onnx` is an ordinary ONNX file; `inputs.npz` has one array per input, by name.\n\n",
             versions_section(), "\n## The network\n\n```\n");
  return out + to_text(r.graph, {.inline_elements = 16, .inline_all = false}) + "```\n";
}

}  // namespace

namespace {

int64_t half_extent(int64_t whole, bool even) {
  const int64_t half = (whole + 1) / 2;
  return even ? std::min(whole, half + half % 2) : half;
}

// Whether the next even extent is another one, and smaller than the whole.
bool evens_out(int64_t whole) {
  const int64_t even = half_extent(whole, true);
  return even != half_extent(whole, false) && even < whole;
}

}  // namespace

void shrink(const std::function<std::vector<Shape>()>& shapes, const std::function<bool(const Halving&)>& take) {
  struct Kind {
    size_t least_rank, most_rank;
    std::vector<size_t> axes;
    bool all_wide;  // each of them is wider than 1; else one
  };
  // Height and width in both layouts, tokens, batches.
  static const std::vector<Kind> kKinds = {
      {4, 4, {2, 3}, false}, {4, 4, {1, 2}, true}, {3, 3, {1}, true}, {2, 8, {0}, true}};
  const auto step = [&](const Kind& kind) {
    std::map<std::vector<int64_t>, std::vector<size_t>> inputs;  // by extents of the axes
    const std::vector<Shape> now = shapes();
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i].size() < kind.least_rank || now[i].size() > kind.most_rank) continue;
      std::vector<int64_t> extents;
      for (size_t axis : kind.axes) extents.push_back(now[i][axis]);
      const auto [least, most] = std::minmax_element(extents.begin(), extents.end());
      if ((kind.all_wide ? *least : *most) > 1) inputs[extents].push_back(i);
    }
    const auto halve = [&](const std::vector<int64_t>& extents, const std::vector<size_t>& which) {
      for (const bool even : {false, true}) {
        if (even && std::none_of(extents.begin(), extents.end(), evens_out)) continue;
        for (const bool back : {false, true}) {
          if (take({which, kind.axes, even, back})) return true;
        }
      }
      return false;
    };
    // Together where a layer between them strides.
    std::pair<std::vector<int64_t>, std::vector<size_t>> all;
    for (const auto& [extents, which] : inputs) {
      all.first.insert(all.first.end(), extents.begin(), extents.end());
      all.second.insert(all.second.end(), which.begin(), which.end());
    }
    if (inputs.size() > 1 && halve(all.first, all.second)) return true;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const auto& group) { return halve(group.first, group.second); });
  };
  for (const Kind& kind : kKinds) {
    while (step(kind)) {
    }
  }
}

Tensor half_of(const Tensor& tensor, const Halving& halving, const std::vector<size_t>& axes) {
  Tensor result = tensor.arranged_copy();
  for (size_t axis : axes) {
    Shape shape = result.shape();
    const int64_t whole = shape[axis], half = half_extent(whole, halving.even);
    shape[axis] = half;
    const auto outer = element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)));
    const int64_t inner = element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end())) *
                          static_cast<int64_t>(dtype_size(tensor.dtype()));
    Tensor window(tensor.dtype(), shape);
    for (int64_t i = 0; i < outer; ++i)
      std::copy_n(result.bytes().data() + (i * whole + (halving.back ? whole - half : 0)) * inner, half * inner,
                  window.mutable_bytes() + i * half * inner);
    result = std::move(window);
  }
  return result;
}

Graph with_inputs(Graph graph, const std::vector<Tensor>& inputs) {
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).outputs) {
      if (v != kNoValue) graph.value(v).type.shape.reset();
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) graph.value(graph.inputs[i]).type = Type(inputs[i]);
  infer_types(graph);
  verify(graph);
  return graph;
}

std::string npz_file(const std::vector<std::pair<std::string, Tensor>>& arrays) {
  ZipWriter archive;
  for (const auto& [name, tensor] : arrays) archive.add(name + ".npy", Content(format_npy(tensor)));
  return archive.content().text();
}

std::string versions_section() {
  return cat("## Versions\n\n- dnn-tools ", version(), " (", commit(), "), ", compiler(), "\n- ", cpu_name(), ", ",
             join(supported_isas(), " "), "\n");
}

Reduced reduce_model(const Graph& model, const std::vector<Tensor>& inputs, const RunModel& source,
                     const RunModel& target, const ReduceOptions& options) {
  return Reducer(model, inputs, source, target, options).run();
}

std::string write_reduced(const Reduced& reduced, const ReproFacts& facts, const std::string& folder) {
  make_folders(folder);
  ConvertOptions options;
  options.certify = false;
  convert_model(reduced.graph, folder + "/reduced.onnx", options);
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (size_t i = 0; i < reduced.inputs.size(); ++i)
    arrays.emplace_back(reduced.graph.value(reduced.graph.inputs[i]).name, reduced.inputs[i]);
  write_file(folder + "/inputs.npz", npz_file(arrays));
  std::string report = report_of(reduced, facts);
  write_file(folder + "/report.md", report);
  return report;
}

}  // namespace dnn
