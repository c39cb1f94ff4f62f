// Injecting a fault: choosing the node, keeping the graph one that runs; see fault.h.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/json_text.h"
#include "base/random.h"
#include "faults/classes.h"
#include "faults/names.h"
#include "ops/op.h"

namespace dnn {
namespace {

// Forgets the types of what nodes make, and infers them anew; false where the graph contradicts itself or its outputs'
// types have changed.
bool retype(Graph& graph) {
  std::vector<Type> before;
  for (ValueId v : graph.outputs) before.push_back(graph.value(v).type);
  try {
    for (NodeId id : graph.order()) {
      for (ValueId v : graph.node(id).outputs) {
        if (v != kNoValue && graph.constant(v) == nullptr) graph.value(v).type = Type();
      }
    }
    infer_types(graph);
    verify(graph);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Malformed || e.kind() == ErrorKind::Unsupported) return false;
    throw;
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!(graph.value(graph.outputs[i]).type == before[i])) return false;
  }
  return true;
}

// Nodes that the outputs are computed from.
std::set<NodeId> needed_nodes(const Graph& graph, const Uses& uses) {
  std::set<NodeId> found;
  std::vector<ValueId> open = graph.outputs;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    const NodeId maker = value == kNoValue ? -1 : uses.producer[value];
    if (maker < 0 || !found.insert(maker).second) continue;
    const Node& node = graph.node(maker);
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    for (ValueId v : captured_values(graph, node)) open.push_back(v);
  }
  return found;
}

const Fault& fault_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Fault& fault : all_faults()) {
    if (fault.name == name) return fault;
    names.emplace_back(fault.name);
  }
  const std::string near = nearest_word(name, names);
  fail_usage("no class of faults is called ", dnn::quoted(name), near.empty() ? "" : ", did you mean " + near + "?",
             " (--list-faults)");
}

// Classes choose apart from each other; FNV-1a of the name.
uint64_t seed_for(const Fault& fault, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char* c = fault.name; *c != 0; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
  return hash ^ seed;
}

NodeId node_named(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (NodeId id : graph.order()) {
    if (graph.node(id).name == name) return id;
    names.push_back(graph.node(id).name);
  }
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).outputs) {
      if (v == kNoValue) continue;
      if (graph.value(v).name == name) return id;
      names.push_back(graph.value(v).name);
    }
  }
  const std::string near = nearest_word(name, names);
  fail_usage("no node is called ", dnn::quoted(name), ", nor what one makes",
             near.empty() ? "" : ", did you mean " + dnn::quoted(near) + "?");
}

}  // namespace

uint64_t FaultRandom::next() {
  state_ += kSplitMixStep;
  return splitmix(state_);
}

const std::vector<Fault>& all_faults() {
  static const std::vector<Fault> rows = {
#define DNN_FAULT(name, function, like) {name, faults::function, like},
#include "faults/faults.def"
  };
  return rows;
}

std::string Injection::text() const {
  if (op.empty()) return cat("injected ", fault, ": ", what);
  return cat("injected ", fault, " into ",
             node.empty() ? "what makes " + dnn::quoted(values.empty() ? "" : values[0]) : dnn::quoted(node), " (", op,
             "): ", what);
}

Injection inject(Graph& graph, const std::string& spec, uint64_t seed) {
  if (const std::optional<Renaming> how = renaming_named(spec)) {
    rename_layers(graph, *how, seed);
    Injection done;
    done.fault = spec;
    done.what = "other names, and nothing else";
    done.seed = seed;
    return done;
  }
  const size_t at = spec.find('@');
  const Fault& fault = fault_named(spec.substr(0, at));
  infer_types(graph);
  const Uses uses(graph);
  FaultRandom random(seed_for(fault, seed));
  std::vector<NodeId> candidates;
  if (at != std::string::npos) {
    candidates = {node_named(graph, spec.substr(at + 1))};
  } else {
    const std::set<NodeId> needed = needed_nodes(graph, uses);
    for (NodeId id : graph.order()) {
      if (needed.count(id) != 0 && !graph.node(id).outputs.empty()) candidates.push_back(id);
    }
    for (size_t i = candidates.size(); i > 1; --i) std::swap(candidates[i - 1], candidates[random.below(i)]);
  }
  // Copied only after a change: a large network has many nodes that cannot have the fault.
  std::optional<Graph> changing;
  for (NodeId id : candidates) {
    if (!changing) changing = graph;
    Graph& trial = *changing;
    FaultContext context{trial, uses, id, random, {}, {}};
    if (!fault.apply(context)) continue;
    if (!retype(trial)) {
      changing.reset();
      continue;
    }
    Injection done;
    done.fault = fault.name;
    done.node = graph.node(id).name;
    done.op = graph.node(id).op;
    done.what = context.what;
    done.seed = seed;
    std::vector<NodeId> nodes = {id};
    nodes.insert(nodes.end(), context.beside.begin(), context.beside.end());
    for (NodeId n : nodes) {
      if (!graph.node(n).name.empty()) done.nodes.push_back(graph.node(n).name);
      for (ValueId v : graph.node(n).outputs) {
        if (v != kNoValue) done.values.push_back(graph.value(v).name);
      }
    }
    remove_dead_nodes(trial);
    graph = std::move(trial);
    return done;
  }
  fail_unsupported(
      "--inject ", spec, ": ",
      at == std::string::npos ? "no node of this network can have this fault" : "this node cannot have this fault");
}

std::string injections_json(const std::vector<Injection>& injections) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Injection& i : injections) {
    list.push_back({{"fault", i.fault},
                    {"seed", i.seed},
                    {"node", i.node},
                    {"op", i.op},
                    {"what", i.what},
                    {"nodes", i.nodes},
                    {"values", i.values}});
  }
  return json_text(nlohmann::ordered_json({{"faults", list}}));
}

std::string list_faults() {
  std::string text;
  for (const Fault& fault : all_faults()) text += cat(fault.name, "\t", fault.like, "\n");
  return text;
}

}  // namespace dnn
