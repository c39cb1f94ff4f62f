// Plan: which nodes of a network compute on integers, which values get a quantiser, and which of these share one.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::quant {

enum class Role : uint8_t { Float, Weighted, Computes, Moves, Activates, UnitRange, SignedUnitRange };
// The row of roles.def; Float where there is none.
Role role_of(const Node& node);

struct PlanOptions {
  std::set<std::string> keep_float = {};  // nodes, by name or by what they make, that stay in float32
  std::set<NodeId> left_float = {};       // nodes that a search leaves in float32
  std::set<NodeId> coarse = {};           // sums whose result has too large a step for an operand: in float32, too
  bool activations = true;                // false: weights alone
  // Whether the runtime computes this activation at the end of the operator in front of it, so that nothing is rounded between.
  std::function<bool(const Graph& graph, const Node& activation)> fuses = {};
  // The second factor of a MatMul that is not constant has zero point 0, as XNNPACK's kernel takes it.
  bool factors_around_zero = false;
  // The runtime gives sums of integers as real numbers, adds a bias to them before it rounds them, and reads real numbers anywhere: what
  // no operator on integers reads has no quantiser then, so that residual sums of a transformer and the classes' scores are not rounded.
  bool real_results = false;
  bool integer_outputs = false;  // the network's outputs count as read by such operators
};

// The weights of a node that is quantised: input 1, a constant, with one scale for each index of `axis` (-1: one in all).
struct Weights {
  NodeId node = -1;
  int64_t axis = -1;
};

struct Plan {
  std::vector<bool> quantized;               // by NodeId: computes on integers
  std::vector<Weights> weights;              // in the graph's order
  std::vector<int> group;                    // by ValueId: its quantiser; -1: none
  std::vector<std::vector<ValueId>> groups;  // values that share a scale
  std::vector<std::optional<Role>> fixed;    // by group: UnitRange or SignedUnitRange where its scale is fixed
  std::vector<bool> around_zero;             // by group: its zero point is 0
  std::vector<NodeId> left_float;            // nodes of roles.def that stay in float32, for what stands in `reasons`
  std::vector<std::string> reasons;
  std::vector<bool> chosen;       // of left_float: a user, a search or the scales chose it
  bool integer_outputs = false;   // the network's outputs are rounded, whatever makes them
  std::map<NodeId, NodeId> ends;  // an operator on integers: the bias or activation that it computes behind
};

// The quantiser of a value; -1: none. Values that came after the plan have none.
int group_of(const Plan& plan, ValueId v);

// The operator, and what it computes at its end: its bias, its activation.
std::vector<NodeId> with_ends(const Plan& plan, NodeId id);

// What is quantised or left in float32 as one: an operator, and what it computes at its end.
struct Layer {
  std::vector<NodeId> nodes;  // one to three
  ValueId output = kNoValue;
  std::optional<size_t> weights;  // index into Plan::weights
  double multiply_adds = 0;
};

// Multiply-adds of one run of a node that multiplies weights; 0 of all others.
double multiply_adds(const Graph& graph, NodeId id);

// The operators of a plan that compute numbers on integers, in the graph's order. What only moves numbers is none of them.
std::vector<Layer> layers_of(const Graph& graph, const Plan& plan);

// Types must be inferred. Throws Usage where a name of keep_float is no node's.
Plan make_plan(const Graph& graph, const PlanOptions& options);

// What ONNX Runtime and OpenVINO, what TFLite, and what ONNX's quantised operators compute at the end of an operator.
bool fuses_in_onnx(const Graph& graph, const Node& activation);
bool fuses_in_tflite(const Graph& graph, const Node& activation);
bool fuses_in_qoperator(const Graph& graph, const Node& activation);

}  // namespace dnn::quant
