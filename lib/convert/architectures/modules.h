// Modules: a network built around the parameters of a state dict, as the forward() of a torch module would call its parts.
// Extents come from the parameters; what they do not say (strides, paddings, activations) is the architecture's.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

class Modules {
 public:
  // The parameters are the constants of `weights`, which must outlive this.
  explicit Modules(const Graph& weights);

  bool has(const std::string& parameter) const { return weights_.find_value(parameter) != kNoValue; }
  // Extents of a parameter; Malformed where it is missing.
  const Shape& shape(const std::string& parameter) const;
  // Names of all parameters.
  std::vector<std::string> names() const;

  // The graph's input: float32[batch, channels, size, size].
  ValueId image(int64_t channels, int64_t size);

  struct Window {
    int64_t stride = 1;
    int64_t pad = -1;  // on each side; -1: half the kernel
    int64_t groups = 1;
  };
  // NAME.weight [O, I/groups, kH, kW], NAME.bias [O] where there is one.
  ValueId conv(const std::string& name, ValueId x, const Window& window);
  ValueId conv(const std::string& name, ValueId x) { return conv(name, x, Window{}); }
  // One filter a channel.
  ValueId depthwise(const std::string& name, ValueId x, int64_t stride = 1);
  // NAME.weight, .bias, .running_mean, .running_var [C].
  ValueId batch_norm(const std::string& name, ValueId x, float epsilon = 1e-5f);
  // NAME.weight, .bias over the last axis.
  ValueId layer_norm(const std::string& name, ValueId x, float epsilon);
  // The same over axis 1 of [N, C, H, W].
  ValueId channel_norm(const std::string& name, ValueId x, float epsilon);
  // NAME.weight [O, I], NAME.bias [O] where there is one; x: [N, I].
  ValueId linear(const std::string& name, ValueId x);
  // The same on the last axis of any rank, with the parameters' own names.
  ValueId linear(const std::string& name, const std::string& weight, const std::string& bias, ValueId x);

  struct Pool {
    int64_t kernel, stride, pad = 0;
    bool ceil = false;
  };
  ValueId max_pool(const std::string& name, ValueId x, const Pool& pool);
  ValueId average_pool(const std::string& name, ValueId x, const Pool& pool);  // borders count
  ValueId global_average_pool(const std::string& name, ValueId x);             // [N, C, 1, 1]
  ValueId flatten(const std::string& name, ValueId x);                         // [N, the rest]
  ValueId relu(const std::string& name, ValueId x) { return op("Relu", name, {x}); }
  ValueId relu6(const std::string& name, ValueId x);
  ValueId add(const std::string& name, ValueId a, ValueId b) { return op("Add", name, {a, b}); }
  ValueId mul(const std::string& name, ValueId a, ValueId b) { return op("Mul", name, {a, b}); }
  ValueId concat(const std::string& name, std::vector<ValueId> parts, int64_t axis = 1);
  ValueId transpose(const std::string& name, ValueId x, std::vector<int64_t> perm);
  ValueId reshape(const std::string& name, ValueId x, const std::vector<int64_t>& shape);
  ValueId slice(const std::string& name, ValueId x, int64_t axis, int64_t from, int64_t to, int64_t step = 1);

  // A node of one output, called `name`.
  ValueId op(const std::string& type, const std::string& name, std::vector<ValueId> inputs, Attributes attributes = {});
  // A parameter as a value; Malformed where it is missing.
  ValueId parameter(const std::string& name);
  ValueId constant(const std::string& name, Tensor tensor);
  ValueId ints(const std::string& name, const std::vector<int64_t>& values);
  ValueId number(const std::string& name, float value);

  // The graph with that output. Malformed where parameters are left over, except those that begin with `ignored`.
  Graph finish(ValueId output, const std::vector<std::string>& ignored = {});

 private:
  const Graph& weights_;
  Graph graph_;
  std::set<std::string> used_;
};

}  // namespace dnn
