// Layers of a branched network, each counted as it is added, and put into a graph where one is wanted.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "branch/config.h"
#include "ops/build.h"

namespace dnn::branch {

// As pycls counts a network: `flops` are multiply-adds of convolutions and linear layers, `params` their weights and two for each channel of
// a norm, `acts` the elements that convolutions, linear layers and max pools make. The 1x1 convolution behind a branch of MB_VER 1 is not counted there.
struct Counts {
  int64_t params = 0, flops = 0, acts = 0;
  int64_t weights = 0;  // parameters that the network really has: those above and all others
  int64_t bytes = 0;    // of memory that its graph takes, about
};

// A tensor [N, channels, height, width] between two layers. `counted` channels are what the configuration says; `channels` what there are.
struct Wire {
  ValueId value = kNoValue;
  int64_t channels = 0, counted = 0, height = 0, width = 0;
};

// Names of a layer: `node` in the graph, `parameters` in the state dict.
struct LayerNames {
  std::string node, parameters;
};

// A convolution with "same" padding.
struct ConvShape {
  int64_t width = 0, kernel = 1, stride = 1, groups = 1;
  bool bias = false;
  bool is_counted = true;
};

// "s1_cpu_b1_relu", "s1_cpu_b1_act".
std::string act_name(const std::string& name, Activation activation);
// The name of a layer behind which branches part, if it is marked as one.
std::string marked_name(const std::string& name, bool marked);

class CountedLayers {
 public:
  // `graph`, which must outlive it, null: counts alone. Errors name `path`.
  CountedLayers(std::string path, float epsilon, NewGraph* graph, uint64_t seed)
      : path_(std::move(path)), epsilon_(epsilon), graph_(graph), random_(seed) {}

  NewGraph* graph() { return graph_; }
  const Counts& counts() const { return counts_; }
  // For layers that are made node by node.
  void count(int64_t params, int64_t flops, int64_t acts);

  // A node, uncounted. kNoValue without a graph.
  ValueId emit(const std::string& op, const std::string& name, std::vector<ValueId> inputs, Attributes attributes = {});
  // A constant vector of int64, uncounted.
  ValueId integers(const std::string& name, const std::vector<int64_t>& values);
  // A parameter of uniform random numbers with this standard deviation around `mean`. Throws Unsupported beyond 2^31 of them in all.
  ValueId parameter(const std::string& name, Shape shape, double deviation, float mean = 0);

  // Throws Unsupported where channels do not fit the groups.
  Wire conv(const LayerNames& names, const Wire& x, const ConvShape& c);
  Wire norm(const LayerNames& names, Wire x, bool is_counted = true);
  Wire conv_norm(const LayerNames& conv_names, const LayerNames& norm_names, const Wire& x, const ConvShape& c);
  // `marked`: the product of SiLU, its last node, is a point where branches part.
  Wire act(const std::string& name, Wire x, Activation activation, bool marked = false);
  // Throws Unsupported for different numbers of channels.
  Wire add(const std::string& name, const Wire& a, Wire b);
  // A 3x3 max pool of stride 2.
  Wire max_pool(const std::string& name, Wire x);
  // Channels `from` to `to`.
  Wire slice(const std::string& name, const Wire& x, int64_t from, int64_t to);
  // `counted`: the channels that the configuration says.
  Wire concat(const std::string& name, const std::vector<Wire>& parts, int64_t counted);

 private:
  std::string path_;
  float epsilon_;
  NewGraph* graph_;
  std::mt19937_64 random_;
  Counts counts_;
};

}  // namespace dnn::branch
