// Activation maps: the channels of a layer in which two networks differ most, small enough to be looked at side by side.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace dnn {

inline constexpr size_t kMostMapChannels = 4;
inline constexpr int64_t kMostMapExtent = 56;  // rows, and columns
inline constexpr size_t kMostMappedFindings = 4;

// rows x columns of a channel; where the layer has more, the value of the largest magnitude in each block.
struct ChannelMaps {
  int64_t channel = 0;
  double max_abs =
      0;  // of source - target, before blocks are made; infinite where an element is not finite on one side alone
  std::vector<float> source, target, difference;
};

struct ActivationMaps {
  int64_t n_channels = 0, height = 0, width = 0;  // of the layer
  int64_t rows = 0, columns = 0;                  // of the maps
  std::vector<ChannelMaps> channels;              // by the L2 norm of the difference, the largest first
};

// Of tensors [1, C, H, W], [C, H, W] (or with the channels last, where that alone has heights like widths), and of
// [1, H, W], one channel. The two have the same shape. nullopt for other tensors, and where nothing differs.
std::optional<ActivationMaps> activation_maps(const Tensor& source, const Tensor& target);

// Maps as a report has them.
struct ShownMaps {
  std::optional<size_t> finding;  // which; none: of the first layer that diverges
  std::string layer, sample;      // names
  ActivationMaps maps;
};

// A member of "maps": values as whole numbers, in 127ths of the largest magnitude.
nlohmann::ordered_json shown_maps_json(const ShownMaps& shown);

}  // namespace dnn
