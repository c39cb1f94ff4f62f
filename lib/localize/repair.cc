// Searching for edits; see repair.h.
#include "localize/repair.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "localize/attributes.h"
#include "localize/pair_nodes.h"
#include "localize/quantised_pair.h"
#include "localize/relation.h"
#include "ops/op.h"

namespace dnn {
namespace {

using Edits = std::vector<Edit>;

constexpr size_t kMaxPermutedRank = 5;  // of constants whose axes are permuted

std::vector<std::pair<NodeId, NodeId>> paired(std::vector<std::pair<NodeId, NodeId>> nodes) {
  std::erase_if(nodes, [](const auto& pair) { return pair.first < 0 || pair.second < 0; });
  return nodes;
}

std::string first_output(const Graph& graph, NodeId id) {
  const ValueId v = graph.node(id).output(0);
  return v == kNoValue ? "" : graph.value(v).name;
}

// Orders of axes that bring the extents of the source's constant into those of the target's; the identity (empty) first.
std::vector<std::vector<size_t>> permutations(const Shape& source, const Shape& target) {
  std::vector<std::vector<size_t>> found;
  if (same_extents(source, target)) found.emplace_back();
  if (source.size() != target.size() || source.size() > kMaxPermutedRank || source.size() < 2) return found;
  std::vector<size_t> perm(source.size());
  std::iota(perm.begin(), perm.end(), size_t{0});
  while (std::next_permutation(perm.begin(), perm.end())) {
    bool fits = true;
    for (size_t i = 0; i < perm.size(); ++i) fits = fits && source[perm[i]] == target[i];
    if (fits) found.push_back(perm);
  }
  return found;
}

// The name of a layer with weights, or where it has none that of its weights: it keeps both where its batch norm is folded.
const std::string& name_of(const Graph& graph, const Node& layer) {
  return layer.name.empty() && layer.input(1) != kNoValue ? graph.value(layer.inputs[1]).name : layer.name;
}

size_t layers_with_weights(const Graph& graph, const std::vector<NodeId>& nodes) {
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return has_weight_input(graph.node(id)); }));
}

class RepairSearch {
 public:
  RepairSearch(const Graph& source, const Graph& target, const OwnErrors& own, const Deadline& deadline,
               const QuantisedPair* quantised)
      : source_(source),
        target_(target),
        own_(own),
        deadline_(deadline),
        quantised_(quantised),
        edit_source_(source),
        target_uses_(target) {}

  SegmentRepair repair(size_t joint) {
    SegmentRepair result;
    result.own = joint;
    joint_ = joint;
    latent_ = own_.results()[joint].latent && !own_.results()[joint].wrong();
    hidden_ = own_.results()[joint].hidden && !latent_ && !own_.results()[joint].wrong();
    why_not_.clear();
    if (deadline_.stops()) return out_of_time(result);
    result.times_before = worst({});
    const OwnError& r = own_.results()[joint];
    if (result.times_before <= 1) {  // nothing to tell a right edit from a wrong one by
      result.times_after = result.times_before;
      result.why_not = "it is wrong only on inputs whose activations are not held: give fewer inputs";
      return result;
    }
    std::vector<Edits> sets;
    for (bool folded : {false, true}) {
      const std::vector<NodeId> nodes = source_nodes(r, folded);
      if (nodes.empty()) continue;
      const auto pairs = paired(pair_nodes(edit_source_.graph(folded), nodes, target_, r.target.nodes));
      const Edits constants = constant_edits(pairs, folded), attributes = attribute_edits(pairs, folded);
      Edits both = constants;
      both.insert(both.end(), attributes.begin(), attributes.end());
      const Edits skips = skip_edits(pair_nodes(edit_source_.graph(folded), nodes, target_, r.target.nodes));
      Edits all = skips;
      all.insert(all.end(), both.begin(), both.end());
      std::vector<Edits> tried = {constants, attributes, both, skips};
      for (const Edit& skip : skips) tried.push_back({skip});
      tried.push_back(all);
      for (const Edits& set : tried) {
        if (!set.empty() && std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
      }
    }
    if (const std::optional<Edit> layers = layers_edit(r)) sets.push_back({*layers});
    for (const Edits& set : sets) {
      if (deadline_.stops()) return out_of_time(result);
      if (!right(set) && !try_permuted(set)) continue;
      result.edits = fewest(set_);
      result.times_after = worst(result.edits);
      for (size_t i = 0; i < result.edits.size(); ++i) result.times_without.push_back(worst(without(result.edits, i)));
      return result;
    }
    if (cut_) return out_of_time(result);
    result.times_after = result.times_before;
    result.why_not = why_not_.empty() ? "nothing that could be tried makes it right" : why_not_;
    return result;
  }

 private:
  static SegmentRepair out_of_time(SegmentRepair result) {
    result.times_after = result.times_before;
    result.why_not = "the time ran out";
    return result;
  }
  static Edits without(Edits edits, size_t i) {
    edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(i));
    return edits;
  }

  // Over the kept samples, how many times what rounding explains the segment is off, with these edits.
  double worst(const Edits& edits) {
    Graph edited = target_;
    try {
      apply_edits(edits, edit_source_, edited);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      why_not_ = e.what();
      return std::numeric_limits<double>::infinity();
    }
    double times = 0;
    for (size_t i = 0; i < own_.kept(); ++i) {
      Trial trial = own_.try_target(edited, joint_, i);
      if (latent_ && trial.right()) trial = own_.try_beyond(edited, joint_, i);
      if (!trial.failure.empty()) why_not_ = trial.failure;
      times =
          std::max(times, trial.right() ? std::min(trial.certainty(), 1.0) : std::max(trial.certainty(), 1.0 + 1e-9));
      if (!trial.right() && !edits.empty()) break;
    }
    if (hidden_ && own_.kept() > 0) times = std::max(times, own_.times_hidden(edited, joint_));
    return times;
  }
  bool right(const Edits& edits) {
    if (!(worst(edits) <= 1)) return false;
    set_ = edits;
    return true;
  }

  // Each constant of the set whose extents allow another order of axes, in that.
  bool try_permuted(const Edits& set) {
    for (size_t i = 0; i < set.size(); ++i) {
      if (set[i].kind != Edit::Kind::Constant) continue;
      const auto found = perms_.find({set[i].target, set[i].input, set[i].folded});
      if (found == perms_.end()) continue;
      for (size_t p = 1; p < found->second.size(); ++p) {
        cut_ = deadline_.stops();
        if (cut_) return false;
        Edits turned = set;
        turned[i].perm = found->second[p];
        if (right(turned)) return true;
      }
    }
    return false;
  }

  Edits fewest(Edits edits) {
    for (size_t i = edits.size(); i-- > 0 && edits.size() > 1 && !deadline_.stops();) {
      if (Edits fewer = without(edits, i); worst(fewer) <= 1) edits = std::move(fewer);
    }
    return edits;
  }

  // The source's segment, in the graph with its batch norms folded too; empty where that has not the same ends.
  std::vector<NodeId> source_nodes(const OwnError& r, bool folded) {
    if (!folded) return r.source.nodes;
    const Graph& graph = edit_source_.graph(true);
    std::vector<ValueId> ends(own_.results().size(), kNoValue);
    ends[r.source.joint] = r.joint.source;
    for (size_t j : r.source.inputs) ends[j] = own_.results()[j].joint.source;
    for (const Segment& part : cut_at(graph, ends)) {
      if (part.joint == r.source.joint && part.inputs == r.source.inputs && !part.open &&
          part.nodes.size() != r.source.nodes.size())
        return part.nodes;
    }
    return {};
  }

  Edits constant_edits(const std::vector<std::pair<NodeId, NodeId>>& pairs, bool folded) {
    const Graph& source = edit_source_.graph(folded);
    const Uses uses(source);
    Edits edits;
    for (const auto& [a, b] : pairs) {
      const Node &from = source.node(a), &to = target_.node(b);
      for (size_t i = 0; i < std::max(from.inputs.size(), to.inputs.size()); ++i) {
        const Tensor* ours = source.constant(constant_behind(source, uses, from.input(i)));
        const Tensor* theirs = target_.constant(constant_behind(target_, target_uses_, to.input(i)));
        if (ours == nullptr && (from.input(i) != kNoValue || theirs == nullptr)) continue;
        if (ours != nullptr && theirs != nullptr && constant_relation(*ours, *theirs).empty() &&
            ours->shape() == theirs->shape())
          continue;
        Edit edit;
        edit.source = first_output(source, a);
        edit.target = first_output(target_, b);
        edit.input = i;
        edit.folded = folded;
        if (ours != nullptr && theirs != nullptr && ours->size() == theirs->size()) {
          std::vector<std::vector<size_t>> perms = permutations(ours->shape(), theirs->shape());
          if (!perms.empty()) edit.perm = perms[0];
          perms_[{edit.target, i, folded}] = std::move(perms);
        }
        edits.push_back(std::move(edit));
      }
    }
    return edits;
  }

  Edits attribute_edits(const std::vector<std::pair<NodeId, NodeId>>& pairs, bool folded) {
    const Graph& source = edit_source_.graph(folded);
    Edits edits;
    for (const auto& [a, b] : pairs) {
      for (const AttributeDifference& d : attribute_differences(source, source.node(a), target_, target_.node(b))) {
        Edit edit;
        edit.kind = Edit::Kind::Attribute;
        edit.source = first_output(source, a);
        edit.target = first_output(target_, b);
        edit.key = d.key;
        edit.folded = folded;
        edits.push_back(std::move(edit));
      }
    }
    return edits;
  }

  static bool quantises(const Node& node) { return node.op == "QuantizeLinear" || node.op == "DequantizeLinear"; }
  // Layers of the target that the source has not are left out: each run of them that makes a value of the type that it is made from.
  Edits skip_edits(const std::vector<std::pair<NodeId, NodeId>>& nodes) {
    std::set<NodeId> extra;
    for (const auto& [ours, theirs] : nodes) {
      if (ours < 0) extra.insert(theirs);
    }
    Edits edits;
    for (const auto& [ours, last] : nodes) {
      if (ours >= 0 || target_.node(last).outputs.size() != 1) continue;
      const ValueId out = target_.node(last).output(0);
      const Type& type = target_.value(out).type;
      // As far in front as the run goes, which the value that is read there ends.
      ValueId instead = kNoValue;
      bool quantised = false;
      for (NodeId id = last; id >= 0 && extra.count(id) != 0;) {
        quantised = quantised || quantises(target_.node(id));
        const ValueId in = target_.node(id).input(0);
        if (in == kNoValue || target_.constant(in) != nullptr) break;
        if (target_.value(in).type == type) instead = in;
        id = target_uses_.producer[in];
      }
      // Of a longer run its last layer stands for all.
      const std::vector<NodeId>& readers = target_uses_.readers[out];
      const bool inside = readers.size() == 1 && extra.count(readers[0]) != 0 && !target_.is_output(out);
      if (instead == kNoValue || inside || (quantised && has_quantised_activations(target_))) continue;
      Edit edit;
      edit.kind = Edit::Kind::Skip;
      edit.target = target_.value(out).name;
      edit.key = target_.value(instead).name;
      edits.push_back(std::move(edit));
    }
    return edits;
  }

  // Whether some of the nodes keep numbers in a precision of their own.
  static bool has_precision(const Graph& graph, const std::vector<NodeId>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
      const Node& node = graph.node(id);
      if (node.op.find("uantizeLinear") != std::string::npos || node.op.starts_with("QLinear") ||
          node.op.ends_with("Integer"))
        return true;
      return node.op == "Cast" && graph.constant(node.input(0)) != nullptr;
    });
  }

  std::optional<Edit> layers_edit(const OwnError& r) {
    if (r.source.open || r.source.nodes.empty()) return std::nullopt;
    const DType ours = source_.value(r.joint.source).type.dtype, theirs = target_.value(r.joint.target).type.dtype;
    if (ours != theirs || (has_precision(target_, r.target.nodes) && !has_precision(source_, r.source.nodes))) {
      why_not_ = "the source's layers have not the target's precision";
      return std::nullopt;
    }
    Edit edit;
    edit.kind = Edit::Kind::Layers;
    edit.output = own_.common_value(r.source.joint);
    for (size_t j : r.source.inputs) edit.inputs.push_back(own_.common_value(j));
    edit.source = edit.output.source;
    edit.target = edit.output.target;
    if (quantised_ != nullptr && !hold(r, &edit)) return std::nullopt;
    return edit;
  }

  // In a quantised target the source's layers get the integers that are there. A layer that the target has lost has none, and computes
  // in float between its quantisers, as where dnn-quantize leaves one; but no layer that is there loses its integers.
  bool hold(const OwnError& r, Edit* edit) {
    const Graph &from = quantised_->source(), &to = quantised_->written();
    edit->folded = quantised_->fold() != QuantisedSource::Fold::None;
    edit->all_folded = quantised_->fold() == QuantisedSource::Fold::All;
    size_t n_held = 0;
    std::set<std::string> here;
    for (const QuantisedLayer& layer : quantised_->verdict().match.layers) {
      const Node &ours = from.node(layer.source), &theirs = to.node(layer.target);
      const bool inside = std::any_of(r.source.nodes.begin(), r.source.nodes.end(), [&](NodeId id) {
        return source_.node(id).op == ours.op && name_of(source_, source_.node(id)) == name_of(from, ours);
      });
      if (!inside) continue;
      for (size_t i : {1, 2}) {
        if (ours.input(i) == kNoValue || theirs.input(i) == kNoValue || from.constant(ours.input(i)) == nullptr)
          continue;
        edit->held.emplace_back(from.value(ours.input(i)).name, to.value(theirs.input(i)).name);
      }
      ++n_held;
      here.insert(name_of(from, ours));
    }
    for (NodeId id : r.source.nodes) {
      const Node& node = source_.node(id);
      if (has_weight_input(node) && here.count(name_of(source_, node)) == 0)
        edit->in_float.push_back(first_output(source_, id));
    }
    if (edit->in_float.empty() || n_held >= layers_with_weights(target_, r.target.nodes)) return true;
    why_not_ = "the source's layers have not the target's precision";
    return false;
  }

  const Graph &source_, &target_;
  const OwnErrors& own_;
  const Deadline& deadline_;
  const QuantisedPair* quantised_;
  EditSource edit_source_;
  Uses target_uses_;
  size_t joint_ = 0;
  bool latent_ = false;  // the wrong segment is right on the samples
  bool hidden_ = false;  // as far as rounding lets it be seen
  bool cut_ = false;     // orders of axes were left out, for want of time
  Edits set_;            // the last that was right
  std::map<std::tuple<std::string, size_t, bool>, std::vector<std::vector<size_t>>> perms_;
  std::string why_not_;
};

}  // namespace

std::vector<SegmentRepair> search_repairs(const Graph& source, const Graph& target, const OwnErrors& own,
                                          const std::vector<size_t>& wrong, const Deadline& deadline,
                                          const QuantisedPair* quantised) {
  RepairSearch search(source, target, own, deadline, quantised);
  std::vector<SegmentRepair> repairs;
  for (size_t joint : wrong) repairs.push_back(search.repair(joint));
  return repairs;
}

std::vector<Edit> edits_together(const Graph& source, const Graph& target, std::vector<SegmentRepair>* repairs) {
  EditSource edit_source(source);
  const auto why_not = [&](const std::vector<Edit>& edits) -> std::string {
    Graph together = target;
    try {
      apply_edits(edits, edit_source, together);
      infer_types(together);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      return e.what();
    }
    return "";
  };
  // Scales go first, since integers are made by them.
  const auto makes_integers = [](const Edit& e) { return e.kind == Edit::Kind::Quantised && e.key == "integers"; };
  const auto add = [&](std::vector<Edit> edits, const SegmentRepair& repair) {
    edits.insert(edits.end(), repair.edits.begin(), repair.edits.end());
    std::stable_partition(edits.begin(), edits.end(), [&](const Edit& e) { return !makes_integers(e); });
    return edits;
  };
  std::vector<Edit> all, edits;
  std::vector<SegmentRepair*> left;
  for (SegmentRepair& repair : *repairs) {
    all = add(all, repair);
    if (!repair.edits.empty()) left.push_back(&repair);
  }
  if (why_not(all).empty()) return all;
  for (size_t before = left.size() + 1; left.size() < before;) {  // until no more of them fits
    before = left.size();
    std::erase_if(left, [&](SegmentRepair* repair) {
      const std::vector<Edit> more = add(edits, *repair);
      repair->why_not = why_not(more);
      if (repair->why_not.empty()) edits = more;
      return repair->why_not.empty();
    });
  }
  for (SegmentRepair* repair : left) {
    repair->edits.clear();
    repair->times_without.clear();
    repair->times_after = repair->times_before;
  }
  return edits;
}

}  // namespace dnn
