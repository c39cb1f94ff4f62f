// Network: the graph of one or two models as a picture, lined up and coloured by what dnn-localize found.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"
#include "report/data.h"
#include "report/document.h"

namespace dnn::report {

struct Network {
  struct Node {
    std::string name, op;              // name may be empty
    std::vector<std::string> outputs;  // names of its values
    std::vector<size_t> inputs;        // nodes that it reads, in the network's order
  };
  std::string name;
  std::vector<Node> nodes;  // producers before users
};

// The nodes of a model's graph, which is called `name`.
Network network_of(const Graph& graph, const std::string& name);

// A page with the networks side by side: `networks` are one or two. `found`, if not null, is of the first against the second;
// it lines them up and colours the layers.
Document network_document(const std::vector<Network>& networks, const Localization* found, const std::string& title);

// Model Explorer's node data: for each node of the network its layer's relative error, by the name of its first output,
// with colours from light to dark; wrong layers have a colour of their own. It holds for whatever graph is open.
std::string node_data_json(const Network& network, const Localization& found, bool of_source);

// The findings as entries of an ONNX model's metadata, in protobuf's encoding. Behind the bytes of an ONNX file they make the
// same model with these properties, which Netron shows: protobuf joins repeated fields.
std::string onnx_metadata(const Localization& found);

}  // namespace dnn::report
