// Nodes, constants and names; see export.h.
#include "formats/tensorflow/export.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <climits>

#include "formats/tensorflow/tensor_proto.h"

namespace dnn::tensorflow {
namespace {

bool plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Letters, digits and a few signs; TensorFlow takes no others, and not all of these in front.
std::string legal(const std::string& name) {
  std::string result;
  for (char c : name) {
    const bool sign = c == '_' || c == '.' || c == '/' || c == '-';
    const char taken = plain(c) || sign ? c : '_';
    if (!result.empty() || plain(taken) || taken == '.') result.push_back(taken);
  }
  return result.empty() ? "node" : result;
}

constexpr size_t kApart = size_t{4} << 10;  // bytes of a constant from which on it is not copied

using google::protobuf::io::CodedOutputStream;

// Tag and length of a field of that many bytes.
std::string field_head(uint32_t tag, uint64_t length) {
  std::string head;
  google::protobuf::io::StringOutputStream sink(&head);
  CodedOutputStream stream(&sink);
  stream.WriteTag(tag);
  stream.WriteVarint64(length);
  return head;
}

std::string serialized(const google::protobuf::MessageLite& message) {
  std::string text;
  google::protobuf::io::StringOutputStream sink(&text);
  CodedOutputStream stream(&sink);
  stream.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&stream);
  return text;
}

}  // namespace

File::File(const Graph& graph, bool variables) : graph_(graph), keep_variables_(variables) {
  // The names that inputs and results must have come first. A GraphDef does not list its results: they are the nodes that
  // nothing reads, in the order of the file.
  for (ValueId v : graph.inputs) name_of(v);
  const Uses uses(graph);
  read_.insert(graph.outputs.begin(), graph.outputs.end());
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (!uses.readers[v].empty()) read_.insert(v);
  }
  for (ValueId v : graph.outputs) {
    output_names_.push_back(free_name(graph.value(v).name));
    const NodeId producer = uses.producer[v];
    const bool own = producer >= 0 && graph.node(producer).outputs.size() == 1 && graph.outputs.size() == 1;
    if (!own || !uses.readers[v].empty()) continue;
    leaves_.insert(v);
    names_of_[v] = output_names_.back();
  }
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).outputs) {
      if (v != kNoValue) name_of(v);
    }
    for (ValueId v : graph.node(id).inputs) {
      if (v != kNoValue) name_of(v);
    }
  }
}

std::string File::free_name(const std::string& wanted) {
  const std::string base = legal(wanted);
  std::string name = base;
  for (int& n = suffixes_[base]; !names_.insert(name).second;) name = cat(base, "_", ++n);
  return name;
}

const std::string& File::name_of(ValueId v) {
  const auto [at, fresh] = names_of_.try_emplace(v);
  if (fresh) at->second = free_name(graph_.value(v).name);
  return at->second;
}

Edge File::add(NodeBuilder node) {
  add(serialized(node.def()), {});
  return node.def().name();
}

// A node whose text goes on with the bytes of a tensor.
void File::add(const std::string& text, const Tensor& rest) {
  const uint64_t size = text.size() + (rest.defined() ? rest.size_bytes() : 0);
  if (out_.size() + size > INT_MAX - (1 << 16))
    fail_unsupported("a GraphDef of more than 2 GiB, which TensorFlow cannot read; write a SavedModel");
  out_.append(field_head(0x0a, size) + text);  // GraphDef.node
  if (rest.defined()) rest.append_to(out_);
}

Edge File::constant(const std::string& name, const Tensor& value) { return add_constant(free_name(name), value); }

Edge File::add_constant(const std::string& name, const Tensor& value) {
  NodeBuilder node("Const", name);
  const DataType dtype = type_of(value.dtype());
  node.type("dtype", dtype);
  TensorProto tensor;
  tensor.set_dtype(dtype);
  for (int64_t extent : value.shape()) tensor.mutable_tensor_shape()->add_dim()->set_size(extent);
  tensor.mutable_tensor_shape();
  if (value.dtype() == DType::String) {
    for (const std::string& text : value.strings()) tensor.add_string_val(text);
  } else if (value.size_bytes() < kApart) {
    tensor.set_tensor_content(value.bytes().data(), value.size_bytes());
  } else {  // the same bytes: NodeDef.attr["value"].tensor.tensor_content is the node's last field
    const uint64_t n = value.size_bytes();
    std::string text = serialized(tensor);
    text += field_head(0x22, n);
    text = field_head(0x42, text.size() + n) + text;
    text = field_head(0x12, text.size() + n) + text;
    text = field_head(0x0a, 5) + "value" + text;
    text = serialized(node.def()) + field_head(0x2a, text.size() + n) + text;
    add(text, value);
    return name;
  }
  *node.attr("value").mutable_tensor() = std::move(tensor);
  return add(std::move(node));
}

Edge File::parameter(ValueId v, const Tensor& value) {
  const std::string name = written_.insert(v).second ? name_of(v) : free_name(graph_.value(v).name);
  if (!keep_variables_ || !is_float(value.dtype()) || value.rank() == 0) return add_constant(name, value);
  const DataType dtype = type_of(value.dtype());
  NodeBuilder handle("VarHandleOp", name);
  handle.type("dtype", dtype).text("shared_name", name);
  TensorShapeProto& shape = *handle.attr("shape").mutable_shape();
  for (int64_t extent : value.shape()) shape.add_dim()->set_size(extent);
  add(std::move(handle));
  Edge read =
      add(NodeBuilder("ReadVariableOp", free_name(name + "/Read/ReadVariableOp")).in(name).type("dtype", dtype));
  variables_.push_back({name, read, value, not_trained_.count(v) == 0});
  return read;
}

Edge File::edge(ValueId v) {
  const auto found = edges_.find(v);
  if (found != edges_.end()) return found->second;
  const Tensor* constant = graph_.constant(v);
  DNN_CHECK(constant != nullptr);
  return edges_[v] = parameter(v, *constant);
}

Content File::take() {
  GraphDef tail;
  tail.mutable_versions()->set_producer(
      1882);  // of TensorFlow 2.16; older ones take it as long as they know the operators
  out_.append(tail.SerializeAsString());
  return std::move(out_);
}

DataType Export::dtype(size_t i) const { return type_of(type(i).dtype); }
DataType Export::output_dtype(size_t i) const { return type_of(output_type(i).dtype); }

Edge Export::input(size_t i) {
  if (!has_input(i)) refuse("its input ", i, " is left out");
  return file_.edge(node_.inputs[i]);
}

const Tensor& Export::known(size_t i, const char* what) const {
  if (const Tensor* tensor = constant(i)) return *tensor;
  refuse("its ", what, " is computed, not constant");
}

namespace {
std::vector<int64_t> extents_of(const Export& e, const Type& type) {
  if (!type.shape) e.refuse("a rank is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}
}  // namespace

std::vector<int64_t> Export::shape(size_t i) const { return extents_of(*this, type(i)); }
std::vector<int64_t> Export::output_shape(size_t i) const { return extents_of(*this, output_type(i)); }

Edge Export::ints(const std::vector<int64_t>& values) {
  const Tensor wide = Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
  for (int64_t v : values) {
    if (v < INT_MIN || v > INT_MAX) refuse("an extent of ", v);
  }
  return store("list", convert(wide, DType::Int32));
}

Edge Export::integer(int64_t value) { return store("axis", Tensor::scalar(static_cast<int32_t>(value))); }
Edge Export::number(double value) { return store("number", convert(Tensor::scalar(value), type(0).dtype)); }

Edge Export::store(const std::string& what, const Tensor& value) {
  return file_.constant(cat(file_.name_of(node_.outputs[0]), "/", what), value);
}

NodeBuilder Export::step(const std::string& op, const std::string& what) {
  std::string name = cat(file_.name_of(node_.outputs[0]), "/", what.empty() ? op : what);
  if (what.empty() && !named_ && !node_.name.empty() && node_.name != graph().value(node_.outputs[0]).name) {
    name = node_.name;
    named_ = true;
  }
  return {op, file_.free_name(name)};
}

NodeBuilder Export::last(const std::string& op) { return {op, file_.name_of(node_.outputs[0])}; }

void Export::finish(NodeBuilder node) {
  const Edge edge = add(std::move(node));
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (node_.outputs[i] != kNoValue) file_.bind(node_.outputs[i], i == 0 ? edge : cat(edge, ":", i));
  }
}

}  // namespace dnn::tensorflow
