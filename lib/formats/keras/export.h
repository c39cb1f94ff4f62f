// What writing one IR node as Keras layers needs: its values as outputs of layers, and steps to add layers.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/keras/config.h"
#include "graph/graph.h"
#include "layout/settle.h"

namespace dnn::keras {

// A variable of a layer: its name in Keras ("kernel"), the source's name where the source has one, its value.
struct Variable {
  std::string role, source;
  Tensor value;
};

// A layer that is written, called once.
struct WrittenLayer {
  std::string class_name, module;                      // module "": keras.layers
  std::string name, source_name;                       // the source's node, where its name had to be changed
  std::string value_name;                              // the source's name of its result, where that is a named one
  Json config = Json::object();                        // without "name"
  Json args = Json::array(), kwargs = Json::object();  // tensors are {"tensor": [layer, 0, 0]} with the layer's number
  std::vector<Variable> variables;
  Type type;  // of its output
};

// The number of a layer, whose only output it stands for.
using LayerId = int;

// Which of the two files: they differ in what their readers know.
enum class Dialect {
  Keras2,  // .h5: for Keras 3 and for tf_keras
  Keras3   // .keras
};

// A model while it is written.
class Plan {
 public:
  Plan(const Graph& graph, Dialect dialect);

  const Graph& graph() const { return graph_; }
  Dialect dialect() const { return dialect_; }
  const Uses& uses() const { return uses_; }
  const std::vector<WrittenLayer>& layers() const { return layers_; }
  // The layer that gives a value, or -1.
  LayerId maker(ValueId v) const;
  LayerId add(WrittenLayer layer, const std::string& wanted_name);
  void define(ValueId v, LayerId layer);
  // Puts the layers into the order that Keras gives them when it loads the model, by which it finds their weights.
  void order_as_keras();

 private:
  std::string legal_name(const std::string& wanted);

  const Graph& graph_;
  const Dialect dialect_;
  Uses uses_;
  std::vector<WrittenLayer> layers_;
  std::map<ValueId, LayerId> makers_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // by class, of layers without a name
};

// An activation that follows a node: its name in Keras, the value it gives, and the nodes that it is made of.
struct FollowingActivation {
  std::string name;
  ValueId value = kNoValue;
  std::vector<NodeId> nodes;
};

// One node while it is written.
class Export {
 public:
  Export(Plan& plan, const Node& node, FollowingActivation activation)
      : plan_(plan), node_(node), activation_(std::move(activation)) {}

  const Node& node() const { return node_; }
  const Graph& graph() const { return plan_.graph(); }
  const Plan& plan() const { return plan_; }
  bool keras3() const { return plan_.dialect() == Dialect::Keras3; }
  bool has_input(size_t i) const { return node_.input(i) != kNoValue; }
  const Tensor* constant(size_t i) const { return graph().constant(node_.input(i)); }
  // A constant input; Unsupported where it is computed.
  const Tensor& known(size_t i, const char* what) const;
  std::vector<int64_t> known_ints(size_t i, const char* what) const { return to_int64s(known(i, what)); }
  const Type& type(size_t i) const { return graph().value(node_.inputs[i]).type; }
  const Type& output_type(size_t i = 0) const { return graph().value(node_.outputs[i]).type; }
  // Extents; -1: open. Unsupported where the rank is unknown.
  std::vector<int64_t> shape(size_t i) const { return extents(type(i)); }
  std::vector<int64_t> output_shape(size_t i = 0) const { return extents(output_type(i)); }
  std::vector<int64_t> extents(const Type& type) const;
  // Not negative; Unsupported for the axis of the batch, which layers cannot touch.
  int64_t inner_axis(int64_t axis, int64_t rank) const;

  // The layer that gives input i, or a value; Unsupported for a constant.
  LayerId input(size_t i);
  LayerId layer_of(ValueId v) const;
  // The source's name of a constant input; "" where it has none.
  std::string source_name(size_t i) const { return graph().value(node_.inputs[i]).name; }

  // A layer of one or several inputs; the last one of a node is to be given to result().
  LayerId layer(const std::string& class_name, Json config, const std::vector<LayerId>& inputs, const Type& type,
                std::vector<Variable> variables = {});
  // The same, called with several arguments instead of a list.
  LayerId call(const std::string& class_name, Json config, Json args, const Type& type,
               std::vector<Variable> variables);
  // The same as an operation of Keras 3 ("numpy.Sqrt"), with arguments as they are called; Unsupported in the other dialect.
  LayerId operation(const std::string& name, Json config, Json args, const Type& type, Json kwargs = Json::object());
  static Json tensor(LayerId layer) { return {{"tensor", Json::array({layer, 0, 0})}}; }
  // Input i as an argument: a tensor, a number, or a list of numbers for a constant.
  Json argument(size_t i);
  static Json array(const Tensor& values);
  // The node's output i is what this layer gives. Output 0 takes the activation that follows, unless a layer took it.
  void result(LayerId layer, size_t i = 0);
  // For the option "activation" of a layer.
  std::string take_activation() {
    taken_ = !activation_.name.empty();
    return taken_ ? activation_.name : "linear";
  }
  bool took_activation() const { return taken_; }
  const FollowingActivation& activation() const { return activation_; }
  // Nodes written along with this one.
  void absorb(NodeId id) { absorbed_.push_back(id); }
  const std::vector<NodeId>& absorbed() const { return absorbed_; }
  // The only reader of output 0 where that is not an output of the graph; -1 otherwise.
  NodeId only_reader(ValueId v) const;
  void result_for(ValueId v, LayerId layer) { plan_.define(v, layer); }

  template <class... T>
  [[noreturn]] void refuse(const T&... parts) const {
    fail_unsupported(node_.label(), " cannot be written as Keras layers: ", parts...);
  }

 private:
  Plan& plan_;
  const Node& node_;
  const FollowingActivation activation_;
  bool taken_ = false;
  std::vector<NodeId> absorbed_;
};

// An Attention between dense layers: which nodes are written with it.
struct AttentionParts {
  struct Dense {
    ValueId x = kNoValue, weight = kNoValue, bias = kNoValue;
  };
  std::array<Dense, 3> inputs;  // query, key, value
  Dense output;
  std::set<NodeId> before;
  std::vector<NodeId> after;  // the output's; empty where it has none
  ValueId result = kNoValue;  // what the output's dense layer gives
  int64_t heads = 0;
  double scale = 1;
};
std::optional<AttentionParts> attention_parts(const Plan& plan, const Node& node);

// One row per IR operator that can be written, from exports.def. `fuses`: the layer has an option "activation".
struct ExportRow {
  const char* domain;
  const char* op;
  bool fuses;
  void (*write)(Export&);
  const char* detail;  // what a function shared by several operators is told
};
const std::vector<ExportRow>& export_rows();
const ExportRow* find_export(const Node& node);

// The whole graph as layers.
Plan plan_model(const Graph& graph, Dialect dialect);

// The files.
Content write_h5(const Plan& plan);
Content write_zip(const Plan& plan);

}  // namespace dnn::keras
