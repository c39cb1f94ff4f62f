// Frozen GraphDef: what its inputs and outputs are; see tensorflow.h.
#include <climits>

#include "formats/tensorflow/finish.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/tensorflow/walk.h"

namespace dnn::graphdef {
namespace {

using namespace tensorflow;  // NOLINT(google-build-using-namespace): the messages' package

// Nodes that no other reads, and that are still no results.
bool side_effect(const std::string& op) {
  static const std::set<std::string> names = {"Assert",
                                              "Assign",
                                              "AssignVariableOp",
                                              "Const",
                                              "MergeV2Checkpoints",
                                              "NoOp",
                                              "Placeholder",
                                              "Print",
                                              "PrintV2",
                                              "ReadVariableOp",
                                              "RestoreV2",
                                              "PlaceholderWithDefault",
                                              "SaveV2",
                                              "ShardedFilename",
                                              "VarHandleOp",
                                              "VarIsInitializedOp",
                                              "Variable",
                                              "VariableV2"};
  return names.count(op) != 0;
}

// The results of a GraphDef, which does not say: what no node reads.
std::vector<std::string> leaves(const GraphDef& graph, const Body& body) {
  std::set<int> read;
  for (const NodeDef& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (input.empty()) continue;
      if (input[0] != '^') {
        read.insert(body.parse(input).node);
      } else if (const int waited = body.parse(input.substr(1)).node;
                 waited >= 0 && graph.node(waited).op() == "CheckNumerics") {
        read.insert(waited);  // a check that others wait for is no result
      }
    }
  }
  std::vector<std::string> result;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (read.count(i) == 0 && !side_effect(graph.node(i).op())) result.push_back(graph.node(i).name());
  }
  return result;
}

// Whether the bytes are a NodeDef that begins as all do, with its name and operator.
bool looks_like_node(Bytes bytes) {
  ByteReader reader(bytes, "node");
  for (const uint8_t field : {uint8_t{0x0a}, uint8_t{0x12}}) {
    if (reader.remaining() < 2 || reader.u8() != field) return false;
    const size_t length = reader.u8();
    if (length == 0) return false;
    if (length >= 0x80) return field == 0x0a;  // a long name
    if (length > reader.remaining()) return false;
    for (const std::byte b : reader.take(length)) {
      if (b < std::byte{' '} || b > std::byte{'~'}) return false;
    }
  }
  return true;
}

}  // namespace

bool sniff(const ModelSource& source) {
  ByteReader reader(source.bytes, "graph");
  try {
    for (int fields = 0; fields < 4; ++fields) {  // a library or versions may come first
      const uint8_t tag = reader.u8();
      if (tag != 0x0a && tag != 0x12 && tag != 0x22) return false;
      uint64_t length = 0;
      for (int shift = 0; shift < 35; shift += 7) {
        const uint8_t byte = reader.u8();
        length |= static_cast<uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) break;
      }
      if (tag == 0x0a) return looks_like_node(source.bytes.subspan(reader.position()));
      reader.take(length);
    }
  } catch (const Error&) {
  }
  return false;
}

Graph read(const ModelSource& source) {
  if (source.bytes.size() > INT_MAX)
    fail_unsupported("a GraphDef of more than 2 GiB, which TensorFlow cannot read either");
  GraphDef proto;
  if (!parse_graph_def(source.bytes, &proto)) fail_malformed("not a GraphDef, or damaged");
  Source state;
  state.file = {source.bytes, source.owner};
  state.ignored = source.ignored;
  state.room = (1 << 22) + static_cast<int64_t>(source.bytes.size());
  Surroundings around;
  std::vector<ValueId> inputs;
  for (const NodeDef& node : proto.node()) {
    if (node.op() != "Placeholder") continue;
    read_metadata(node, &state.draft.graph);
    const auto dtype = node.attr().find("dtype"), shape = node.attr().find("shape");
    if (dtype == node.attr().end()) fail_malformed("node '", node.name(), "' (Placeholder): it has no dtype");
    if (dtype->second.type() == DT_STRING || dtype->second.type() == DT_RESOURCE) continue;
    const bool shaped = shape != node.attr().end() && shape->second.has_shape();
    Type type = input_type(node.name(), dtype->second.type(), shaped ? &shape->second.shape() : nullptr);
    const ValueId v = state.draft.add_value(node.name(), Draft::Name::Given);
    state.draft.graph.value(v).type = std::move(type);
    inputs.push_back(v);
    around.inputs[node.name()] = v;
  }
  Walk walk(state, around, proto);
  std::vector<Output> outputs;
  for (const std::string& leaf : leaves(proto, walk.graph())) {
    const std::vector<Item> items = walk.all_outputs(leaf);
    for (size_t i = 0; i < items.size(); ++i) outputs.push_back({items[i], i == 0 ? leaf : cat(leaf, ":", i)});
  }
  state.draft.graph.producer = "tensorflow";
  return finish(state, inputs, outputs);
}

}  // namespace dnn::graphdef
