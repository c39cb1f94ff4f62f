// OpDef: everything the suite knows about one operator, in one value: schema, type inference, reference kernel, lowering
// to loops. An operator is one file of this folder plus its row in ops.def; it names no format and no target.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/share.h"
#include "graph/graph.h"
#include "loops/ir.h"
#include "ops/attributes.h"

namespace dnn {

// What an operator's infer() sees and fills in.
struct InferContext {
  const Node& node;
  std::vector<const Type*> inputs;    // null: left out
  std::vector<const Tensor*> known;   // values known at compile time, else null
  std::vector<Type> outputs;          // as many as the node has; left unknown where nothing can be said
  std::vector<Tensor> known_outputs;  // values that follow from types alone (Shape, Size); else undefined
  // Types of a subgraph's outputs for these input types (control flow only).
  std::function<std::vector<Type>(const Graph& body, const std::vector<Type>& inputs)> infer_graph;

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Type& input(size_t i) const;  // Malformed when it is missing
  const Tensor* known_input(size_t i) const { return i < known.size() ? known[i] : nullptr; }
  bool has_shape(size_t i) const { return has_input(i) && inputs[i]->shape.has_value(); }
  // Extents of input i; Malformed unless the shape is known and has `rank` dims (-1: any).
  const std::vector<Dim>& shape(size_t i, int rank = -1) const;
  void set_output(size_t i, Type type);
  // A negative axis counts from the back; Malformed when out of range.
  int64_t axis(int64_t value, int64_t rank) const;
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(node.label(), ": ", parts...);
  }
};

// What an operator's reference() computes from and into. Inputs agree with the schema; outputs are default tensors.
struct ReferenceContext {
  const Node& node;
  std::vector<const Tensor*> inputs;  // null: left out
  std::vector<Tensor> outputs;        // as many as the node has; those the node leaves out may stay undefined
  // Runs a subgraph; the caller has bound its captures.
  std::function<std::vector<Tensor>(const Graph& body, const std::vector<Tensor>& inputs)> run_graph;
  ThreadPool* pool = nullptr;  // for share(); null: one thread. The same bits with any

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Tensor& input(size_t i) const;  // Malformed when it is missing
  bool wants_output(size_t i) const { return node.output(i) != kNoValue; }
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(node.label(), ": ", parts...);
  }
};

// What an operator's lower() writes loops for. Shapes are fixed; buffers carry logical shapes, and whatever layout a
// pass chose: a lowering uses logical indices only.
struct LowerContext {
  struct Stage {
    std::string pattern;  // for schedules: "map", "conv", "matmul", "pool", "reduce", "row"
    loops::Stmt body;     // loops named by axis letters; every output element is stored exactly once
  };

  const Node& node;
  std::vector<loops::BufferRef> inputs;   // null: left out
  std::vector<loops::BufferRef> outputs;  // null: left out
  std::vector<const Tensor*> constants;   // by input: its value when known, else null
  std::vector<Stage> stages;              // kernels, in order
  std::vector<loops::BufferRef> temporaries;

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Shape& shape(size_t i) const { return inputs[i]->shape; }
  const Tensor* constant(size_t i) const { return i < constants.size() ? constants[i] : nullptr; }
  void emit(std::string pattern, loops::Stmt body) { stages.push_back({std::move(pattern), std::move(body)}); }
  loops::BufferRef temporary(std::string name, DType dtype, Shape shape, loops::Layout layout = {});
};

// What an operator's permute() rewrites: the node is to compute on tensors whose axes stand in another order.
struct PermuteContext {
  Node node;                             // its attributes are rewritten in place
  std::vector<int64_t> perm;             // axis i of a permuted tensor is axis perm[i] of the model's
  std::vector<const Tensor*> constants;  // by input; null: not known
  std::map<size_t, Tensor> replaced;     // inputs that become these constants; the next index adds one

  // Where the model's axis, which may count from the back, lies in a permuted tensor. Malformed when out of range.
  int64_t moved(int64_t axis) const;
};

class GraphBuilder;  // ops/build.h

// What an operator's gradient() reads and fills in. It adds nodes to `build` that compute, from the gradients of the node's
// outputs, those of its inputs: of one scalar, the loss. Shapes are fixed. Sums that broadcasting asks for are its own to add.
struct GradientContext {
  const Node& node;  // its inputs and outputs are values of the builder's graph
  GraphBuilder& build;
  std::vector<ValueId> output_gradients;  // kNoValue: the loss does not depend on this output
  std::vector<bool> wanted;               // by input: whether somebody asks for its gradient
  std::vector<ValueId> input_gradients;   // as many as inputs; kNoValue: it is 0

  bool wants(size_t i) const { return i < wanted.size() && wanted[i]; }
  ValueId input(size_t i) const { return node.input(i); }
  ValueId output(size_t i) const { return node.output(i); }
  // The gradient of output 0; a node of several outputs asks each.
  ValueId dy() const { return output_gradients[0]; }
  void set(size_t i, ValueId gradient) { input_gradients[i] = gradient; }
};

// What those ask of an operator who know it by its kind and not by its name.
enum class Trait : uint32_t {
  Activates = 1,      // a function of one tensor, as networks have it between layers
  ChannelsFirst = 2,  // its first input and first output are [N, C, spatial...]
  Commutes = 4,       // operands in any order
  Float32 =
      8,  // float32 whatever the rest of a model is: ONNX has it for no halves, or they would distort scales of integers
  Moves = 16,     // makes no new numbers of those that it reads: it moves, picks, rounds or converts them
  Weighted = 32,  // a layer: input 1 holds weights that its input is multiplied by
};

// Each OpDef states its traits; whoever adds an operator has to think of them.
class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits(std::initializer_list<Trait> traits) : stated_(true) {
    for (Trait trait : traits) bits_ |= static_cast<uint32_t>(trait);
  }
  constexpr bool stated() const { return stated_; }
  constexpr bool has(Trait trait) const { return (bits_ & static_cast<uint32_t>(trait)) != 0; }

 private:
  bool stated_ = false;
  uint32_t bits_ = 0;
};
inline constexpr Traits kNoTraits = std::initializer_list<Trait>{};

struct OpDef {
  std::string name;
  std::string domain;                  // "" is ai.onnx
  int since = 1;                       // opset whose semantics this is (the last change up to kIrOpset)
  int min_inputs = 1, max_inputs = 1;  // max -1: variadic
  int min_outputs = 1, max_outputs = 1;
  Traits traits;
  AttributeDefs attributes;   // all that a node may have; what it leaves out has the default here
  bool deterministic = true;  // false: never folded or merged (RandomNormal)
  void (*infer)(InferContext&) = nullptr;
  void (*reference)(ReferenceContext&) = nullptr;
  // May leave `stages` empty to say "not for these types or shapes": the interpreter runs the node then.
  void (*lower)(LowerContext&) = nullptr;
  // Element-wise operators: the value of one output element from the inputs' elements (already broadcast).
  loops::Expr (*element)(const Node&, const std::vector<loops::Expr>& inputs) = nullptr;
  // Multiply-adds (counted as 2) and other arithmetic of one run, from fixed input types; null: outputs' elements.
  double (*flops)(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) = nullptr;
  // Null: the operator is not differentiable, or its gradient is not written yet. One that no gradient flows through (Shape,
  // comparisons) says so by `no_gradient`.
  void (*gradient)(GradientContext&) = nullptr;
  bool no_gradient = false;
  // Rewrites the node for permuted axes of its first `permuted_inputs` inputs (-1: all) and of its outputs of that rank; false:
  // cannot for this permutation. See permute.h for the usual ones.
  bool (*permute)(PermuteContext&) = nullptr;
  int permuted_inputs = 1;
  // How many first inputs of a node (-1: all) hold the numbers that its outputs consist of: each element is one of them, by its
  // place or as the largest of some. Such a node gives the same for any numbers in the same order, as for the integers of a
  // quantised network. Null, or 0: it makes new numbers.
  int (*picks)(const Node&) = nullptr;
  int fill_input = -1;  // holds the one number that stands where there is none of these (Pad); not given: 0
};

inline int picks_from_first(const Node&) { return 1; }
inline int picks_from_all(const Node&) { return -1; }

OpDef with_attributes(OpDef op, AttributeDefs attributes);

// The operator of that name, or null. `domain` "" and "ai.onnx" are the same.
const OpDef* find_op(std::string_view domain, std::string_view name);
// Whether the node's operator is of that kind; false for one that we do not have.
bool has_trait(const Node& node, Trait trait);
// As OpDef::picks, with -1 as the number of inputs; 0 for a node that makes new numbers or that we do not know.
size_t picked_inputs(const Node& node);
// Holds a node to its operator: Malformed for as many inputs or outputs as it cannot have, a required attribute that is missing,
// one of another type; Unsupported for one that the operator does not have.
void check_schema(const Node& node, const OpDef& op);
// The same for all nodes of a graph and of its subgraphs whose operators we have.
void check_schemas(const Graph& graph);
// Every operator, in the order of ops.def.
const std::vector<OpDef>& all_ops();

// Arithmetic of one run of the node, as OpDef::flops counts it; 0 where a type has no fixed shape.
double node_flops(const Graph& graph, const Node& node);

// Fills in types of all values from the inputs' types on, and evaluates small integer and shape computations whose
// values the types depend on (an element limit keeps this to shapes). Operators we do not have leave unknown types.
// Throws Malformed where a node contradicts its operator or a declared type. `before` is called before each node, whose
// inputs' types are known by then; it may give the node other constants as inputs and other attributes.
void infer_types(Graph& graph, const std::function<void(NodeId id)>& before = {});
// The same, returning the values that came to be known on the way, by ValueId (undefined: not known).
std::vector<Tensor> infer_known_values(Graph& graph);

}  // namespace dnn
