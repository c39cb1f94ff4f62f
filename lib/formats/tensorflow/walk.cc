// Walking a graph; see walk.h.
#include "formats/tensorflow/walk.h"

#include <algorithm>

#include "formats/tensorflow/export.h"
#include "formats/tensorflow/tensor_proto.h"

namespace dnn::tensorflow {
namespace {

// Functions that call functions could spell out any number of nodes.
constexpr int64_t kMaxNodes = 50'000;
constexpr int kMaxDepth = 64;

bool control(const std::string& ref) { return !ref.empty() && ref[0] == '^'; }

std::string label(const NodeDef& node) { return cat("node '", node.name(), "' (", node.op(), ")"); }

Item because(std::string reason) {
  Item item;
  item.reason = std::move(reason);
  return item;
}

bool passes_on(const std::string& op) {
  static const std::set<std::string> names = {"CheckNumerics",   "EnsureShape", "Identity", "PlaceholderWithDefault",
                                              "PreventGradient", "RefIdentity", "Snapshot", "StopGradient"};
  return names.count(op) != 0;
}

bool is_call(const std::string& op) { return op == "PartitionedCall" || op == "StatefulPartitionedCall"; }

std::string function_of(const NodeFields& fields, const std::string& key) {
  const AttrValue* value = fields.take(key, AttrValue::kFunc);
  if (value == nullptr) fail_malformed("attribute ", key, " names no function");
  return value->func().name();
}

const Item& first_of(const std::vector<Item>& inputs) {
  if (inputs.empty()) fail_malformed("there is no input 0");
  return inputs[0];
}

// The one input that is alive.
Item merged(const std::vector<Item>& inputs) {
  std::vector<Item> alive;
  for (const Item& input : inputs) {
    if (!input.dead) alive.push_back(input);
  }
  if (alive.size() > 1) fail_unsupported("which way comes here is computed; only a constant choice is read");
  return alive.empty() ? first_of(inputs) : alive[0];
}

// Operators that structural() follows, and that do nothing beside.
bool is_structural(const std::string& op) {
  static const std::set<std::string> names = {
      "Const",     "If",       "IdentityN",  "Merge",  "Placeholder", "ReadVariableOp", "RefMerge",
      "RefSwitch", "Variable", "VariableV2", "Switch", "StatelessIf", "VarHandleOp",    "ResourceGather"};
  return names.count(op) != 0 || passes_on(op) || is_call(op);
}

}  // namespace

Body::Body(google::protobuf::RepeatedPtrField<NodeDef>* nodes, bool function) : nodes_(nodes), function_(function) {
  for (int i = 0; i < nodes->size(); ++i) {
    if (!index_.try_emplace(nodes->Get(i).name(), i).second)
      fail_malformed("there are two nodes '", nodes->Get(i).name(), "'");
  }
}

Body::Ref Body::parse(const std::string& text) const {
  const std::vector<std::string> parts = dnn::split(text, ':');
  Ref ref;
  ref.name = parts.empty() ? "" : parts[0];
  const auto found = index_.find(ref.name);
  if (found != index_.end()) ref.node = found->second;
  const bool named = function_ && parts.size() == 3;
  if (parts.size() > 3 || (parts.size() == 3 && !function_)) fail_malformed("input ", quoted(text), " names no output");
  if (named) ref.output = parts[1];
  const std::string last = parts.size() > 1 ? parts.back() : "0";
  if (parts.size() == 2 && function_ && !last.empty() && (last[0] < '0' || last[0] > '9')) {
    ref.output = last;
  } else if (!parse_int(last, &ref.index) || ref.index < 0 || ref.index > 1 << 16) {
    fail_malformed("input ", quoted(text), " names no output");
  }
  return ref;
}

Walk::Walk(Source& source, Surroundings& around, GraphDef& graph)
    : source_(source),
      around_(around),
      graph_(graph.mutable_node(), false),
      top_{graph_, {}, {}, 0},
      budget_(kMaxNodes) {
  for (FunctionDef& function : *graph.mutable_library()->mutable_function())
    functions_[function.signature().name()] = &function;
}

std::vector<Item> Walk::evaluate(const std::vector<std::string>& refs) { return evaluate(top_, refs); }

std::vector<Item> Walk::all_outputs(const std::string& node) {
  const Item first = item(top_, node);
  if (first.value == kNoValue) return {first};
  return top_.results.at(graph_.parse(node).node).outputs;
}

std::vector<Item> Walk::evaluate(Scope& scope, const std::vector<std::string>& refs) {
  std::vector<Item> result;
  for (const std::string& ref : refs) result.push_back(item(scope, ref));
  return result;
}

Item Walk::item(Scope& scope, const std::string& text) {
  const Body::Ref ref = scope.body.parse(text);
  if (ref.node < 0) {
    const auto argument = scope.arguments.find(ref.name);
    if (argument == scope.arguments.end()) fail_malformed("there is no node '", ref.name, "'");
    return argument->second;
  }
  settle(scope, ref.node);
  const Result& result = scope.results.at(ref.node);
  if (result.outputs.empty() && (result.otherwise.dead || !result.otherwise.reason.empty())) return result.otherwise;
  const NodeDef& node = scope.body.node(ref.node);
  const size_t at = output_base(node, ref.output) + ref.index;
  if (at >= result.outputs.size() || (result.outputs[at].value == kNoValue && result.outputs[at].variable < 0 &&
                                      !result.outputs[at].dead && result.outputs[at].reason.empty()))
    return because(cat(label(node), ": its output ", at, " is not read"));
  return result.outputs[at];
}

// Evaluates a node after those that it reads, without recursion: graphs are deep.
void Walk::settle(Scope& scope, int wanted) {
  struct Visit {
    int node, next;
  };
  if (scope.results.count(wanted) != 0) return;
  std::vector<Visit> stack = {{wanted, 0}};
  std::set<int> open = {wanted};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    NodeDef& node = scope.body.node(visit.node);
    if (visit.next == node.input_size()) {
      Result result = import(scope, node);
      if (!result.otherwise.dead && result.otherwise.reason.empty())
        result = with_controls(scope, node, std::move(result));
      scope.results[visit.node] = std::move(result);
      open.erase(visit.node);
      stack.pop_back();
      continue;
    }
    const std::string& ref = node.input(visit.next++);
    if (control(ref)) continue;
    const int input = scope.body.parse(ref).node;
    if (input < 0 || scope.results.count(input) != 0) continue;
    if (!open.insert(input).second) {
      // The circle closes at whichever of its nodes was asked for first: it is a loop's where a loop's own nodes are on it.
      const auto first = std::find_if(stack.begin(), stack.end(), [&](const Visit& on) { return on.node == input; });
      const bool is_loop = std::any_of(first, stack.end(), [&](const Visit& on) {
        const std::string& op = scope.body.node(on.node).op();
        return op == "Merge" || op == "NextIteration";
      });
      if (is_loop) fail_unsupported(label(node), ": loops are not read");
      fail_malformed(label(node), ": it depends on itself");
    }
    stack.push_back({input, 0});
  }
}

int64_t Walk::output_base(const NodeDef& node, const std::string& output) const {
  if (output.empty()) return 0;
  if (const OpRow* row = find_row(node.op()); row != nullptr && row->outputs[0] != 0) {
    const std::vector<std::string> names = dnn::split(row->outputs, ' ');
    const auto at = std::find(names.begin(), names.end(), output);
    if (at == names.end()) fail_malformed(label(node), ": it has no output '", output, "'");
    return at - names.begin();
  }
  const auto function = functions_.find(node.op());
  if (function != functions_.end()) {
    const auto& outputs = function->second->signature().output_arg();
    for (int i = 0; i < outputs.size(); ++i) {
      if (outputs.Get(i).name() == output) return i;
    }
  }
  if (node.op() == "Switch" || node.op() == "RefSwitch") return output == "output_true" ? 1 : 0;
  return 0;
}

Walk::Result Walk::import(Scope& scope, NodeDef& node) {
  if (--budget_ < 0) fail_unsupported("more than ", kMaxNodes, " nodes, counting each call of a function");
  std::vector<Item> inputs;
  for (const std::string& ref : node.input()) {
    if (!control(ref)) inputs.push_back(item(scope, ref));
  }
  try {
    return imported(scope, node, std::move(inputs));
  } catch (Error& error) {
    error.within(label(node));
    if (error.kind() != ErrorKind::Unsupported) throw;
    return {{}, because(error.what())};
  }
}

Walk::Result Walk::imported(Scope& scope, NodeDef& node, std::vector<Item> inputs) {
  Result result;
  const NodeFields fields(node.op(), node.attr());
  if (structural(scope, node, fields, inputs, &result)) {
    fields.finish(source_.ignored);
    return result;
  }
  for (const Item& input : inputs) {
    if (input.dead || !input.reason.empty()) return {{}, input};
  }
  std::string name = node.op();
  if (name == "ResourceGather") {
    if (!inputs.empty()) inputs[0] = read_variable(inputs[0]);
    name = "Gather";
  }
  const OpRow* row = find_row(name);
  if (row == nullptr) fail_unsupported("this operator is not read");
  Op op(source_, node, *row, std::move(inputs));
  row->import(op);
  op.finish();
  result.outputs = op.take_outputs();
  return result;
}

// A constant of one bool; Unsupported for any other item.
bool Walk::choice(const Item& item) const {
  const Tensor* tensor = item.value == kNoValue ? nullptr : source_.draft.graph.constant(item.value);
  if (tensor == nullptr || tensor->size() != 1 || tensor->dtype() != DType::Bool)
    fail_unsupported("which way it goes is computed; only a constant choice is read");
  return tensor->data<bool>()[0];
}

// An input of the model; nothing for one with a default that the model does not name.
std::optional<Item> Walk::placeholder(const Scope& scope, const NodeDef& node, const NodeFields& fields) const {
  for (const auto& [key, value] : node.attr()) {
    if (starts_with(key, kMetadataPrefix)) fields.take(key);  // read_metadata() has it
  }
  const auto input = &scope == &top_ ? around_.inputs.find(node.name()) : around_.inputs.end();
  if (input != around_.inputs.end()) return Item::of(input->second);
  if (node.op() == "Placeholder") fail_unsupported("it is no input of the signature");
  return std::nullopt;
}

// A variable's handle, or its value where the node is the variable itself.
Item Walk::variable(const NodeDef& node) {
  const auto found = around_.variable_of.find(node.name());
  if (found == around_.variable_of.end())
    fail_unsupported("its value is not in the file; freeze the graph, or read the SavedModel with its variables");
  Item handle;
  handle.variable = found->second;
  return node.op() == "VarHandleOp" ? handle : read_variable(handle);
}

// Its first input goes on at the output that the second chooses.
Walk::Result Walk::switched(const std::vector<Item>& inputs) const {
  if (inputs.size() != 2) fail_malformed(inputs.size(), " inputs, not 2");
  if (!inputs[1].reason.empty() || inputs[1].dead) return {{}, inputs[1]};
  Item dead;
  dead.dead = true;
  if (choice(inputs[1])) return {{dead, inputs[0]}, {}};
  return {{inputs[0], dead}, {}};
}

// Nodes that compute nothing themselves.
bool Walk::structural(Scope& scope, NodeDef& node, const NodeFields& fields, std::vector<Item>& inputs,
                      Result* result) {
  const std::string& op = node.op();
  if (op == "Placeholder" || op == "PlaceholderWithDefault") {
    if (const std::optional<Item> input = placeholder(scope, node, fields)) {
      result->outputs = {*input};
      return true;
    }
  }
  if (op == "Const") {
    fields.take("value");
    result->outputs = {constant(node)};
  } else if (op == "VarHandleOp" || op == "VariableV2" || op == "Variable") {
    result->outputs = {variable(node)};
  } else if (op == "ReadVariableOp") {
    if (first_of(inputs).dead || !first_of(inputs).reason.empty()) {
      result->otherwise = first_of(inputs);
    } else {
      result->outputs = {read_variable(first_of(inputs))};
    }
  } else if (passes_on(op)) {
    result->outputs = {first_of(inputs)};
  } else if (op == "IdentityN") {
    result->outputs = std::move(inputs);
  } else if (op == "Switch" || op == "RefSwitch") {
    *result = switched(inputs);
  } else if (op == "Merge" || op == "RefMerge") {
    result->outputs = {merged(inputs)};
  } else if (op == "If" || op == "StatelessIf") {
    if (first_of(inputs).dead || !first_of(inputs).reason.empty()) {
      result->otherwise = first_of(inputs);
      return true;
    }
    const std::string taken = function_of(fields, "then_branch"), other = function_of(fields, "else_branch");
    *result = call(scope, choice(first_of(inputs)) ? taken : other, {inputs.begin() + 1, inputs.end()});
  } else if (is_call(op)) {
    *result = call(scope, function_of(fields, "f"), std::move(inputs));
  } else if (functions_.count(op) != 0) {
    *result = call(scope, op, std::move(inputs));
  } else {
    return false;
  }
  return true;
}

Walk::Result Walk::call(Scope& scope, const std::string& name, std::vector<Item> inputs) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) fail_malformed("there is no function '", name, "'");
  if (scope.depth >= kMaxDepth) fail_unsupported("functions that call functions more than ", kMaxDepth, " deep");
  FunctionDef& function = *found->second;
  const auto& arguments = function.signature().input_arg();
  if (inputs.size() != static_cast<size_t>(arguments.size()))
    fail_malformed(inputs.size(), " inputs for the ", arguments.size(), " arguments of '", name, "'");
  const auto captured = around_.captured.find(name);
  if (captured != around_.captured.end() && &scope == &top_) {
    const std::vector<int>& variables = captured->second;
    if (variables.size() > inputs.size()) fail_malformed("'", name, "' captures more than it takes");
    for (size_t i = 0; i < variables.size(); ++i) {
      if (variables[i] < 0) continue;
      Item& input = inputs[inputs.size() - variables.size() + i];
      input = Item();
      input.variable = variables[i];
    }
  }
  const Body& body = bodies_.try_emplace(name, function.mutable_node_def(), true).first->second;
  Scope inner{body, {}, {}, scope.depth + 1};
  for (int i = 0; i < arguments.size(); ++i) inner.arguments[arguments.Get(i).name()] = std::move(inputs[i]);
  static const std::string kFunction = "function";
  NodeFields(kFunction, function.attr()).finish(source_.ignored);
  Result result;
  for (const OpDef::ArgDef& output : function.signature().output_arg()) {
    const auto ret = function.ret().find(output.name());
    if (ret == function.ret().end()) fail_malformed("function '", name, "' does not say what '", output.name(), "' is");
    result.outputs.push_back(item(inner, ret->second));
  }
  const bool whole = std::all_of(result.outputs.begin(), result.outputs.end(),
                                 [](const Item& output) { return output.reason.empty(); });
  if (whole) check_function(name, &inner);  // else what is wrong is known
  return result;
}

// What a node waits for runs before it, whether it gives anything or not.
Walk::Result Walk::with_controls(Scope& scope, const NodeDef& node, Result result) {
  try {
    std::vector<int> waited;
    for (const std::string& ref : node.input()) {
      if (control(ref)) waited.push_back(scope.body.parse(ref.substr(1)).node);
    }
    if (waited.empty()) return result;
    if (const auto refusal = refusals_.find(&scope.body); refusal != refusals_.end())
      return {{}, because(refusal->second)};
    check_run(scope.body, std::move(waited));
    return result;
  } catch (Error& error) {
    error.within(cat(label(node), ": what it waits for"));
    if (error.kind() != ErrorKind::Unsupported) throw;
    refusals_[&scope.body] = error.what();
    return {{}, because(error.what())};
  }
}

// Refuses nodes that may do something when they run, with those that they read and wait for.
void Walk::check_run(const Body& body, std::vector<int> nodes) {
  std::set<int>& seen = run_[&body];
  std::vector<std::string> called;
  while (!nodes.empty()) {
    const int at = nodes.back();
    nodes.pop_back();
    if (at < 0 || !seen.insert(at).second) continue;  // -1: an argument
    const NodeDef& node = body.node(at);
    check_effect(node);
    for (const auto& [key, value] : node.attr()) {
      if (value.has_func()) called.push_back(value.func().name());
    }
    if (functions_.count(node.op()) != 0) called.push_back(node.op());
    for (const std::string& ref : node.input()) nodes.push_back(body.parse(control(ref) ? ref.substr(1) : ref).node);
  }
  for (const std::string& name : called) check_function(name, nullptr);
}

void Walk::check_effect(const NodeDef& node) const {
  const OpRow* row = find_row(node.op());
  const bool known = row != nullptr && !is_refused(*row);
  if (!known && !is_structural(node.op()) && functions_.count(node.op()) == 0 && !is_harmless(node))
    fail_unsupported(label(node), ": what this operator does when it runs is not known");
}

// A function runs all that it holds. `scope`: what is evaluated of it, whose calls are followed on their own; or null.
void Walk::check_function(const std::string& name, const Scope* scope) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return;
  const auto [checked, fresh] = checked_.try_emplace(name);
  if (!checked->second.empty()) fail_unsupported(checked->second);
  if (!fresh) return;
  if (checked_.size() > kMaxDepth * size_t{16}) fail_unsupported("more than ", kMaxDepth * 16, " functions");
  const Body& body = bodies_.try_emplace(name, found->second->mutable_node_def(), true).first->second;
  try {
    std::vector<int> others;
    for (int i = 0; i < found->second->node_def_size(); ++i) {
      if (scope != nullptr && scope->results.count(i) != 0) {
        check_effect(body.node(i));
      } else {
        others.push_back(i);
      }
    }
    check_run(body, std::move(others));
  } catch (Error& error) {
    error.within(cat("function '", name, "'"));
    checked->second = error.what();
    throw;
  }
}

Item Walk::constant(NodeDef& node) {
  const auto known = constants_.find(&node);
  if (known != constants_.end()) return Item::of(known->second);
  const auto value = node.mutable_attr()->find("value");
  if (value == node.mutable_attr()->end() || !value->second.has_tensor()) fail_malformed("it has no value");
  if (value->second.tensor().dtype() == DT_STRING) fail_unsupported("texts are not read");
  Tensor tensor = read_tensor(*value->second.mutable_tensor(), source_.file, &source_.room);
  const ValueId v = source_.draft.add_constant(node.name(), std::move(tensor), Draft::Name::Given);
  constants_[&node] = v;
  return Item::of(v);
}

Item Walk::read_variable(const Item& handle) {
  if (handle.variable < 0) return handle;  // a value already, as frozen graphs have it
  Variable& variable = around_.variables[handle.variable];
  if (variable.value == kNoValue) {
    Tensor tensor = around_.load(variable.key);
    if (tensor.dtype() == DType::String) fail_unsupported("texts are not read");
    source_.room += 4 * tensor.size();
    variable.value = source_.draft.add_constant(variable.name, std::move(tensor), Draft::Name::Given);
  }
  return Item::of(variable.value);
}

}  // namespace dnn::tensorflow
