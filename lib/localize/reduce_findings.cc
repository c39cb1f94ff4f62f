// Writing findings as small networks; see reduce_findings.h.
#include "localize/reduce_findings.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/counted.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/text.h"
#include "convert/convert.h"
#include "graph/rename.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "localize/alignment_text.h"
#include "localize/localize_models.h"
#include "localize/reduce.h"
#include "localize/words.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr int kMostProbes = 60;       // runs of both segments
constexpr double kStaysCertain = 10;  // times the bound: what a certain finding keeps

using Arrays = std::vector<std::pair<std::string, Tensor>>;

const Tensor* array_of(const Arrays& arrays, const std::string& name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return a.first == name; });
  return found == arrays.end() ? nullptr : &found->second;
}

bool holds(const Arrays& arrays, const std::string& name, const Tensor& tensor) {
  const Tensor* other = array_of(arrays, name);
  return other != nullptr && other->identical(tensor);
}

// Names as code in a cell of a Markdown table; "-" for none.
std::string names_cell(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    std::string shown = plain(name);
    std::replace(shown.begin(), shown.end(), '`', '\'');
    for (size_t at = 0; (at = shown.find('|', at)) != std::string::npos; at += 2)
      shown.insert(at, "\\");  // ends a cell
    text += cat(text.empty() ? "`" : ", `", shown, "`");
  }
  return text.empty() ? "-" : text;
}

// ------------------------------------------------------------------------------------------ smaller

// The target's axis for each of the source's that is wider than 1; nothing where they are not lined up.
using Axes = std::vector<std::optional<size_t>>;
std::optional<Axes> axes_of(const Shape& source, const Shape& target, const AxisOrder& order) {
  const std::vector<size_t> ours = wide_axes(source), theirs = wide_axes(target);
  if (ours.size() != theirs.size() || order.size() != ours.size()) return std::nullopt;
  Axes axes(source.size());
  for (size_t i = 0; i < ours.size(); ++i) axes[ours[i]] = theirs[order[i]];
  return axes;
}

// The same as an order of the axes that are wider than 1 now.
std::optional<AxisOrder> order_of(const Axes& axes, const Shape& source, const Shape& target) {
  const std::vector<size_t> theirs = wide_axes(target);
  AxisOrder order;
  for (size_t axis : wide_axes(source)) {
    const auto at =
        axis < axes.size() && axes[axis] ? std::find(theirs.begin(), theirs.end(), *axes[axis]) : theirs.end();
    if (at == theirs.end()) return std::nullopt;
    order.push_back(at - theirs.begin());
  }
  return order.size() == theirs.size() ? std::optional(order) : std::nullopt;
}

class Pair {
 public:
  // Throws Malformed or Unsupported where one does not run.
  Pair(Isolated isolated, const Deadline& deadline) : pair_(std::move(isolated)), deadline_(deadline) {
    if (pair_.source.outputs.empty()) fail_unsupported("the source's part cannot be run by itself");
    for (const Tensor& input : pair_.source_inputs) {
      if (input.dtype() == DType::String) fail_unsupported("it reads texts");
    }
    pair_.source = with_inputs(std::move(pair_.source), pair_.source_inputs);
    pair_.target = with_inputs(std::move(pair_.target), pair_.target_inputs);
    trial_ = try_isolated(pair_, {});
    least_ = std::min(trial_.certainty(), kStaysCertain);
    for (size_t i = 0; i < pair_.source_inputs.size(); ++i)
      axes_.push_back(axes_of(pair_.source_inputs[i].shape(), pair_.target_inputs[i].shape(), pair_.input_orders[i]));
    const Type &ours = type_of_output(pair_.source), &theirs = type_of_output(pair_.target);
    if (ours.fixed() && theirs.fixed()) output_axes_ = axes_of(ours.fixed_shape(), theirs.fixed_shape(), pair_.order);
  }

  void make_smaller() {
    const auto shapes = [&] {
      std::vector<Shape> found;
      for (const Tensor& input : pair_.source_inputs) found.push_back(input.shape());
      return found;
    };
    shrink(shapes, [&](const Halving& halving) { return halve(halving); });
  }

  Isolated& pair() { return pair_; }
  const Trial& trial() const { return trial_; }
  bool differs() const { return !trial_.right(); }

 private:
  static const Type& type_of_output(const Graph& graph) { return graph.value(graph.outputs[0]).type; }

  bool halve(const Halving& halving) {
    if (n_probes_ >= kMostProbes || deadline_.stops()) return false;
    Isolated half = pair_;
    for (size_t i : halving.inputs) {
      if (!axes_[i]) return false;
      std::vector<size_t> theirs;
      for (size_t axis : halving.axes) {
        if (half.source_inputs[i].shape()[axis] == 1) continue;
        if (!(*axes_[i])[axis]) return false;
        theirs.push_back(*(*axes_[i])[axis]);
      }
      half.source_inputs[i] = half_of(half.source_inputs[i], halving, halving.axes);
      half.target_inputs[i] = half_of(half.target_inputs[i], halving, theirs);
    }
    Trial trial;
    try {
      half.source = with_inputs(std::move(half.source), half.source_inputs);
      half.target = with_inputs(std::move(half.target), half.target_inputs);
      const Type &ours = type_of_output(half.source), &theirs = type_of_output(half.target);
      if (output_axes_ && ours.fixed() && theirs.fixed())
        half.order = order_of(*output_axes_, ours.fixed_shape(), theirs.fixed_shape()).value_or(half.order);
      ++n_probes_;
      trial = try_isolated(half, {});
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      return false;
    }
    // Of one kind: extents that do not fit, or numbers.
    if (trial.failure.empty() != trial_.failure.empty() || trial.right() || trial.certainty() < least_) return false;
    if (!trial.failure.empty() && !runs(half)) return false;
    pair_ = std::move(half);
    trial_ = std::move(trial);
    return true;
  }

  // A smaller input may leave a network that does not run at all, which says less.
  static bool runs(const Isolated& isolated) {
    try {
      interpret(isolated.source, isolated.source_inputs);
      interpret(isolated.target, isolated.target_inputs);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  Isolated pair_;
  Trial trial_;
  double least_ = 0;
  const Deadline& deadline_;
  std::vector<std::optional<Axes>> axes_;  // by input
  std::optional<Axes> output_axes_;
  int n_probes_ = 0;
};

// ------------------------------------------------------------------------------------------ files

void rename(Graph* graph, ValueId v, const std::string& name) {
  rename_value(*graph, v, graph->unused_value_name(name));
}

// Inputs of both networks by name: the target's are renamed where the source has another array of that name.
Arrays name_inputs(Isolated* pair) {
  Arrays arrays;
  for (size_t i = 0; i < pair->source_inputs.size(); ++i)
    arrays.emplace_back(pair->source.value(pair->source.inputs[i]).name, pair->source_inputs[i]);
  for (size_t i = 0; i < pair->target_inputs.size(); ++i) {
    Graph& target = pair->target;
    const ValueId v = target.inputs[i];
    const Tensor& tensor = pair->target_inputs[i];
    if (holds(arrays, target.value(v).name, tensor)) continue;
    while (array_of(arrays, target.value(v).name) != nullptr) rename(&target, v, target.value(v).name + "_target");
    arrays.emplace_back(target.value(v).name, tensor);
  }
  return arrays;
}

void write_model_file(const Graph& graph, const std::string& path) {
  ConvertOptions options;
  options.certify = false;
  convert_model(graph, path, options);
}

// What a model's file wants beside what is there: its inputs by the names and the extents that it has in its own format. Nothing
// where an array of that name is another.
bool add_inputs_of(const std::string& path, const Isolated& pair, Arrays* arrays) {
  const Graph written = read_model(open_model(path));
  if (written.inputs.size() != pair.target_inputs.size()) fail_unsupported("its format leaves inputs out");
  for (size_t i = 0; i < written.inputs.size(); ++i) {
    const Value& value = written.value(written.inputs[i]);
    Tensor tensor = pair.target_inputs[i];
    if (value.type.fixed() && value.type.fixed_shape() != tensor.shape()) {
      const std::vector<AxisOrder> orders = axis_orders(value.type.fixed_shape(), tensor.shape());
      if (orders.empty()) fail_unsupported("its format gives inputs other extents");
      tensor = reordered(tensor, orders.front(), value.type.fixed_shape());
    }
    if (holds(*arrays, value.name, tensor)) continue;
    if (array_of(*arrays, value.name) != nullptr) return false;
    arrays->emplace_back(value.name, tensor);
  }
  return true;
}

// A model's format; null of a package.
const Format* recognised_format(const std::string& path) {
  const ModelSource model = open_model(path);
  return recognise(model);
}

std::string file_facts(const std::string& path, const Graph& graph) {
  const Format* format = recognised_format(path);
  std::string text = cat("`", plain(std::filesystem::path(path).filename().string()), "`, ",
                         format == nullptr ? "package" : format->name);
  if (!graph.producer.empty()) text += ", written by " + plain(graph.producer);
  for (const auto& [domain, version] : graph.source_opsets)
    text += cat(", opset ", domain.empty() ? "" : plain(domain) + " ", version);
  return text;
}

class Writer {
 public:
  Writer(const ReducedFiles& of, const Finding& finding, size_t number) : of_(of), finding_(finding) {
    result_.finding = number;
    const OwnError& own = of.own.results()[finding.own];
    result_.n_source_nodes_before = static_cast<int64_t>(of.source.order().size());
    result_.n_target_nodes_before = static_cast<int64_t>(of.target.order().size());
    joint_ = own.joint;
  }

  ReducedFinding run(const std::string& folder) {
    try {
      std::optional<Pair> pair = most_telling();
      if (!pair) {
        result_.why_not = "no sample whose activations are kept shows it";
        return result_;
      }
      pair->make_smaller();
      write(folder, *pair);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      result_.why_not = e.what();
    }
    return result_;
  }

 private:
  // On the kept sample that shows it best.
  std::optional<Pair> most_telling() const {
    std::optional<Pair> best;
    for (size_t kept = 0; kept < of_.own.kept(); ++kept) {
      if (best && of_.request.deadline.stops()) break;
      Pair pair(of_.own.isolate(of_.target, finding_.own, kept), of_.request.deadline);
      if (!pair.differs() || (best && pair.trial().certainty() <= best->trial().certainty())) continue;
      best.emplace(std::move(pair));
    }
    return best;
  }

  void write(const std::string& folder, Pair& reduced) {
    Isolated& pair = reduced.pair();
    arrays_ = name_inputs(&pair);
    make_folders(folder);
    std::filesystem::remove(folder + "/alignment.tsv");  // of an earlier run
    result_.folder = folder;
    write_model_file(pair.source, folder + "/source.onnx");
    write_model_file(pair.target, folder + "/target.onnx");
    for (const Tensor& input : pair.source_inputs) result_.inputs.push_back(input.shape());
    result_.n_source_nodes = static_cast<int64_t>(pair.source.order().size());
    result_.n_target_nodes = static_cast<int64_t>(pair.target.order().size());
    if (reduced.trial().got.defined()) {
      const Distance d = compare(reduced.trial().expected, reduced.trial().got);
      result_.max_abs = d.max_abs;
      result_.largest = d.largest;
    }
    write_file(folder + "/inputs.npz", npz_file(arrays_));
    std::string alignment;
    result_.why_not = verify("target.onnx", "");
    if (!result_.why_not.empty()) {
      alignment = alignment_of(pair);
      write_file(folder + "/alignment.tsv", alignment);
      const std::string why = verify("target.onnx", alignment);
      if (why.empty()) {
        result_.why_not.clear();
      } else {
        alignment.clear();
        std::filesystem::remove(folder + "/alignment.tsv");
      }
    }
    result_.reproduced = result_.why_not.empty();
    result_.command = command("target.onnx", alignment);
    write_own_format(pair);
    write_file(folder + "/report.md", report(reduced));
  }

  std::string alignment_of(const Isolated& pair) const {
    std::string text = "# source\ttarget\n";
    const auto line = [&](ValueId a, ValueId b) {
      text += cat(pair.source.value(a).name, "\t", pair.target.value(b).name, "\n");
    };
    for (size_t i = 0; i < pair.source.inputs.size(); ++i) line(pair.source.inputs[i], pair.target.inputs[i]);
    line(pair.source.outputs[0], pair.target.outputs[0]);
    return text;
  }

  std::string command(const std::string& target, const std::string& alignment) const {
    const DeviceSpec& device = of_.request.network.device;
    return cat("dnn-localize", device == "reference" ? "" : " --device " + device.text(),
               alignment.empty() ? "" : " --alignment alignment.tsv", " source.onnx ", target, " inputs.npz");
  }

  // Why the files do not show a finding; "" where they do.
  std::string verify(const std::string& target, const std::string& alignment) const {
    LocalizeRequest request;
    request.source = result_.folder + "/source.onnx";
    request.target = result_.folder + "/" + target;
    request.inputs = {result_.folder + "/inputs.npz"};
    request.network.device = of_.request.network.device;
    request.folders = of_.request.folders;
    request.folders.note = request.folders.warn = {};
    request.threads = of_.request.threads;
    try {
      if (!alignment.empty()) request.alignment = parse_alignment(alignment, "alignment.tsv");
      return ModelComparison(request).run().findings.empty() ? "the files, read back, show no fault" : "";
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Internal || e.kind() == ErrorKind::Environment) throw;
      return e.what();
    }
  }

  // The target's part as its users know it.
  void write_own_format(const Isolated& pair) {
    const Format* format = recognised_format(of_.request.target);
    if (format == nullptr || std::string(format->name) == "onnx" || format->to_files == nullptr ||
        format->holds != Holds::Graph)
      return;
    const std::string extensions = format->extensions, name = "target" + extensions.substr(0, extensions.find(' '));
    const std::string path = result_.folder + "/" + name;
    Arrays arrays;
    try {
      Isolated own = pair;
      for (const bool renamed : {false, true}) {
        for (size_t i = 0; renamed && i < own.target.inputs.size(); ++i)
          rename(&own.target, own.target.inputs[i],
                 cat(own.target.value(own.target.inputs[i]).name, "_", format->name));
        write_model_file(own.target, path);
        arrays = arrays_;
        if (add_inputs_of(path, own, &arrays)) break;
      }
      write_file(result_.folder + "/inputs.npz", npz_file(arrays));
      result_.own_why_not = verify(name, "");
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      result_.own_why_not = e.what();
    }
    if (result_.own_why_not.empty()) {
      result_.own_file = name;
      return;
    }
    std::filesystem::remove_all(path);
    write_file(result_.folder + "/inputs.npz", npz_file(arrays_));
  }

  std::string report(Pair& reduced) const {
    const Isolated& pair = reduced.pair();
    const Trial& trial = reduced.trial();
    const Finding& f = finding_;
    std::string out =
        cat("# ", plain(join(f.target.nodes)), " (", plain(join(f.target.ops)), "): ", plain(f.what), "\n\n");
    out += cat("| | source (taken to be right) | target |\n|---|---|---|\n| model | ",
               file_facts(of_.request.source, of_.source), " | ", file_facts(of_.request.target, of_.target),
               " |\n| nodes | ", names_cell(f.source.nodes), " | ", names_cell(f.target.nodes), " |\n| operators | ",
               plain(join(f.source.ops)), " | ", plain(join(f.target.ops)), " |\n| values | ",
               names_cell(f.source.values), " | ", names_cell(f.target.values), " |\n| value compared | `",
               plain(of_.source.value(joint_.source).name), "` | `", plain(of_.target.value(joint_.target).name),
               "` |\n| nodes here, of the whole | ", result_.n_source_nodes, " of ", result_.n_source_nodes_before,
               " | ", result_.n_target_nodes, " of ", result_.n_target_nodes_before, " |\n");
    out += "\n## Evidence\n\n";
    for (const std::string& line : f.evidence) out += cat("- ", plain(line), "\n");
    out += cat("- in the whole model, on ", f.n_differing, " of ", counted(f.n_samples, "sample"),
               ": largest difference ", words::number(f.max_abs), " of ", words::number(f.largest), ", ",
               words::number(f.times_rounding), " times what rounding explains: ", f.sure, "\n");
    out +=
        "\n## Expected and got\n\nOn the inputs of `inputs.npz`, which are what the source computes in front of these "
        "nodes, "
        "each in its network's order of axes";
    out += ":\n\n";
    if (!trial.got.defined()) {
      out += cat("The target's ", plain(trial.failure), ".\n");
    } else {
      const Distance d = compare(trial.expected, trial.got);
      const size_t at = std::max<int64_t>(d.max_abs_index, 0);
      out += cat("| | |\n|---|---|\n| output | `", plain(pair.source.value(pair.source.outputs[0]).name), "` ",
                 shape_text(trial.expected.shape()), ", element ", at, " |\n| expected (source) | ",
                 words::precise(to_doubles(trial.expected)[at]), " |\n| got (target) | ",
                 words::precise(to_doubles(trial.got)[at]), " |\n| largest difference | ", words::number(d.max_abs),
                 " of ", words::number(d.largest), " |\n| of what rounding explains | ",
                 words::number(trial.certainty()), " times |\n");
    }
    out += cat("\n## Fix\n\n", plain(f.fix), "\n\n## To reproduce\n\n    ", result_.command, "\n");
    if (!result_.own_file.empty()) out += cat("    ", command(result_.own_file, ""), "\n");
    out += result_.reproduced
               ? cat("\n", result_.own_file.empty() ? "It exits" : "Each exits", " with 1 and names the fault.\n")
               : cat("\nThis did not show the fault when the files were read back: ", plain(result_.why_not), ".\n");
    if (!result_.own_why_not.empty())
      out += cat("There is no file in the target's own format: ", plain(result_.own_why_not), ".\n");
    out +=
        "\n`source.onnx` and `target.onnx` are ordinary ONNX files; `inputs.npz` has one array per input, by name, of "
        "both.\n\n";
    out += versions_section();
    for (const auto& [name, graph] : {std::pair("source", &pair.source), std::pair("target", &pair.target)})
      out += cat("\n## The network of the ", name, "\n\n```\n",
                 to_text(*graph, {.inline_elements = 16, .inline_all = false}), "```\n");
    return out;
  }

  const ReducedFiles& of_;
  const Finding& finding_;
  Joint joint_;
  ReducedFinding result_;
  Arrays arrays_;
};

// What an earlier run left in the folder, which would read as this run's; other files stay.
void remove_earlier(const std::string& folder) {
  std::error_code ignored;
  for (size_t n = 1; std::filesystem::is_regular_file(cat(folder, "/", n, "/report.md"), ignored); ++n) {
    const std::string of = cat(folder, "/", n);
    for (const auto& entry : std::filesystem::directory_iterator(of, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name == "report.md" || name == "source.onnx" || name == "inputs.npz" || name == "alignment.tsv" ||
          name.starts_with("target."))
        std::filesystem::remove_all(entry.path(), ignored);
    }
    std::filesystem::remove(of, ignored);  // only where nothing else is in it
  }
}

}  // namespace

void make_reduced_folder(const std::string& folder) {
  make_folders(folder);
  const std::string first = folder + "/1";
  std::error_code ignored;
  if (std::filesystem::exists(first, ignored) && !std::filesystem::is_directory(first, ignored))
    fail_environment(first,
                     " is no folder, and a fault wants to be written there: name another folder, or move it away");
}

std::vector<ReducedFinding> reduce_findings(const ReducedFiles& of, const std::vector<Finding>& findings) {
  remove_earlier(of.request.reduce);
  std::vector<ReducedFinding> reduced;
  const int64_t most = of.request.reduce_most;
  for (size_t i = 0; i < findings.size() && (most == 0 || static_cast<int64_t>(i) < most); ++i) {
    if (i > 0 && of.request.deadline.stops()) {
      reduced.emplace_back();
      reduced.back().finding = i;
      reduced.back().why_not = "the time ran out";
      continue;
    }
    reduced.push_back(Writer(of, findings[i], i).run(cat(of.request.reduce, "/", i + 1)));
  }
  return reduced;
}

std::string reduced_text(const std::vector<ReducedFinding>& reduced) {
  std::string out;
  for (const ReducedFinding& r : reduced) {
    out += cat("fault ", r.finding + 1);
    if (r.folder.empty()) {
      out += cat(" is not reduced: ", plain(r.why_not), "\n");
      continue;
    }
    std::vector<std::string> inputs;
    for (const Shape& shape : r.inputs) inputs.push_back(shape_text(shape));
    out +=
        cat(" reduced to ", r.n_source_nodes, " of ", r.n_source_nodes_before, " and ", r.n_target_nodes, " of ",
            counted(r.n_target_nodes_before, "node"), " on ", join(inputs), ", in ", plain(r.folder),
            r.own_file.empty() ? "" : " (also as " + r.own_file + ")",
            r.reproduced ? "; run again, it is found\n" : "; run again, it is not found: " + plain(r.why_not) + "\n");
  }
  return out;
}

nlohmann::ordered_json reduced_json(const std::vector<ReducedFinding>& reduced) {
  const auto text = [](const std::string& value) {
    return value.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ReducedFinding& r : reduced) {
    list.push_back({{"finding", r.finding + 1},
                    {"folder", text(r.folder)},
                    {"command", text(r.command)},
                    {"reproduced", r.reproduced},
                    {"why_not", text(r.why_not)},
                    {"own_file", text(r.own_file)},
                    {"own_why_not", text(r.own_why_not)},
                    {"source_nodes", r.n_source_nodes},
                    {"target_nodes", r.n_target_nodes},
                    {"inputs", r.inputs},
                    {"max_abs", words::json_number(r.max_abs)},
                    {"largest", words::json_number(r.largest)}});
  }
  return list;
}

}  // namespace dnn
