// What is decided about a graph before it is written: which nodes end in an activation, which compute on quantised numbers.
#pragma once
#include <schemas/tflite_generated.h>

#include <map>
#include <set>
#include <vector>

#include "formats/tflite/scales.h"
#include "graph/graph.h"

namespace dnn::tflite {

struct ExportRow;

inline bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

// One operator of the file to be. A quantised one takes stored integers in place of what DequantizeLinear makes of them, and
// makes what the QuantizeLinear behind it does. Weights may also be 16-bit floats that are widened in front of it.
struct PlannedNode {
  const ExportRow* row = nullptr;
  Activation activation = Activation::NONE;
  ValueId output = kNoValue;    // of the node, of its activation, or of the QuantizeLinear behind
  std::vector<ValueId> inputs;  // by input: the stored integers; kNoValue: as the graph has it
  bool quantized = false;       // the output is quantised, too
  bool widens = false;          // integers of input 1 are dequantised in front of the operator
  bool unbounded = false;       // input 0 may be infinite, or far from what the output can hold
};

struct Plan {
  std::map<ValueId, Scales> scales;  // of values that hold quantised numbers
  std::map<NodeId, PlannedNode> nodes;
  std::set<NodeId> skipped;  // what other nodes do
};

// Moves what only moves elements to the integers' side of DequantizeLinear and QuantizeLinear (per tensor), so that these
// stand next to what computes. The same numbers come out.
void move_quantized(Graph& graph);

// Where unsigned numbers meet signed weights: all quantised numbers signed, by zero points 128 lower. Inputs and outputs stay
// what they are. Unchanged where something else sees the numbers.
void make_signed(Graph& graph);

Plan make_plan(const Graph& graph);

}  // namespace dnn::tflite
