// ModelProto to Graph: names resolved across subgraphs, functions inlined, initializers and Constant nodes as constants.
#include <algorithm>
#include <climits>
#include <unordered_map>
#include <unordered_set>

#include <schemas/onnx.pb.h>

#include "base/text.h"
#include "formats/onnx/attribute_proto.h"
#include "formats/onnx/fields.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/reference.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/onnx/upgrade.h"
#include "formats/wire/proto.h"
#include "ops/attributes.h"

namespace dnn::onnx {
namespace {

// What inlining may add: a few hundred bytes of nested functions can otherwise ask for 2^n nodes.
constexpr int64_t kMaxInlinedNodes = 50'000;
constexpr size_t kMaxInlinedBytes = size_t{512} << 20;
constexpr int kMaxFunctionDepth = 64;

using Opsets = std::map<std::string, int64_t>;
template <class Proto>
using Repeated = google::protobuf::RepeatedPtrField<Proto>;

std::string canonical_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

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

// A graph while it is read: its names, and the opset that each node is written in.
struct Draft {
  Graph graph;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, ValueId> captured;  // by the name in the enclosing graph
  std::vector<int> opsets;                            // by NodeId

  std::string unused_name(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !names.insert(name).second; ++n) name = cat(wanted, "_", n);
    return name;
  }
};

// What names mean at one place: a graph's own, or a function body's, which lives in its caller's graph.
struct Scope {
  Draft& draft;
  Scope* parent = nullptr;  // of the enclosing graph, for captures; null at the top and in functions
  int opset = 1;
  std::string prefix;                               // of the values and nodes of an inlined function
  std::string source;                               // the source node that calls the function
  const Arguments* arguments = nullptr;             // attributes that a function body may refer to
  std::unordered_map<std::string, ValueId> values;  // kNoValue: an optional argument that the call leaves out
};

class Reader {
 public:
  Reader(ModelProto& model, const ModelSource& source) : model_(model), ignored_(source.ignored), files_(source) {}

  Graph read() {
    const Opsets opsets = read_opsets(model_.opset_import());
    for (const FunctionProto& function : model_.functions()) {
      functions_[function_key(function.domain(), function.name(), function.overload())] = &function;
    }
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
  static std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
    return canonical_domain(domain) + '\0' + name + '\0' + overload;
  }

  // The value of that name in this scope, new if need be; a known type is kept.
  static ValueId declare(Scope& scope, const std::string& name, Type type) {
    Graph& graph = scope.draft.graph;
    auto [found, fresh] = scope.values.try_emplace(name, kNoValue);
    if (fresh) {
      found->second = graph.add_value(scope.draft.unused_name(scope.prefix + name), std::move(type));
    } else if (found->second != kNoValue && graph.value(found->second).type == Type()) {
      graph.value(found->second).type = std::move(type);
    }
    return found->second;
  }

  // The value of that name here or in an enclosing graph, captured all the way down; nothing when there is none.
  static std::optional<ValueId> resolve(Scope& scope, const std::string& name) {
    const auto found = scope.values.find(name);
    if (found != scope.values.end()) return found->second;
    if (scope.parent == nullptr) return {};
    const std::optional<ValueId> outer = resolve(*scope.parent, name);
    if (!outer || *outer == kNoValue) return outer;
    const Value& value = scope.parent->draft.graph.value(*outer);
    Draft& draft = scope.draft;
    auto [captured, fresh] = draft.captured.try_emplace(value.name, kNoValue);
    if (fresh) {
      if (!draft.names.insert(value.name).second) {
        fail_malformed("value '", value.name, "' of the enclosing graph is hidden by another of that name");
      }
      captured->second = draft.graph.add_value(value.name, value.type);
      draft.graph.captures.push_back(captured->second);
    }
    scope.values[name] = captured->second;
    return captured->second;
  }

  static ValueId resolve_input(Scope& scope, const std::string& name) {
    if (name.empty()) return kNoValue;
    const std::optional<ValueId> id = resolve(scope, name);
    if (!id) fail_malformed("input '", name, "' is not produced by any node, input or initializer");
    return *id;
  }

  static void set_constant(Graph& graph, ValueId id, Tensor tensor) {
    Value& value = graph.value(id);
    if (value.constant || graph.is_input(id)) fail_malformed("constant '", value.name, "' is given twice");
    value.type = Type(tensor);
    value.constant = std::move(tensor);
  }

  static void read_initializer(Scope& scope, const std::string& name, Tensor tensor) {
    if (name.empty()) fail_malformed("an initializer has no name");
    set_constant(scope.draft.graph, declare(scope, name, {}), std::move(tensor));
  }

  static void declare_outputs(Scope& scope, const Repeated<NodeProto>& nodes) {
    for (const NodeProto& node : nodes) {
      for (const std::string& output : node.output()) {
        if (!output.empty()) declare(scope, output, {});
      }
    }
  }

  static void read_value_infos(Scope& scope, const Repeated<ValueInfoProto>& infos) {
    for (const ValueInfoProto& info : infos) {
      if (scope.values.count(info.name()) == 0) continue;
      const ValueId id = declare(scope, info.name(), read_type(info.type()));
      if (id != kNoValue && scope.draft.graph.value(id).doc.empty())
        scope.draft.graph.value(id).doc = info.doc_string();
    }
  }

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
      const auto function = functions_.find(function_key(proto.domain(), proto.op_type(), proto.overload()));
      if (function != functions_.end()) {
        inline_function(*function->second, proto, node, scope);
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

  static void add_node(Scope& scope, Node node) {
    scope.draft.graph.add_node(std::move(node));
    scope.draft.opsets.push_back(scope.opset);
  }

  void read_attribute(AttributeProto& proto, Scope& scope, Node& node) {
    if (proto.has_ref_attr_name()) {
      const AttributeProto* argument = find_argument(proto.ref_attr_name(), scope);
      if (argument == nullptr) return;  // left out by the call and without a default
      if (argument->has_g())
        fail_unsupported("attribute '", proto.name(), "': graphs as function arguments are not supported");
      spend(1, argument->ByteSizeLong());
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

  static const AttributeProto* find_argument(const std::string& name, const Scope& scope) {
    if (scope.arguments == nullptr) fail_malformed("attribute '", name, "' is referred to outside a function");
    const auto found = scope.arguments->find(name);
    return found == scope.arguments->end() ? nullptr : found->second;
  }

  void spend(int64_t n_nodes, size_t n_bytes) {
    inlined_nodes_ += n_nodes;
    inlined_bytes_ += n_bytes;
    if (inlined_nodes_ > kMaxInlinedNodes || inlined_bytes_ > kMaxInlinedBytes) {
      fail_unsupported("inlining the model's functions makes more than ", kMaxInlinedNodes, " nodes or ",
                       kMaxInlinedBytes, " bytes");
    }
  }

  // Nodes that the body becomes, calls within it inlined; counted before any is made.
  int64_t inlined_size(const FunctionProto& function, int depth) {
    if (depth > kMaxFunctionDepth) {
      fail_malformed("functions nest deeper than ", kMaxFunctionDepth, ", or call themselves");
    }
    const auto [known, fresh] = inlined_sizes_.try_emplace(&function, 0);
    if (!fresh && known->second > 0) return known->second;
    int64_t n = 1;
    for (const NodeProto& node : function.node()) {
      const auto called = functions_.find(function_key(node.domain(), node.op_type(), node.overload()));
      n += called == functions_.end() ? 1 : inlined_size(*called->second, depth + 1);
      if (n > kMaxInlinedNodes) n = kMaxInlinedNodes + 1;
    }
    inlined_sizes_[&function] = n;
    return n;
  }

  // Puts the function's body into the caller's graph, its values and nodes named "<call>/<name>".
  void inline_function(const FunctionProto& function, const NodeProto& call, const Node& node, Scope& scope) {
    if (function_depth_ == 0) {
      spend(inlined_size(function, 1), 0);
    } else if (function_depth_ >= kMaxFunctionDepth) {
      fail_malformed("functions nest deeper than ", kMaxFunctionDepth, ", or call themselves");
    }
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
      fail_malformed("the call has more inputs or outputs than the function");
    }
    const std::string called = !call.name().empty()     ? call.name()
                               : call.output_size() > 0 ? call.output(0)
                                                        : call.op_type();
    Arguments arguments;
    for (const AttributeProto& attribute : function.attribute_proto()) arguments[attribute.name()] = &attribute;
    const auto takes = [&](const std::string& name) {
      return arguments.count(name) != 0 ||
             std::find(function.attribute().begin(), function.attribute().end(), name) != function.attribute().end();
    };
    for (const AttributeProto& attribute : call.attribute()) {
      if (!takes(attribute.name()) && !is_ignored(ignored_, node.op, attribute.name()))
        fail_unknown_attribute(node, attribute.name(), {function.attribute().begin(), function.attribute().end()});
      const AttributeProto* argument =
          attribute.has_ref_attr_name() ? find_argument(attribute.ref_attr_name(), scope) : &attribute;
      if (argument != nullptr) arguments[attribute.name()] = argument;
    }
    Scope inner{scope.draft,
                nullptr,
                onnx_opset(read_opsets(function.opset_import())),
                scope.prefix + called + "/",
                scope.source.empty() ? called : scope.source,
                &arguments,
                {}};
    spend(0, function.ByteSizeLong() + 2 * inner.prefix.size() * static_cast<size_t>(function.node_size()));
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
    ++function_depth_;
    for (const NodeProto& body : function.node()) {
      NodeProto copy = body;
      read_node(copy, inner);
    }
    --function_depth_;
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
  const IgnoredFields& ignored_;
  ExternalFiles files_;
  std::map<std::string, const FunctionProto*> functions_;
  std::map<const FunctionProto*, int64_t> inlined_sizes_;
  int function_depth_ = 0;
  int64_t inlined_nodes_ = 0;
  size_t inlined_bytes_ = 0;
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
