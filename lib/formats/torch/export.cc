// Variables, calls and lists of integers; see export.h.
#include "formats/torch/export.h"

#include <algorithm>

#include "formats/decompose.h"
#include "formats/torch/exports.h"
#include "ops/op.h"

namespace dnn::torch {
namespace {

// Words that mean something to Python or to TorchScript.
constexpr const char* kReserved =
    "False None True and as assert async await break class continue def del elif else except finally for from global "
    "if "
    "import in is lambda nonlocal not or pass raise return try while with yield self torch ops int float bool str "
    "complex "
    "number Tensor List Dict Tuple Optional Union Any Future NoneType Module NamedTuple CONSTANTS annotate "
    "unchecked_cast "
    "uninitialized inf nan infj nanj getattr hasattr isinstance print len range tuple list dict forward __torch__ fork "
    "rpc_async "
    "min max abs all any device builtins";

bool letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The nearest identifier of Python.
std::string identifier(const std::string& name) {
  std::string text;
  for (char c : name) {
    if (letter_or_digit(c)) {
      text += c;
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  if (text.find_first_not_of('_') == std::string::npos) text = "value";
  if (text[0] >= '0' && text[0] <= '9') text.insert(0, "_");
  return text;
}

}  // namespace

Builder::Builder(const Graph& graph) : graph_(graph), held_(held_constants(graph)) {
  Graph copy = graph;
  known_ = infer_known_values(copy);
  for (const std::string& word : split(kReserved, ' ')) names_.insert(word);
  for (ValueId v : graph.inputs) {
    const Value& value = graph.value(v);
    if (!value.type.shape) fail_unsupported("input ", quoted(value.name), ": its rank is not known");
    set(v, add(value.name, value.type));
    program_.inputs.push_back(vars_of_.at(v));
  }
}

std::string Builder::unused_name(const std::string& wanted) {
  const std::string base = identifier(wanted);
  std::string name = base;
  for (int i = 1; !names_.insert(name).second; ++i) name = cat(base, "_", i);
  return name;
}

VarId Builder::add_var(const std::string& wanted_name, Kind kind) {
  Var var;
  var.name = unused_name(wanted_name);
  var.kind = kind;
  program_.vars.push_back(std::move(var));
  return static_cast<VarId>(program_.vars.size()) - 1;
}

VarId Builder::add(const std::string& wanted_name, Type type) {
  const VarId id = add_var(wanted_name, Kind::Tensor);
  program_.vars.back().type = std::move(type);
  return id;
}

VarId Builder::add_integer(const std::string& wanted_name, std::string extent) {
  const VarId id = add_var(wanted_name, Kind::Int);
  program_.vars.back().extent = std::move(extent);
  return id;
}

VarId Builder::constant(const std::string& wanted_name, const Tensor& value) {
  scalar_type(value.dtype());
  const VarId id = add("c_" + wanted_name, Type(value));
  Var& var = program_.vars.back();
  var.role = Role::Constant;
  var.key = var.name;
  var.tensor = value;
  return id;
}

VarId Builder::var(ValueId v) {
  const auto at = vars_of_.find(v);
  if (at != vars_of_.end()) return at->second;
  const Value& value = graph_.value(v);
  if (const auto held = held_.find(v); held != held_.end() && held->second.role != Role::Constant) {
    const Held& h = held->second;
    scalar_type(h.tensor.dtype());
    const VarId id = add((h.role == Role::Parameter ? "p_" : "b_") + h.key, Type(h.tensor));
    Var& var = program_.vars.back();
    var.role = h.role;
    var.key = h.key;
    var.tensor = h.tensor;
    return vars_of_[v] = id;
  }
  if (value.constant) return vars_of_[v] = constant(value.name, *value.constant);
  if (const Tensor& known = known_[v]; known.defined()) return vars_of_[v] = constant(value.name, known);
  const auto list = items_of_.find(v);
  if (list == items_of_.end()) fail_internal("value ", quoted(value.name), " has no variable");
  std::vector<VarId> elements;
  for (const Item& item : list->second) {
    elements.push_back(add(value.name, Type(DType::Int64, {})));
    call("scalar_tensor", {item, DType::Int64}, {elements.back()});
  }
  VarId id = elements.empty() ? constant(value.name, Tensor(DType::Int64, {0})) : elements[0];
  if (!elements.empty() && !(value.type.shape && value.type.shape->empty())) {
    id = add(value.name, Type(DType::Int64, {Dim(static_cast<int64_t>(elements.size()))}));
    call("stack", {elements, number(0)}, {id});
  }
  return vars_of_[v] = id;
}

std::optional<Items> Builder::items(ValueId v) {
  const auto at = items_of_.find(v);
  if (at != items_of_.end()) return at->second;
  const Tensor* value = graph_.constant(v);
  if (value == nullptr && known_[v].defined()) value = &known_[v];
  constexpr int64_t kLongest = 4096;
  if (value == nullptr || !is_integer(value->dtype()) || value->rank() > 1 || value->size() > kLongest)
    return std::nullopt;
  const std::vector<int64_t> numbers = to_int64s(*value);
  return Items(numbers.begin(), numbers.end());
}

void Builder::call(std::string_view op, std::vector<Arg> args, std::vector<VarId> outputs, bool list) {
  const Signature& signature = find_signature(op);
  DNN_CHECK(args.size() <= signature.arguments.size());
  while (!args.empty() && std::holds_alternative<std::monostate>(args.back())) args.pop_back();  // their default
  program_.calls.push_back({&signature, std::move(args), std::move(outputs), list});
}

std::string Builder::symbol(const Dim& dim) {
  for (const auto& [model, own] : program_.symbols) {
    if (!dim.symbol.empty() && model == dim.symbol) return own;
  }
  program_.symbols.emplace_back(dim.symbol, cat("s", program_.symbols.size()));
  return program_.symbols.back().second;
}

Item Builder::extent(VarId tensor_var, int64_t axis) {
  const Type& type = program_.var(tensor_var).type;
  const Dim dim = type.shape ? type.shape->at(axis) : Dim();
  if (dim.fixed()) return dim.size;
  const auto key = std::pair(tensor_var, axis);
  const auto at = extents_.find(key);
  if (at != extents_.end()) return at->second;
  const std::string name = cat(program_.var(tensor_var).name, "_size_", axis);
  const VarId id = add_integer(name, symbol(dim));
  call("sym_size.int", {tensor(tensor_var), number(axis)}, {id});
  return extents_.emplace(key, Item::of(id)).first->second;
}

std::string Builder::extent_text(const Item& item) const {
  return item.fixed() ? cat(item.number) : program_.var(item.var).extent;
}

Dim Builder::dim(const Item& item) const {
  if (item.fixed()) return {item.number};
  for (const auto& [model, own] : program_.symbols) {
    if (own == program_.var(item.var).extent && !model.empty()) return Dim(model);
  }
  return {};
}

Item Builder::arithmetic(const std::string& op, const Item& a, const Item& b) {
  if (a.fixed() && b.fixed()) {
    constexpr int64_t kLimit = int64_t{1} << 31;
    const int64_t x = a.number, y = b.number;
    if (std::max(std::abs(x), std::abs(y)) > kLimit) fail_unsupported("an extent computed from ", x, " and ", y);
    if (op == "add") return x + y;
    if (op == "sub") return x - y;
    if (op == "mul") return x * y;
    if (y != 0 && x >= 0 && y > 0) return x / y;
    fail_unsupported("an extent of ", x, " divided by ", y);
  }
  if (op == "mul" && a == Item(1)) return b;
  if ((op == "mul" || op == "floordiv") && b == Item(1)) return a;
  const char* sign = op == "add" ? "+" : op == "sub" ? "-" : op == "mul" ? "*" : "//";
  const VarId id = add_integer("extent", cat("(", extent_text(a), ")", sign, "(", extent_text(b), ")"));
  call(op + ".", {a, b}, {id});
  return Item::of(id);
}

bool Builder::known(const Node& node) const {
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
    return v == kNoValue || (known_[v].defined() && !is_float(graph_.value(v).type.dtype));
  });
}

Program Builder::finish() {
  for (ValueId v : graph_.outputs) program_.outputs.push_back(var(v));
  return std::move(program_);
}

const Tensor& Export::known(size_t i, const char* what) const {
  if (const Tensor* value = constant(i)) return *value;
  refuse("its ", what, " is computed, not constant");
}

Items Export::items(size_t i, const char* what) {
  if (std::optional<Items> items = builder_.items(node_.inputs[i])) return *items;
  refuse("its ", what, " is computed from data");
}

std::vector<int64_t> Export::known_ints(size_t i, const char* what) {
  std::vector<int64_t> numbers;
  for (const Item& item : items(i, what)) {
    if (!item.fixed()) refuse("its ", what, " depends on open extents; fix them with --shape");
    numbers.push_back(item.number);
  }
  return numbers;
}

std::optional<double> Export::scalar(size_t i) const {
  const Tensor* value = constant(i);
  if (value == nullptr || value->size() != 1 || value->dtype() == DType::Bool) return std::nullopt;
  if (!is_float(value->dtype()) && !is_integer(value->dtype())) return std::nullopt;
  constexpr int64_t kExact = int64_t{1} << 53;
  if (is_integer(value->dtype()) && std::abs(to_int64s(*value)[0]) > kExact) return std::nullopt;
  return to_doubles(*value)[0];
}

namespace {
std::vector<int64_t> extents(const Export& e, const Type& type) {
  if (!type.shape) e.refuse("a rank is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}
}  // namespace

std::vector<int64_t> Export::shape(size_t i) const { return extents(*this, type(i)); }
std::vector<int64_t> Export::output_shape(size_t i) const { return extents(*this, output_type(i)); }

int64_t Export::axis(const char* name, int64_t fallback) const {
  const int64_t axis = node_.attribute_int(name, fallback);
  return axis < 0 ? axis + rank(0) : axis;
}

VarId Export::step(std::string_view op, std::vector<Arg> args, const char* what, Type type) {
  const VarId id = builder_.add(name(what), std::move(type));
  builder_.call(op, std::move(args), {id});
  return id;
}

VarId Export::output(size_t i) {
  if (node_.output(i) == kNoValue) return builder_.add(cat(graph().value(node_.outputs[0]).name, "_", i), Type());
  const Value& value = graph().value(node_.outputs[i]);
  const VarId id = builder_.add(value.name, value.type);
  builder_.set(node_.outputs[i], id);
  return id;
}

void Export::define(std::string_view op, std::vector<Arg> args) {
  const VarId id = output();
  builder_.call(op, std::move(args), {id});
}

void Export::define_many(std::string_view op, std::vector<Arg> args, bool list) {
  std::vector<VarId> outputs;
  for (size_t i = 0; i < node_.outputs.size(); ++i) outputs.push_back(output(i));
  builder_.call(op, std::move(args), std::move(outputs), list);
}

void Export::define_items(Items items) { builder_.set_items(node_.outputs[0], std::move(items)); }

const std::vector<ExportRow>& export_rows() {
  static const std::vector<ExportRow> rows = {
#define DNN_TORCH_EXPORT(op, function) {#op, function},
#include "formats/torch/exports.def"
  };
  return rows;
}

namespace {

const ExportRow* row_of(const Node& node) {
  const auto row = std::find_if(export_rows().begin(), export_rows().end(),
                                [&](const ExportRow& r) { return node.domain.empty() && node.op == r.op; });
  return row == export_rows().end() ? nullptr : &*row;
}

}  // namespace

Program to_program(const Graph& source) {
  Graph graph = source;
  infer_types(graph);
  decompose(graph, [](const Node& node) {
    if (node.op == "NonMaxSuppression") return true;  // refused by its own name
    return row_of(node) != nullptr && !makes_places(node);
  });
  Builder builder(graph);
  const std::map<NodeId, Dense> dense = dense_layers(graph);
  std::set<NodeId> done;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (builder.known(node) || done.count(id) != 0) continue;
    if (const auto layer = dense.find(id); layer != dense.end()) {
      const auto& [weight, bias, add] = layer->second;
      Export context(builder, add < 0 ? node : graph.node(add));
      context.define("linear", {tensor(builder.var(node.inputs[0])), tensor(builder.var(weight)),
                                bias == kNoValue ? none() : tensor(builder.var(bias))});
      if (add >= 0) done.insert(add);
      continue;
    }
    const ExportRow* row = row_of(node);
    if (row == nullptr)
      fail_unsupported(node.label(), " has no counterpart in PyTorch that can be written", way_out(graph, node));
    Export context(builder, node);
    row->write(context);
  }
  return builder.finish();
}

}  // namespace dnn::torch
