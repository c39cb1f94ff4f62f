// A network in which some layers compute in a smaller type, node by node on the interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "localize/precision_layers.h"
#include "localize/rounding.h"

namespace dnn {

struct PrecisionSpot {
  enum class Role : uint8_t { Input, Constant, Output };
  Role role = Role::Input;
  std::string value;
  RoundingLoss loss;  // of a constant once, of other values over all samples
};

using SpotLosses = std::map<std::pair<PrecisionSpot::Role, ValueId>, RoundingLoss>;

class RoundedNetwork {
 public:
  // Types of `graph` are inferred. Throws Unsupported where no layer computes in float32.
  RoundedNetwork(Graph graph, DType dtype);

  const Graph& graph() const { return graph_; }
  const std::vector<ComputingLayer>& layers() const { return layers_; }
  const std::vector<int>& reads() const { return reads_; }       // by ValueId: layers that read it
  bool is_made(ValueId v) const { return made_.count(v) != 0; }  // by a layer, for others
  // The layer that is complete with this value, the last that it makes for others.
  std::optional<size_t> completed_by(ValueId v) const;
  // The value of this network with the name of `id` in a compiled graph of it; kNoValue where there is none.
  ValueId own_id(const Graph& compiled, ValueId id) const;

  // For int8: the ranges of values that layers read or make. A value without one is not rounded.
  void add_ranges(const std::map<ValueId, NumberRange>& ranges);

  Tensor round_constant(const Node& node, size_t input, const Tensor& constant, RoundingLoss* loss) const;
  // All values that a layer makes with its inputs, constants and results rounded. `held` has what it reads.
  std::map<ValueId, Tensor> run_layer(size_t layer, const std::map<ValueId, Tensor>& held, SpotLosses* losses) const;
  // The outputs of the network with all layers rounded but those to keep, by layer.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const std::vector<bool>& keep) const;

 private:
  using Get = std::function<const Tensor&(ValueId)>;
  Tensor round_value(ValueId v, const Tensor& value, RoundingLoss* loss) const;
  Tensor rounded_input(const Node& node, size_t input, const ComputingLayer& layer, const Get& get,
                       SpotLosses* losses) const;
  std::vector<Tensor> run_rounded(NodeId id, const Get& get, SpotLosses* losses) const;
  std::vector<Tensor> run_as_it_is(NodeId id, const Get& get) const;
  std::vector<ValueId> read_by(NodeId id) const;

  Graph graph_;
  DType dtype_;
  std::vector<ComputingLayer> layers_;
  std::vector<int64_t> layer_of_;  // by NodeId; -1: none
  std::vector<int> reads_;         // by ValueId
  std::set<ValueId> made_;
  std::map<ValueId, size_t> last_;  // value to layer, see completed_by()
  std::map<std::string, ValueId> by_name_;
  std::map<ValueId, NumberRange> ranges_;
};

}  // namespace dnn
