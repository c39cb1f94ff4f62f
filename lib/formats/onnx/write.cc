// Graph to ModelProto: nodes in their form of the asked opset, constants as initializers or external data.
#include <algorithm>
#include <climits>
#include <functional>
#include <optional>
#include <set>

#include <schemas/onnx.pb.h>

#include "base/version.h"
#include "formats/onnx/attribute_proto.h"
#include "formats/onnx/downgrade.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/qoperator.h"
#include "formats/onnx/reference.h"
#include "formats/onnx/tensor_proto.h"
#include "layout/channels_first.h"
#include "ops/op.h"
#include "ops/window.h"

namespace dnn::onnx {
namespace {

constexpr const char* kDataSuffix = ".data";
constexpr uint64_t kExternalFrom = 1024;                     // smaller constants stay in the model file
constexpr uint64_t kSingleFileBytes = uint64_t{2000} << 20;  // protobuf ends at 2 GiB

// Where a constant's bytes go: into its TensorProto, or elsewhere.
using Store = std::function<void(const Tensor& tensor, TensorProto* proto)>;

int lowest_ir_version(int opset) {
  static constexpr std::pair<int, int> kFirstOpset[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9},
                                                        {15, 8},  {12, 7},  {11, 6},  {10, 5},  {9, 4}};
  for (const auto& [first, version] : kFirstOpset) {
    if (opset >= first) return version;
  }
  return 3;
}

int lowest_ir_version(DType dtype) {
  switch (dtype) {
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ: return 9;
    case DType::UInt4:
    case DType::Int4: return 10;
    case DType::Float4E2M1: return 11;
    case DType::Float8E8M0: return 12;
    case DType::UInt2:
    case DType::Int2: return 13;
    case DType::Float6E2M3:
    case DType::Float6E3M2: return 14;
    default: return 3;
  }
}

void write_type(const Type& type, TypeProto* proto) {
  TypeProto::Tensor* tensor = proto->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type.dtype));
  if (!type.shape) return;
  TensorShapeProto* shape = tensor->mutable_shape();
  for (const Dim& dim : *type.shape) {
    TensorShapeProto::Dimension* extent = shape->add_dim();
    if (dim.fixed()) {
      extent->set_dim_value(dim.size);
    } else if (!dim.symbol.empty()) {
      extent->set_dim_param(dim.symbol);
    }
  }
}

class GraphWriter {
 public:
  GraphWriter(const Store& store, std::map<std::string, int64_t>& domains, int ir_version)
      : store_(store), domains_(domains), ir_version_(ir_version) {}

  // `types`: the graph whose values' types are declared, by id; ids beyond it get none.
  void write(const Graph& graph, const Graph& types, GraphProto* proto, bool top) {
    if (!graph.name.empty() || top) proto->set_name(graph.name.empty() ? "graph" : graph.name);
    if (!graph.doc.empty()) proto->set_doc_string(graph.doc);
    std::vector<bool> declared(graph.value_count(), false);
    const auto type_of = [&](ValueId id) -> const Type& {
      static const Type kUnknown;
      return id < types.value_count() ? types.value(id).type : kUnknown;
    };
    const auto declare = [&](ValueId id, const Type& type, ValueInfoProto* info) {
      declared[id] = true;
      info->set_name(graph.value(id).name);
      if (!graph.value(id).doc.empty()) info->set_doc_string(graph.value(id).doc);
      if (type.dtype != DType::Undefined) write_type(type, info->mutable_type());
    };
    for (ValueId id : graph.inputs) declare(id, type_of(id), proto->add_input());
    for (ValueId id : graph.captures) declared[id] = true;
    const auto constant = [&](ValueId id) {
      if (id == kNoValue || declared[id] || graph.constant(id) == nullptr) return;
      if (graph.value(id).name.empty()) fail_unsupported("a constant without a name cannot be written");
      if (ir_version_ < 4 && top) declare(id, graph.value(id).type, proto->add_input());
      declared[id] = true;
      TensorProto* tensor = proto->add_initializer();
      tensor->set_name(graph.value(id).name);
      if (!graph.value(id).doc.empty()) tensor->set_doc_string(graph.value(id).doc);
      store_(*graph.constant(id), tensor);
    };
    std::vector<ValueId> produced;
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      for (ValueId value : node.inputs) constant(value);
      for (ValueId value : captured_values(graph, node)) constant(value);
      write_node(graph, types, id, proto->add_node());
      if (has_type_of_input(graph, types, node)) continue;
      for (ValueId value : node.outputs) {
        if (value != kNoValue) produced.push_back(value);
      }
    }
    for (ValueId id : graph.outputs) {
      constant(id);
      const Type& type = type_of(id).dtype != DType::Undefined ? type_of(id) : graph.value(id).type;
      if (top && type.dtype == DType::Undefined)
        fail_unsupported("the element type of graph output '", graph.value(id).name, "' is not known");
      declare(id, type, proto->add_output());
    }
    for (ValueId id : produced) {
      const bool worth = type_of(id).dtype != DType::Undefined || !graph.value(id).doc.empty();
      if (!declared[id] && worth) declare(id, type_of(id), proto->add_value_info());
    }
  }

 private:
  void write_node(const Graph& graph, const Graph& types, NodeId id, NodeProto* proto) {
    const Node& node = graph.node(id);
    if (node.domain == kInternalDomain) fail_unsupported(node.label(), ": ONNX has no such operator");
    const auto name_of = [&](ValueId value) { return value == kNoValue ? std::string() : graph.value(value).name; };
    for (ValueId value : node.inputs) proto->add_input(name_of(value));
    for (ValueId value : node.outputs) proto->add_output(name_of(value));
    if (!node.name.empty()) proto->set_name(unused_name(node.name));
    proto->set_op_type(node.op);
    if (!node.domain.empty()) proto->set_domain(node.domain);
    if (!node.doc.empty()) proto->set_doc_string(node.doc);
    if (!node.domain.empty()) domains_.try_emplace(node.domain, 1);
    for (const auto& [key, value] : node.attributes) {
      AttributeProto* attribute = proto->add_attribute();
      write_attribute(key, value, attribute);
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value)) {
        attribute->mutable_g()->set_name(key);  // the checker wants one
        write(**body, declared_types(types, id, key, **body), attribute->mutable_g(), false);
      }
    }
  }

  // Of quantisers in files made for small devices, where a declared value costs as much as its numbers.
  static bool has_type_of_input(const Graph& graph, const Graph& types, const Node& node) {
    if (node.op != "QuantizeLinear" && node.op != "DequantizeLinear") return false;
    const ValueId from = node.input(0);
    return from != kNoValue &&
           (graph.constant(from) != nullptr || (from < types.value_count() && types.value(from).type.shape));
  }

  // ONNX Runtime wants every node's name once.
  std::string unused_name(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !node_names_.insert(name).second; ++n) name = cat(wanted, "_", n);
    return name;
  }

  // The body as it was before downgrading, where the node is an original one.
  static const Graph& declared_types(const Graph& types, NodeId id, const std::string& key, const Graph& fallback) {
    if (id >= types.node_slots()) return fallback;
    const auto found = types.node(id).attributes.find(key);
    if (found == types.node(id).attributes.end()) return fallback;
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&found->second);
    return body == nullptr ? fallback : **body;
  }

  const Store& store_;
  std::map<std::string, int64_t>& domains_;
  int ir_version_;
  std::set<std::string> node_names_;
};

// What the values' types say, and what they imply; a contradiction leaves the rest unknown.
void try_infer_types(Graph& graph) {
  try {
    infer_types(graph);
  } catch (const Error&) {
    return;
  }
}

// The graph in the opset that is asked for, or where that may be newer in the first one that can say it; that one is returned.
int to_opset(Graph& graph, const WriteOptions& options) {
  std::optional<Error> refusal;
  for (int opset = options.opset; opset <= kIrOpset; ++opset) {
    Graph work = graph;
    try {
      downgrade(work, opset, nullptr);
      graph = std::move(work);
      return opset;
    } catch (const Error& error) {
      if (!options.newer_opset || error.kind() != ErrorKind::Unsupported) throw;
      if (!refusal) refusal = error;
    }
  }
  throw Error(*refusal);
}

// SAME by numbers where windows are spread, or narrower than their steps: ONNX Runtime 1.31.1 refuses the rule there.
void spell_out_pads(Graph& graph) {
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || node.op == "ConvTranspose" || !takes_attribute(node, "auto_pad") || node.inputs.empty())
      continue;
    const Type& type = graph.value(node.inputs[0]).type;
    if (!starts_with(string_attribute(node, "auto_pad"), "SAME") || !type.shape || type.shape->size() < 3) continue;
    std::vector<int64_t> image;
    for (size_t i = 2; i < type.shape->size(); ++i) image.push_back((*type.shape)[i].size);
    if (std::any_of(image.begin(), image.end(), [](int64_t extent) { return extent < 0; })) continue;
    std::vector<int64_t> kernel = ints_attribute(node, "kernel_shape");
    if (const Tensor* weights = graph.constant(node.input(1)); kernel.empty() && weights != nullptr)
      kernel.assign(weights->shape().begin() + 2, weights->shape().end());
    if (kernel.size() != image.size()) continue;
    const Window window = Window::of(node, image, kernel);
    bool spelt = false;
    for (size_t i = 0; i < window.rank(); ++i) spelt |= window.dilations[i] > 1 || window.kernel[i] < window.strides[i];
    if (!spelt) continue;
    std::vector<int64_t> pads = window.pad_begin;
    pads.insert(pads.end(), window.pad_end.begin(), window.pad_end.end());
    node.attributes.erase("auto_pad");
    node.attributes["pads"] = pads;
  }
}

ModelProto to_proto(const Graph& graph, const WriteOptions& options, const Store& store) {
  if (options.opset < 7 || options.opset > kIrOpset) {
    fail_usage("opset ", options.opset, " cannot be written: 7 to ", kIrOpset, " can");
  }
  Graph work = graph;
  use_onnx_names(work);
  try_infer_types(work);
  spell_out_pads(work);
  if (options.qoperator) to_qoperator(work);
  const int opset = to_opset(work, options);
  verify(work);
  int needed = lowest_ir_version(opset);
  for (ValueId id = 0; id < work.value_count(); ++id)
    needed = std::max(needed, lowest_ir_version(work.value(id).type.dtype));
  const int ir_version = options.ir_version != 0 ? options.ir_version : std::max(8, needed);
  if (ir_version < needed || ir_version > 14)
    fail_unsupported("opset ", opset, " and the model's types need IR version ", needed, " to 14, not ", ir_version);
  ModelProto model;
  model.set_ir_version(ir_version);
  model.set_producer_name("dnn-tools");
  model.set_producer_version(version());
  for (const auto& [key, text] : graph.metadata) {
    StringStringEntryProto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(text);
  }
  std::map<std::string, int64_t> domains;
  GraphWriter(store, domains, ir_version).write(work, graph, model.mutable_graph(), true);
  domains[""] = opset;
  for (const auto& [domain, written] : domains) {
    OperatorSetIdProto* import = model.add_opset_import();
    import->set_domain(domain);
    const auto known = graph.source_opsets.find(domain);
    import->set_version(domain.empty() || known == graph.source_opsets.end() ? written : known->second);
  }
  return model;
}

uint64_t constant_bytes(const Graph& graph) {
  uint64_t n = 0;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (const Tensor* tensor = graph.constant(id); tensor != nullptr && tensor->dtype() != DType::String)
      n += packed_size(tensor->dtype(), tensor->size());
  }
  return n;
}

// Bytes of constants from this size on are appended to the file where protobuf would copy them into its message first.
constexpr uint64_t kAppendFrom = uint64_t{64} << 10;

void append_varint(std::string& out, uint64_t number) {
  for (; number >= 128; number >>= 7) out += static_cast<char>(number | 128);
  out += static_cast<char>(number);
}

uint64_t field_size(uint64_t length) {  // of a field below 16, tag and length included
  std::string varint;
  append_varint(varint, length);
  return 1 + varint.size() + length;
}

// A field of bytes; what follows is `length` bytes.
void append_field(std::string& out, int field, uint64_t length) {
  out += static_cast<char>(field << 3 | 2);
  append_varint(out, length);
}

using Large = std::map<TensorProto*, Tensor>;

// The model with the raw data of `large` initializers of its graph, which lack it: the graph last, they last in it.
Content serialized(ModelProto& model, const Large& large) {
  GraphProto graph;
  graph.Swap(model.mutable_graph());
  model.clear_graph();
  google::protobuf::RepeatedPtrField<TensorProto> tensors;
  tensors.Swap(graph.mutable_initializer());
  std::map<const TensorProto*, const Tensor*> appended;
  for (TensorProto& proto : tensors) {
    if (const auto found = large.find(&proto); found != large.end()) appended[&proto] = &found->second;
  }
  for (const auto& [proto, tensor] : large) {  // those of subgraphs
    if (appended.count(proto) == 0) proto->set_raw_data(packed_bytes(tensor));
  }
  const auto size_of = [&](const TensorProto& proto) {
    const auto found = appended.find(&proto);
    return proto.ByteSizeLong() + (found == appended.end() ? 0 : field_size(found->second->size_bytes()));
  };
  uint64_t graph_size = graph.ByteSizeLong();
  for (const TensorProto& proto : tensors) graph_size += field_size(size_of(proto));
  const uint64_t size = model.ByteSizeLong() + field_size(graph_size);
  if (size > INT_MAX) fail_unsupported("an ONNX file ends at 2 GiB, which the model's attributes exceed");
  Content file;
  std::string text;
  model.AppendToString(&text);
  append_field(text, ModelProto::kGraphFieldNumber, graph_size);
  graph.AppendToString(&text);
  for (const TensorProto& proto : tensors) {
    append_field(text, GraphProto::kInitializerFieldNumber, size_of(proto));
    proto.AppendToString(&text);
    const auto found = appended.find(&proto);
    if (found == appended.end()) continue;
    append_field(text, TensorProto::kRawDataFieldNumber, found->second->size_bytes());
    file.append(text);
    text.clear();
    found->second->append_to(file);
  }
  file.append(text);
  DNN_CHECK(file.size() == size);
  return file;
}

}  // namespace

ModelFiles to_files(const Graph& source, const WriteOptions& options) {
  Graph graph = source;
  to_channels_first(graph);
  const bool external = options.external_data || constant_bytes(graph) > kSingleFileBytes;
  Content data;
  Large large;
  const Store store = [&](const Tensor& tensor, TensorProto* proto) {
    if (!external && tensor.dtype() != DType::String && dtype_bits(tensor.dtype()) % 8 == 0 &&
        tensor.size_bytes() >= kAppendFrom) {
      proto->set_data_type(static_cast<int32_t>(tensor.dtype()));
      for (int64_t extent : tensor.shape()) proto->add_dims(extent);
      large[proto] = tensor;
      return;
    }
    if (!external || tensor.dtype() == DType::String || packed_size(tensor.dtype(), tensor.size()) < kExternalFrom) {
      write_tensor(tensor, proto);
      return;
    }
    const uint64_t length = packed_size(tensor.dtype(), tensor.size());
    const uint64_t alignment = length < size_t{1} << 20 ? 64 : 4096;  // large ones can be mapped on their own
    data.append(std::string((alignment - data.size() % alignment) % alignment, '\0'));
    proto->set_data_type(static_cast<int32_t>(tensor.dtype()));
    for (int64_t extent : tensor.shape()) proto->add_dims(extent);
    proto->set_data_location(1);
    const auto entry = [&](const char* key, const std::string& value) {
      StringStringEntryProto* added = proto->add_external_data();
      added->set_key(key);
      added->set_value(value);
    };
    entry("location", options.file_name + kDataSuffix);
    entry("offset", std::to_string(data.size()));
    entry("length", std::to_string(length));
    if (dtype_bits(tensor.dtype()) % 8 == 0) {
      tensor.append_to(data);
    } else {
      data.append(packed_bytes(tensor));
    }
  };
  ModelProto model = to_proto(graph, options, store);
  ModelFiles files = {{"", serialized(model, large)}};
  if (!data.empty()) files.push_back({kDataSuffix, std::move(data)});
  return files;
}

}  // namespace dnn::onnx
