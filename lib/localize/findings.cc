// From own errors to findings; see findings.h.
#include "localize/findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/counted.h"
#include "localize/attributes.h"
#include "localize/edits.h"
#include "localize/pair_nodes.h"
#include "localize/relation.h"
#include "localize/words.h"
#include "ops/weights.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kCertain = 10;  // times the bound

std::string node_label(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return node.name;
  for (ValueId v : node.outputs) {
    if (v != kNoValue) return graph.value(v).name;
  }
  return node.op;
}

// Nodes that no input has part in are parameters, not layers.
FindingSide finding_side(const Graph& graph, const std::vector<NodeId>& nodes, const Segment& segment) {
  FindingSide side;
  std::set<ValueId> computed;  // from what is given to the segment
  std::set<NodeId> constant;
  std::set<ValueId> inner;
  for (NodeId id : segment.nodes) inner.insert(graph.node(id).outputs.begin(), graph.node(id).outputs.end());
  for (NodeId id : segment.nodes) {
    const Node& node = graph.node(id);
    std::vector<ValueId> reads = node.inputs;
    for (ValueId v : captured_values(graph, node)) reads.push_back(v);
    const bool fed = std::any_of(reads.begin(), reads.end(), [&](ValueId v) {
      return v != kNoValue && graph.constant(v) == nullptr && (inner.count(v) == 0 || computed.count(v) != 0);
    });
    if (fed) {
      computed.insert(node.outputs.begin(), node.outputs.end());
    } else {
      constant.insert(id);
    }
  }
  for (NodeId id : nodes) {
    const Node& node = graph.node(id);
    if (constant.count(id) != 0 && nodes.size() > 1) continue;
    side.nodes.push_back(node_label(graph, node));
    side.ops.push_back(node.op);
    for (ValueId v : node.outputs) {
      if (v != kNoValue) side.values.push_back(graph.value(v).name);
    }
  }
  return side;
}

// ------------------------------------------------------------------------------------------ parameters

const Tensor* constant_of(const Graph& graph, const Uses& uses, ValueId v) {
  return graph.constant(constant_behind(graph, uses, v));
}

std::string name_of_input(const Node& node, size_t i) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> kNames = {
      {"MatMul", {"left operand", "weights"}},
      {"BatchNormalization", {"input", "scale", "bias", "mean", "variance"}},
      {"DequantizeLinear", {"input", "scale", "zero point"}},
      {"QuantizeLinear", {"input", "scale", "zero point"}},
      {"Clip", {"input", "lower bound", "upper bound"}},
      {"PRelu", {"input", "slopes"}},
      {"Pad", {"input", "pads", "value"}}};
  static const std::vector<std::string> kOfLayers = {"input", "weights", "bias"};
  const auto found = kNames.find(node.op);
  if (found == kNames.end() && multiplies_weights(node.op) && i < kOfLayers.size()) return kOfLayers[i];
  return found != kNames.end() && i < found->second.size() ? found->second[i] : cat("operand ", i);
}

struct Sides {
  const Graph &source, &target;
  Uses source_uses, target_uses;
};

// Differences inside a segment. `causes`: each alone makes it right; `beside`: most often another way to say the same, shapes and sizes,
// and operands that one side alone has.
struct Evidence {
  std::vector<std::string> causes, parameters, beside, structure;

  std::vector<std::string> all() const {
    std::vector<std::string> texts = causes;
    for (const auto* more : {&parameters, &beside, &structure}) texts.insert(texts.end(), more->begin(), more->end());
    return texts;
  }
};

void compare_constants(const Sides& sides, const Node& a, const Node& b, std::optional<size_t> cause,
                       Evidence* evidence) {
  for (size_t i = 0; i < std::max(a.inputs.size(), b.inputs.size()); ++i) {
    const Tensor *left = constant_of(sides.source, sides.source_uses, a.input(i)),
                 *right = constant_of(sides.target, sides.target_uses, b.input(i));
    const std::string what = cat(node_label(sides.target, b), ": ", name_of_input(b, i), " ");
    if (left == nullptr && right == nullptr) continue;
    if (left != nullptr && right != nullptr) {
      const std::string relation = constant_relation(*left, *right);
      const bool numbers = is_float(left->dtype()) && left->size() == right->size();
      if (!relation.empty())
        (cause == i ? evidence->causes : numbers ? evidence->parameters : evidence->beside).push_back(what + relation);
    } else if (right == nullptr && b.input(i) == kNoValue) {
      evidence->beside.push_back(what + "missing");
    } else if (left == nullptr && a.input(i) == kNoValue) {
      evidence->beside.push_back(what + "only in the target");
    }
  }
}

// ------------------------------------------------------------------------------------------ structure

// Nodes of both segments that have one operator, in order, are compared; the others are told. What may be the cause comes before what
// may be its consequence.
std::vector<std::string> compare_segments(const Sides& sides, const OwnError& r) {
  Evidence evidence;
  for (const auto& [ours, theirs] : pair_nodes(sides.source, r.source.nodes, sides.target, r.target.nodes)) {
    const bool cause = theirs >= 0 && theirs == r.cause;
    if (theirs < 0) {
      const Node& node = sides.source.node(ours);
      evidence.structure.push_back(cat(node.op, " ", plain(node_label(sides.source, node)), " only in the source"));
    } else if (ours < 0) {
      const Node& node = sides.target.node(theirs);
      (cause ? evidence.causes : evidence.structure)
          .push_back(cat(node.op, " ", plain(node_label(sides.target, node)), " only in the target"));
    } else {
      const Node &left = sides.source.node(ours), &right = sides.target.node(theirs);
      compare_constants(sides, left, right, cause ? r.cause_input : std::nullopt, &evidence);
      for (const AttributeDifference& d : attribute_differences(sides.source, left, sides.target, right))
        (cause && d.key == r.cause_key ? evidence.causes : evidence.parameters)
            .push_back(
                cat(node_label(sides.target, right), ": ", d.key, " is ", d.target, ", in the source ", d.source));
    }
  }
  return evidence.all();
}

std::string wiring(const Sides& sides, const std::vector<OwnError>& own, const OwnError& r) {
  if (r.source.inputs == r.target.inputs) return "";
  std::vector<std::string> ours, theirs;
  for (size_t j : r.source.inputs) {
    if (std::find(r.target.inputs.begin(), r.target.inputs.end(), j) == r.target.inputs.end())
      ours.push_back(plain(sides.source.value(own[j].joint.source).name));
  }
  for (size_t j : r.target.inputs) {
    if (std::find(r.source.inputs.begin(), r.source.inputs.end(), j) == r.source.inputs.end())
      theirs.push_back(plain(sides.target.value(own[j].joint.target).name));
  }
  std::string text = "computed from ";
  text += theirs.empty() ? "less" : join(theirs);
  return ours.empty() ? text + " as well" : text + ", in the source from " + join(ours);
}

std::string fix_for(const Finding& f, const OwnError& r) {
  if (!r.failure.empty() || (r.cause < 0 && !r.source_shape.empty()))
    return "make its shapes and attributes those of the source's layer";
  if (f.evidence.empty()) return "put the source's layer in its place";
  const std::string& first = f.evidence.front();
  const auto has = [&](const char* text) { return first.find(text) != std::string::npos; };
  if (has("only in the source")) return "insert the missing layer";
  if (has("only in the target")) return "remove the extra layer";
  if (has("computed from")) return "connect it as in the source";
  if (has(", in the source ")) return "set the attribute as in the source";
  if (has("axes permuted") || has("rotated") || has("reversed") || has("another order"))
    return "bring the parameter into the source's order";
  return "copy the parameter from the source";
}

Finding new_finding(const Sides& sides, const std::vector<OwnError>& own, size_t i) {
  const OwnError& r = own[i];
  Finding f;
  f.own = i;
  f.source = finding_side(sides.source, r.left_out.empty() ? r.source.nodes : r.left_out, r.source);
  f.target = finding_side(sides.target, r.target.nodes, r.target);
  f.error = r.error;
  f.max_abs = r.max_abs;
  f.largest = r.largest;
  f.exact = r.exact.value_or(0);
  f.rounding = r.rounding;
  f.hides = r.bound();
  f.times_rounding = r.certainty();
  f.sure = r.wrong() ? f.times_rounding >= kCertain ? "certain" : "likely" : r.latent ? "latent" : "hidden";
  f.n_samples = r.n_samples;
  f.n_differing = r.n_differing;
  f.evidence = compare_segments(sides, r);
  if (const std::string text = wiring(sides, own, r); !text.empty()) f.evidence.push_back(text);
  if (!r.left_out.empty() && r.missing < 0) {
    const auto n = std::count_if(r.source.nodes.begin(), r.source.nodes.end(), [&](NodeId id) {
      return std::find(r.left_out.begin(), r.left_out.end(), id) == r.left_out.end();
    });
    f.evidence.insert(f.evidence.begin(),
                      cat("computed from an earlier value than in the source, past ", counted(n, "layer")));
  } else if (!r.left_out.empty()) {
    const Node& node = sides.source.node(r.missing);
    f.evidence.insert(f.evidence.begin(),
                      cat(node.op, " ", plain(node_label(sides.source, node)),
                          " only in the source: without it the source computes what the target does"));
  }
  if (f.sure == "hidden") {
    f.times_rounding = r.hidden->times;
    f.what = cat("weights: ", r.hidden->n_apart, " of ", r.hidden->n, " numbers differ by up to ",
                 words::number(r.hidden->of_row), " of their row's largest, more than rounding them explains");
  } else if (!r.failure.empty()) {
    f.what = cat("does not run on the source's activations: ", r.failure);
  } else if (r.cause < 0 && (!r.source_shape.empty() || !r.target_shape.empty())) {
    f.what = cat("makes ", shape_text(r.target_shape), " where the source makes ", shape_text(r.source_shape));
  } else if (!f.evidence.empty()) {
    f.what = f.evidence.front();
  } else {
    f.what = "computes something else from the same parameters";
  }
  f.fix = f.sure == "hidden" ? "copy the weights from the source" : fix_for(f, r);
  return f;
}

}  // namespace

std::vector<Finding> findings_of(const Graph& source, const Graph& target, const std::vector<OwnError>& own) {
  const Sides sides = {source, target, Uses(source), Uses(target)};
  std::map<NodeId, size_t> place;
  for (size_t i = 0; i < target.order().size(); ++i) place[target.order()[i]] = i;
  std::vector<size_t> wrong;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].wrong()) wrong.push_back(i);
  }
  std::sort(wrong.begin(), wrong.end(), [&](size_t a, size_t b) {
    const auto at = [&](size_t i) {
      return own[i].target.nodes.empty() ? size_t{0} : place[own[i].target.nodes.back()];
    };
    return at(a) < at(b);
  });
  // Those that lie behind one another belong together.
  std::map<size_t, size_t> group;
  std::set<size_t> behind;
  for (size_t i : wrong) {
    group.emplace(i, i);
    for (size_t from : own[i].target.inputs) {
      if (group.count(from) == 0) continue;
      behind.insert(i);
      const size_t into = group[from], old = group[i];
      for (auto& [member, of] : group) {
        if (of == old) of = into;
      }
    }
  }
  std::map<size_t, double> weight;
  for (size_t i : wrong) weight[group[i]] = std::max(weight[group[i]], own[i].certainty());
  std::stable_sort(wrong.begin(), wrong.end(), [&](size_t a, size_t b) {
    const double x = weight[group[a]], y = weight[group[b]];
    return x != y ? x > y : group[a] != group[b] ? group[a] < group[b] : false;
  });
  std::vector<Finding> findings;
  for (size_t i : wrong) {
    findings.push_back(new_finding(sides, own, i));
    findings.back().behind_another = behind.count(i) != 0;
  }
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].latent && !own[i].wrong()) findings.push_back(new_finding(sides, own, i));
  }
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].hidden && !own[i].latent && !own[i].wrong()) findings.push_back(new_finding(sides, own, i));
  }
  return findings;
}

Residual residual_of(const OwnErrors& own) {
  Residual residual;
  residual.complete = own.complete();
  residual.n_equivalent = own.n_equivalent();
  for (const OwnError& r : own.results()) {
    if (r.target.nodes.empty() || r.n_samples == 0) continue;
    if (r.wrong()) {
      ++residual.n_wrong;
    } else if (r.verdict == OwnError::Verdict::Same) {
      ++residual.n_same;
    } else {
      ++residual.n_rounded;
      const double part = r.largest == 0 ? 0 : r.max_abs / r.largest;
      residual.largest = std::max(residual.largest, part);
      residual.largest_in_bounds = std::max(residual.largest_in_bounds, part / r.bound());
      const std::string& layer = own.source().value(r.joint.source).name;
      residual.hides_by_layer[layer] = r.bound();
      if (!(r.bound() > residual.hides)) continue;
      residual.hides = r.bound();
      residual.hides_at = layer;
    }
  }
  return residual;
}

std::string findings_text(const std::vector<Finding>& findings, const Residual& residual, int64_t top) {
  std::string out;
  const size_t n = top == 0 ? findings.size() : std::min(findings.size(), static_cast<size_t>(top));
  if (!findings.empty())
    out += cat(counted(findings.size(), "fault"), " found", n < findings.size() ? cat(" (the first ", n, ")") : "",
               ", each from the source's own activations in front of it:\n");
  for (size_t i = 0; i < n; ++i) {
    const Finding& f = findings[i];
    out += cat(i + 1, ". ", plain(join(f.target.nodes)), " (", plain(join(f.target.ops)), "): ", plain(f.what), "\n");
    if (f.source.nodes != f.target.nodes || f.source.ops != f.target.ops)
      out += cat("   in the source ", plain(join(f.source.nodes)), " (", plain(join(f.source.ops)), ")\n");
    if (f.sure == "latent")
      out += cat("   latent: right on ", f.n_samples == 1 ? "the sample" : cat("all ", f.n_samples, " samples"),
                 ", none of which comes to where the two part\n");
    else if (f.sure == "hidden")
      out += cat("   hidden: right on ", f.n_samples == 1 ? "the sample" : cat("all ", f.n_samples, " samples"),
                 ", where rounding hides a difference of up to ", words::number(f.hides), " of the largest, ",
                 words::number(f.hides * f.largest), "\n");
    else if (f.own == Finding::kNoOwn || (f.quantised && f.largest == 0))
      out += cat("   ", words::number(f.times_rounding), " times what quantising explains: ", f.sure, "\n");
    else
      out += cat("   own error ", words::number(f.error), " (relative L2), max abs ", words::number(f.max_abs), " of ",
                 words::number(f.largest), ", ", words::number(f.times_rounding),
                 f.quantised ? " times what quantising explains: " : " times what rounding explains: ", f.sure,
                 f.n_samples > 1 ? cat("; on ", f.n_differing, " of ", f.n_samples, " samples") : "",
                 f.behind_another ? "; behind the one before" : "", "\n");
    for (size_t e = 0; e < f.evidence.size() && e < 8; ++e) {
      if (f.evidence[e] != f.what) out += cat("   ", plain(f.evidence[e]), "\n");
    }
    out += cat("   fix: ", f.fix, "\n");
  }
  if (findings.empty())
    out += "no fault found: ";
  else
    out += "elsewhere ";
  out += cat(counted(residual.n_same, "layer"), residual.n_same == 1 ? " is" : " are", " the same, ",
             residual.n_rounded, residual.n_rounded == 1 ? " differs" : " differ", " by rounding");
  if (residual.n_rounded > 0)
    out += cat(", by at most ", words::number(residual.largest), " of their largest, ",
               words::number(100 * residual.largest_in_bounds), " % of the bound of rounding, which hides up to ",
               words::number(residual.hides), " at ", plain(residual.hides_at));
  if (residual.n_equivalent > 0)
    out += cat("; ", counted(residual.n_equivalent, "layer"), residual.n_equivalent == 1 ? " is" : " are",
               " in another form (channels in another order or scaled) that the layers behind undo");
  if (!residual.complete)
    out += "; not every way to line the layers up was tried: a fault may be listed under the layers beside it too";
  return out + "\n";
}

std::string findings_json(const std::vector<Finding>& findings, const Residual& residual) {
  const auto side = [](const FindingSide& s) { return Json{{"nodes", s.nodes}, {"ops", s.ops}, {"values", s.values}}; };
  Json list = Json::array();
  for (const Finding& f : findings) {
    list.push_back({{"what", f.what},
                    {"fix", f.fix},
                    {"source", side(f.source)},
                    {"target", side(f.target)},
                    {"evidence", f.evidence},
                    {"error", words::json_number(f.error)},
                    {"max_abs", words::json_number(f.max_abs)},
                    {"largest", words::json_number(f.largest)},
                    {"exact", words::json_number(f.exact)},
                    {"rounding", words::json_number(f.rounding)},
                    {"hides", words::json_number(f.hides)},
                    {"times_rounding", words::json_number(f.times_rounding)},
                    {"sure", f.sure},
                    {"samples", f.n_samples},
                    {"differing", f.n_differing},
                    {"behind_another", f.behind_another}});
  }
  Json by_layer = Json::object();
  for (const auto& [layer, hides] : residual.hides_by_layer) by_layer[layer] = words::json_number(hides);
  const Json residual_json = {{"same", residual.n_same},
                              {"rounded", residual.n_rounded},
                              {"wrong", residual.n_wrong},
                              {"largest", words::json_number(residual.largest)},
                              {"part_of_bound", words::json_number(residual.largest_in_bounds)},
                              {"hides", words::json_number(residual.hides)},
                              {"hides_at", residual.hides_at},
                              {"hides_by_layer", by_layer},
                              {"equivalent", residual.n_equivalent},
                              {"complete", residual.complete}};
  const Json json = {{"findings", list}, {"residual", residual_json}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

}  // namespace dnn
