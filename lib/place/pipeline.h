// Placements for many inferences at once, by measured costs: each whole on one of the devices, or in stages from device to device.
#pragma once
#include <cstdint>
#include <vector>

#include "place/blocks.h"
#include "place/search.h"

namespace dnn::place {

// A network in stages, one behind another on different devices.
struct Stages {
  std::vector<size_t> devices;    // in the order of the stages
  std::vector<size_t> of_blocks;  // the stage of each block, ascending
  double us = 0;                  // of the longest stage, its input's way to it included: the time for each inference
};

// The stages whose longest is the shortest, over all cuts between blocks and all orders of two and more devices; exact for these costs. With more
// than four devices, the order in which they are listed is the only one that is tried. `slower`: by device, how many times as long work takes
// while the others work, too. No stages where there are fewer than two blocks or devices.
Stages search_stages(const NetworkCost& cost, const std::vector<double>& slower);

// The device of each node, by NodeId.
std::vector<size_t> places_of(const Graph& graph, const std::vector<Block>& blocks, const Stages& stages);

// Lanes for inferences that run whole on one device each: for each lane its device, in the order in which inferences take them. A device has as many
// as it is faster than the slowest, times `queued`; one more than `kMostTimesFaster` times slower than the fastest has none.
inline constexpr double kMostTimesFaster = 8;
std::vector<size_t> deal(const std::vector<double>& us, size_t queued);

// How long each inference takes in the mean, where each lane's device takes `us`.
double dealt_us(const std::vector<size_t>& lanes, const std::vector<double>& us);

}  // namespace dnn::place
