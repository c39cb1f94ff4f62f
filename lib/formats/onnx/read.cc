// ModelProto to Graph: names resolved across subgraphs, functions inlined, initializers and Constant nodes as constants.
#include <algorithm>
#include <climits>

#include <schemas/onnx.pb.h>

#include "base/text.h"
#include "formats/onnx/attribute_proto.h"
#include "formats/onnx/fields.h"
#include "formats/onnx/functions.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/reference.h"
#include "formats/onnx/scope.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/onnx/upgrade.h"
#include "formats/wire/proto.h"
#include "ops/attributes.h"

namespace dnn::onnx {
namespace {

using Opsets = std::map<std::string, int64_t>;
template <class Proto>
using Repeated = google::protobuf::RepeatedPtrField<Proto>;

Opsets read_opsets(const Repeated<OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const OperatorSetIdProto& import : imports) opsets[canonical_domain(import.domain())] = import.version();
  return opsets;
}

int onnx_opset(const Opsets& opsets) {
  const auto found = opsets.find("");
  if (found == opsets.end()) return 1;  // IR versions before 3 import nothing and mean opset 1
  if (found->second < 1) fail_malformed("opset ", found->second, " does not exist");
  if (found->second > kIrOpset) {
    fail_unsupported("opset ", found->second, " is newer than ", kIrOpset, ", the newest known here");
  }
  return static_cast<int>(found->second);
}

Type read_type(const TypeProto& proto) {
  Type type;
  if (!proto.has_tensor_type()) return type;  // sequences, maps and optionals have no type in the IR
  const TypeProto::Tensor& tensor = proto.tensor_type();
  type.dtype = dtype_from_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return type;
  type.shape.emplace();
  for (const TensorShapeProto::Dimension& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      type.shape->emplace_back(dim.dim_value());
    } else {
      type.shape->push_back(dim.has_dim_param() ? Dim(dim.dim_param()) : Dim());
    }
  }
  return type;
}

void require_tensor(const Value& value, const Repeated<ValueInfoProto>& infos, const char* what) {
  for (const ValueInfoProto& info : infos) {
    if (info.name() != value.name || !info.has_type()) continue;
    const TypeProto::ValueCase kind = info.type().value_case();
    if (kind != TypeProto::kTensorType && kind != TypeProto::VALUE_NOT_SET) {
      fail_unsupported("graph ", what, " '", value.name,
                       "' is a sequence, map, optional or sparse tensor; only tensors are supported");
    }
  }
}

void read_initializer(Scope& scope, const std::string& name, Tensor tensor) {
  if (name.empty()) fail_malformed("an initializer has no name");
  set_constant(scope.draft.graph, declare(scope, name, {}), std::move(tensor));
}

void declare_outputs(Scope& scope, const Repeated<NodeProto>& nodes) {
  for (const NodeProto& node : nodes) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) declare(scope, output, {});
    }
  }
}

void read_value_infos(Scope& scope, const Repeated<ValueInfoProto>& infos) {
  for (const ValueInfoProto& info : infos) {
    if (scope.values.count(info.name()) == 0) continue;
    const ValueId id = declare(scope, info.name(), read_type(info.type()));
    if (id != kNoValue && scope.draft.graph.value(id).doc.empty()) scope.draft.graph.value(id).doc = info.doc_string();
  }
}

class Reader {
 public:
  Reader(ModelProto& model, const ModelSource& source)
      : model_(model), functions_(model), ignored_(source.ignored), files_(source) {}

  Graph read() {
    const Opsets opsets = read_opsets(model_.opset_import());
    Draft draft;
    Scope scope{draft, nullptr, onnx_opset(opsets), "", "", nullptr, {}};
    Graph& graph = draft.graph;
    graph.source_opsets = opsets;
    graph.source_opsets.try_emplace("", scope.opset);
    graph.producer = model_.producer_name();
    if (!model_.producer_version().empty()) graph.producer += " " + model_.producer_version();
    for (const StringStringEntryProto& entry : model_.metadata_props())
      graph.metadata.emplace_back(entry.key(), entry.value());
    read_graph(*model_.mutable_graph(), scope);
    if (graph.doc.empty()) graph.doc = model_.doc_string();
    for (ValueId id : graph.inputs) require_tensor(graph.value(id), model_.graph().input(), "input");
    for (ValueId id : graph.outputs) require_tensor(graph.value(id), model_.graph().output(), "output");
    return std::move(graph);
  }

 private:
  void read_graph(GraphProto& proto, Scope& scope) {
    Graph& graph = scope.draft.graph;
    graph.name = proto.name();
    graph.doc = proto.doc_string();
    for (TensorProto& tensor : *proto.mutable_initializer()) {
      read_initializer(scope, tensor.name(), read_tensor(tensor, files_));
      release_payload(tensor);
    }
    for (SparseTensorProto& tensor : *proto.mutable_sparse_initializer()) {
      read_initializer(scope, tensor.values().name(), read_sparse_tensor(tensor, files_));
    }
    for (const ValueInfoProto& input : proto.input()) {
      const bool fresh = scope.values.count(input.name()) == 0;
      const ValueId id = declare(scope, input.name(), read_type(input.type()));
      if (graph.value(id).constant) continue;  // an initializer listed as an input too: its default counts
      if (!fresh) fail_malformed("input '", input.name(), "' is given twice");
      graph.inputs.push_back(id);
      graph.value(id).doc = input.doc_string();
    }
    declare_outputs(scope, proto.node());
    read_value_infos(scope, proto.output());
    read_value_infos(scope, proto.value_info());
    for (NodeProto& node : *proto.mutable_node()) read_node(node, scope);
    for (const ValueInfoProto& output : proto.output()) {
      const std::optional<ValueId> id = resolve(scope, output.name());
      if (!id) fail_malformed("graph output '", output.name(), "' is not produced");
      graph.outputs.push_back(*id);
    }
    std::sort(graph.captures.begin(), graph.captures.end(),
              [&](ValueId a, ValueId b) { return graph.value(a).name < graph.value(b).name; });
    sort_nodes(graph);
    std::vector<Enclosing> around;  // innermost first
    for (const Scope* outer = scope.parent; outer != nullptr; outer = outer->parent)
      around.push_back({outer->draft.graph, nullptr});
    for (size_t i = 0; i + 1 < around.size(); ++i) around[i].outer = &around[i + 1];
    upgrade(graph, scope.draft.opsets, around.empty() ? nullptr : around.data(), ignored_);
    verify(graph);
  }

  void read_node(NodeProto& proto, Scope& scope) {
    Node node;
    node.name = proto.name().empty() ? "" : scope.prefix + proto.name();
    node.op = proto.op_type();
    node.domain = canonical_domain(proto.domain());
    node.doc = proto.doc_string();
    if (!scope.source.empty()) node.sources = {scope.source};
    try {
      if (node.op.empty()) fail_malformed("no operator is named");
      if (node.domain == kInternalDomain)
        fail_malformed("domain '", node.domain, "' is reserved for internal operators");
      for (const std::string& name : proto.input()) node.inputs.push_back(resolve_input(scope, name));
      for (const std::string& name : proto.output()) {
        node.outputs.push_back(name.empty() ? kNoValue : scope.values.at(name));
      }
      if (const FunctionProto* function = functions_.called(proto)) {
        inline_function(*function, proto, node, scope);
        return;
      }
      for (AttributeProto& attribute : *proto.mutable_attribute()) read_attribute(attribute, scope, node);
      if (node.op == "Constant" && node.domain.empty() && node.output(0) != kNoValue) {
        check_attributes(node, scope.opset, ignored_);
        set_constant(scope.draft.graph, node.output(0), constant_of(node));
        return;
      }
    } catch (Error& error) {
      if (starts_with(error.what(), node.label())) throw;
      throw error.within(node.label());
    }
    add_node(scope, std::move(node));
  }

  void read_attribute(AttributeProto& proto, Scope& scope, Node& node) {
    if (proto.has_ref_attr_name()) {
      const AttributeProto* argument = find_argument(proto.ref_attr_name(), scope);
      if (argument == nullptr) return;  // left out by the call and without a default
      if (argument->has_g())
        fail_unsupported("attribute '", proto.name(), "': graphs as function arguments are not supported");
      functions_.spend(1, argument->ByteSizeLong());
      AttributeProto copy = *argument;
      node.attributes[proto.name()] = attribute_value(copy, files_);
    } else if (proto.has_g()) {
      Draft draft;
      Scope inner{draft, &scope, scope.opset, scope.prefix, scope.source, scope.arguments, {}};
      try {
        read_graph(*proto.mutable_g(), inner);
      } catch (Error& error) {
        throw error.within(proto.name());
      }
      node.attributes[proto.name()] = std::make_shared<const Graph>(std::move(draft.graph));
    } else {
      node.attributes[proto.name()] = attribute_value(proto, files_);
    }
  }

  // Puts the function's body into the caller's graph, its values and nodes named "<call>/<name>".
  void inline_function(const FunctionProto& function, const NodeProto& call, const Node& node, Scope& scope) {
    const Functions::Call counted(functions_, function);
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
      fail_malformed("the call has more inputs or outputs than the function");
    }
    const std::string called = !call.name().empty()     ? call.name()
                               : call.output_size() > 0 ? call.output(0)
                                                        : call.op_type();
    const Arguments arguments = function_arguments(function, call, node, scope, ignored_);
    Scope inner{scope.draft,
                nullptr,
                onnx_opset(read_opsets(function.opset_import())),
                scope.prefix + called + "/",
                scope.source.empty() ? called : scope.source,
                &arguments,
                {}};
    functions_.spend(0, function.ByteSizeLong() + 2 * inner.prefix.size() * static_cast<size_t>(function.node_size()));
    for (int i = 0; i < function.input_size(); ++i) inner.values[function.input(i)] = node.input(i);
    std::vector<std::pair<std::string, ValueId>> passed_through;  // outputs that are inputs, or given twice
    for (int i = 0; i < function.output_size(); ++i) {
      const ValueId actual = node.output(i);
      if (actual == kNoValue) continue;
      if (!inner.values.try_emplace(function.output(i), actual).second)
        passed_through.emplace_back(function.output(i), actual);
    }
    declare_outputs(inner, function.node());
    read_value_infos(inner, function.value_info());
    for (const NodeProto& body : function.node()) {
      NodeProto copy = body;
      read_node(copy, inner);
    }
    for (const auto& [name, actual] : passed_through) {
      Node identity;
      identity.name = inner.prefix + name;
      identity.op = "Identity";
      identity.inputs = {resolve_input(inner, name)};
      identity.outputs = {actual};
      identity.sources = {inner.source};
      if (identity.inputs[0] == kNoValue)
        fail_malformed("function output '", name, "' is an input that the call leaves out");
      add_node(inner, std::move(identity));
    }
  }

  ModelProto& model_;
  Functions functions_;
  const IgnoredFields& ignored_;
  ExternalFiles files_;
};

}  // namespace

bool sniff(const ModelSource& source) {
  // Fields in front of the graph: number and wire type as ModelProto has them. GraphDef's field 1 is a message, and
  // SavedModel has no field 7, so neither is taken for ONNX.
  ByteReader reader(source.bytes, "model");
  const auto varint = [&]() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = reader.u8();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail_malformed("varint");
  };
  try {
    while (true) {
      const uint64_t tag = varint();
      const uint64_t field = tag >> 3;
      if ((tag & 7) == 2) {
        if (field == 7) return true;
        const bool known = (field >= 2 && field <= 4) || field == 6 || field == 8 || field == 14 || field == 20 ||
                           field == 25 || field == 26;
        if (!known) return false;
        reader.take(varint());
      } else if ((tag & 7) == 0 && (field == 1 || field == 5)) {
        varint();
      } else {
        return false;
      }
    }
  } catch (const Error&) {
    return false;
  }
}

Graph read(const ModelSource& source) {
  if (source.bytes.size() > INT_MAX)
    fail_unsupported("ONNX files end at 2 GiB; larger models keep their weights as external data");
  ModelProto model;
  if (!parse_model(source.bytes, &model)) {
    fail_malformed("damaged or truncated ONNX file (", source.bytes.size(), " bytes)");
  }
  if (!model.has_graph()) fail_malformed("the ONNX file has no graph");
  check_fields(model, source.ignored);
  Graph graph = Reader(model, source).read();
  if (source.onnx_reference) follow_reference(graph);
  return graph;
}

}  // namespace dnn::onnx
