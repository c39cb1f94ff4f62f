// Rewrite; see rewrite.h.
#include "formats/onnx/rewrite.h"

#include <unordered_map>
#include <utility>

#include "formats/onnx/steps.h"

namespace dnn::onnx {
namespace {

using TypeMask = uint32_t;
constexpr TypeMask bit(DType dtype) { return TypeMask{1} << static_cast<int>(dtype); }

constexpr TypeMask kInt8 = bit(DType::Int8), kUInt8 = bit(DType::UInt8), kInt16 = bit(DType::Int16),
                   kUInt16 = bit(DType::UInt16), kInt32 = bit(DType::Int32), kInt64 = bit(DType::Int64),
                   kUInt32 = bit(DType::UInt32), kUInt64 = bit(DType::UInt64), kFloat16 = bit(DType::Float16),
                   kFloat32 = bit(DType::Float32), kFloat64 = bit(DType::Float64);
constexpr TypeMask kBFloat16s = bit(DType::BFloat16), kNarrowInts = kInt8 | kUInt8 | kInt16 | kUInt16,
                   kWideInts = kInt32 | kInt64 | kUInt32 | kUInt64, kFloats = kFloat16 | kFloat32 | kFloat64,
                   kBools = bit(DType::Bool), kStrings = bit(DType::String),
                   kComplexes = bit(DType::Complex64) | bit(DType::Complex128),
                   kFloat8s = bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) |
                              bit(DType::Float8E5M2FNUZ),
                   kInt4s = bit(DType::Int4) | bit(DType::UInt4), kInt2s = bit(DType::Int2) | bit(DType::UInt2),
                   kFloat4s = bit(DType::Float4E2M1), kFloat6s = bit(DType::Float6E2M3) | bit(DType::Float6E3M2),
                   kScales8 = bit(DType::Float8E8M0);

struct AddedTypes {
  int opset;
  unsigned inputs, outputs;
  TypeMask types;
};

const std::unordered_map<std::string_view, std::vector<AddedTypes>>& added_types() {
  static const auto* table = [] {
    auto* rows = new std::unordered_map<std::string_view, std::vector<AddedTypes>>();
#define DNN_ONNX_TYPES(op, version, inputs, outputs, types) (*rows)[#op].push_back({version, inputs, outputs, types});
#include "formats/onnx/types.def"
    return rows;
  }();
  return *table;
}

}  // namespace

const std::vector<Version>* versions_of(std::string_view op) {
  static const auto* table = [] {
    auto* rows = new std::unordered_map<std::string_view, std::vector<Version>>();
#define DNN_ONNX_VERSION(op, version, up, down) (*rows)[#op].push_back({version, steps::up, steps::down});
#include "formats/onnx/versions.def"
    return rows;
  }();
  const auto found = table->find(op);
  return found == table->end() ? nullptr : &found->second;
}

void check_types(const Rewrite& rewrite, int opset) {
  const auto found = added_types().find(rewrite.node.op);
  if (found == added_types().end()) return;
  for (const AddedTypes& row : found->second) {
    if (row.opset <= opset) continue;
    const auto check = [&](const std::vector<ValueId>& operands, unsigned mask, const char* what) {
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i] == kNoValue || ((mask >> std::min<size_t>(i, 7)) & 1) == 0) continue;
        const DType dtype = rewrite.dtype(operands[i]);
        if (dtype != DType::Undefined && (row.types & bit(dtype)) != 0) {
          rewrite.refuse(what, " ", i, " of type ", dtype_name(dtype), " needs opset ", row.opset, ", not ", opset);
        }
      }
    };
    check(rewrite.node.inputs, row.inputs, "input");
    check(rewrite.node.outputs, row.outputs, "output");
  }
}

std::unordered_set<std::string> value_names(const Graph& graph) {
  std::unordered_set<std::string> names;
  for (ValueId id = 0; id < graph.value_count(); ++id) names.insert(graph.value(id).name);
  return names;
}

Rewrite::Rewrite(Graph& graph, const Enclosing* outer, std::unordered_set<std::string>& names, Node subject,
                 std::function<void()> learn_types)
    : node(std::move(subject)), graph_(graph), outer_(outer), names_(names), learn_types_(std::move(learn_types)) {
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    stem_ = graph.value(id).name;
    break;
  }
}

const Type& Rewrite::type(ValueId id) const {
  const Type& known = graph_.value(id).type;
  if (learn_types_ != nullptr && (known.dtype == DType::Undefined || !known.shape)) {
    const std::function<void()> learn = std::exchange(learn_types_, nullptr);
    learn();
  }
  return graph_.value(id).type;
}

DType Rewrite::dtype(ValueId id) const { return id == kNoValue ? DType::Undefined : type(id).dtype; }

int Rewrite::rank(ValueId id) const {
  return id == kNoValue || !type(id).shape ? -1 : static_cast<int>(type(id).shape->size());
}

int Rewrite::rank_like_output() const {
  const int known = rank(node.input(0));
  return known >= 0 ? known : rank(node.output(0));
}

std::string Rewrite::label() const {
  return node.name.empty() ? cat("node of '", stem_, "' (", node.op, ")") : node.label();
}

bool Rewrite::is_read(ValueId id) const { return graph_.is_output(id) || !Uses(graph_).readers[id].empty(); }

const Tensor* Rewrite::constant(ValueId id) const {
  if (id == kNoValue) return nullptr;
  if (const Tensor* tensor = graph_.constant(id)) return tensor;
  if (std::find(graph_.captures.begin(), graph_.captures.end(), id) == graph_.captures.end()) return nullptr;
  const std::string& name = graph_.value(id).name;
  for (const Enclosing* around = outer_; around != nullptr; around = around->outer) {
    const ValueId there = around->graph.find_value(name);
    if (there == kNoValue) return nullptr;
    if (const Tensor* tensor = around->graph.constant(there)) return tensor;
  }
  return nullptr;
}

std::vector<int64_t> Rewrite::constant_ints(size_t i, std::string_view what) const {
  const Tensor* tensor = constant(node.input(i));
  if (tensor == nullptr) refuse(what, " computed at run time cannot become an attribute");
  return to_int64s(*tensor);
}

ValueId Rewrite::add_value(std::string_view hint, Type type) {
  if (type.dtype == DType::Undefined) type.shape.reset();  // files cannot keep a shape without an element type
  const std::string wanted = cat(stem_, "_", hint);
  std::string name = wanted;
  for (int n = 1; !names_.insert(name).second; ++n) name = cat(wanted, "_", n);
  return graph_.add_value(std::move(name), std::move(type));
}

ValueId Rewrite::add_constant(std::string_view hint, Tensor tensor) {
  const ValueId id = add_value(hint, Type(tensor));
  graph_.value(id).constant = std::move(tensor);
  return id;
}

ValueId Rewrite::add_ints(std::string_view hint, const std::vector<int64_t>& values) {
  return add_constant(hint, Tensor::of({static_cast<int64_t>(values.size())}, values));
}

ValueId Rewrite::add_float(std::string_view hint, double value, ValueId like) {
  const DType wanted = dtype(like);
  if (!is_float(wanted))
    refuse("the element type of '", graph_.value(like).name, "' must be known and floating-point here");
  return add_constant(hint, convert(Tensor::scalar(value), wanted));
}

ValueId Rewrite::add_before(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, Type type) {
  Node added;
  added.op = op;
  added.inputs = std::move(inputs);
  added.attributes = std::move(attributes);
  added.outputs = {add_value(op, std::move(type))};
  added.name = graph_.value(added.outputs[0]).name;
  if (!node.sources.empty()) {
    added.sources = node.sources;
  } else if (!node.name.empty()) {
    added.sources = {node.name};
  }
  before.push_back(std::move(added));
  return before.back().outputs[0];
}

std::pair<ValueId, ValueId> Rewrite::detach_output(std::string_view hint) {
  const ValueId old = node.output(0);
  if (old == kNoValue) malformed("the first output is left out");
  const ValueId fresh = add_value(hint, Type(dtype(old), {}));
  graph_.value(fresh).type.shape.reset();
  node.outputs[0] = fresh;
  return {fresh, old};
}

void Rewrite::add_after(std::string_view op, std::vector<ValueId> inputs, ValueId output, Attributes attributes) {
  Node added;
  added.name = cat(graph_.value(inputs[0]).name, "_", op);
  added.op = op;
  added.inputs = std::move(inputs);
  added.attributes = std::move(attributes);
  added.outputs = {output};
  if (!node.sources.empty()) {
    added.sources = node.sources;
  } else if (!node.name.empty()) {
    added.sources = {node.name};
  }
  after.push_back(std::move(added));
}

void Rewrite::become(std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  replaced = true;
}

void Rewrite::set_input(size_t i, ValueId id) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
  node.inputs[i] = id;
}

}  // namespace dnn::onnx
