// Faults: what wrong converters do to a network, made on purpose, seeded, so that localising and repairing can be practised.
//
// The contract of lib/faults: a class of faults is a row of faults.def and a function of the file that its kind names;
// inject() makes one on a graph and says where and what. The graph stays one that runs: its types are inferred anew, and
// its outputs keep theirs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// A seeded sequence, the same on every machine (splitmix64).
class FaultRandom {
 public:
  explicit FaultRandom(uint64_t seed) : state_(seed) {}
  uint64_t next();
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }  // n > 0
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// What a class's function is given, and what it says.
struct FaultContext {
  Graph& graph;  // types inferred
  const Uses& uses;
  NodeId node;
  FaultRandom& random;
  std::string what;            // what was done: "epsilon 1e-05 -> 0.001"
  std::vector<NodeId> beside;  // nodes that are as much at fault as `node`: where a layer is missing, those behind it

  const Node& read() const { return graph.node(node); }
};

struct Fault {
  const char* name;
  bool (*apply)(FaultContext& context);  // false: not on this node, and the graph is as it was
  const char* like;                      // the real bug that it is like
};

// In the order of faults.def.
const std::vector<Fault>& all_faults();

// One fault that was made. Names are those of the graph before it.
struct Injection {
  std::string fault, node, op, what;
  uint64_t seed = 0;
  std::vector<std::string> nodes, values;  // that are at fault: names of nodes that have one, and of what they make
  std::string text() const;                // one line
};

// `spec` is "CLASS" or "CLASS@NODE", a node by its name or by a value that it makes. Without a node, the seed chooses one.
// "names-random", "names-shifted" and "names-permuted" are no faults: they name all layers anew (faults/names.h). Throws
// Usage for a class or node that is not there, Unsupported where no node, or not this one, can have the fault.
Injection inject(Graph& graph, const std::string& spec, uint64_t seed);

// {"faults": [...]}: what was injected, as JSON.
std::string injections_json(const std::vector<Injection>& injections);
// Name and what real bug it is like, a line each.
std::string list_faults();

}  // namespace dnn
