// Costs of a network's blocks on devices, measured: each node alone and with all devices busy, and what handing values over takes.
#pragma once
#include <memory>
#include <vector>

#include "place/blocks.h"
#include "place/open.h"
#include "place/search.h"

namespace dnn::place {

struct DeviceCost {
  double whole_us = 0;  // median of the whole network, nothing else running
  std::vector<double> node_us,
      busy_us;  // by NodeId; their sum is what the whole takes, alone and while the others work, too
};

struct Measured {
  std::vector<DeviceCost> devices;
  std::vector<std::vector<CopyCost>> copy;
  // How much longer the network takes on each device while the others work, too: 1 where that costs nothing.
  std::vector<double> contention;
};

// `sessions`: the whole of `graph` on each part, compiled from numbered(graph). A profile's steps give the nodes' shares; where a device has no
// profile, their arithmetic does.
Measured measure_costs(const Graph& graph, const std::vector<Part>& parts,
                       const std::vector<std::unique_ptr<Session>>& sessions, const CompileOptions& options);

// The same graph with nodes called after their ids, so that steps of packages say which nodes they compute.
Graph numbered(const Graph& graph);

NetworkCost cost_of(const std::vector<Block>& blocks, const Measured& measured);

// As if each copy cost so many times as much.
std::vector<std::vector<CopyCost>> dearer_copies(std::vector<std::vector<CopyCost>> copy, double times);

}  // namespace dnn::place
