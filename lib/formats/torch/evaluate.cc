// Statements and expressions of TorchScript; see evaluate.h.
#include "formats/torch/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/torch/builtins.h"

namespace dnn::torch {
namespace {

constexpr size_t kMaxWork = 5'000'000;
constexpr size_t kMaxCalls = 64;
constexpr int kMaxCallDepth = 1200;  // of expressions and blocks in all calls together

bool arithmetic_name(const std::string& name) { return name == "inf" || name == "nan"; }

// The type that isinstance() sees; "?" for another.
const char* type_name(const Any& value) {
  if (value.tensor()) return "Tensor";
  if (value.get<int64_t>() != nullptr || value.get<Any::Symbolic>() != nullptr) return "int";
  if (value.get<double>() != nullptr) return "float";
  if (value.get<bool>() != nullptr) return "bool";
  if (value.get<std::string>() != nullptr) return "str";
  if (value.none()) return "NoneType";
  if (!value.list()) return "?";
  return (*value.get<Any::List>())->tuple ? "Tuple" : "List";
}

// isinstance() of a value and a type, or a list of types.
bool is_instance(const Any& value, const Expr& type) {
  const bool several = type.kind == Expr::Kind::List || type.kind == Expr::Kind::Tuple;
  const std::vector<Expr> types = several ? type.items : std::vector<Expr>{type};
  const std::string_view actual = type_name(value);
  return std::any_of(types.begin(), types.end(), [&](const Expr& t) {
    const std::string& name = t.kind == Expr::Kind::Subscript ? t.items[0].text : t.text;
    return name == actual || (name == "list" && value.list());
  });
}

}  // namespace

std::string Evaluator::where() const {
  if (frames_.empty()) return "the program";
  return cat(frames_.back().function->file, ":", frames_.back().line);
}

// A module that computes one thing gives its path; one with parts, or a function beside them, the operator too.
std::string Evaluator::node_name(const std::string& op) const {
  const size_t colon = op.rfind(':');
  std::string plain = colon == std::string::npos ? op : op.substr(colon + 1);
  while (plain.size() > 1 && plain.back() == '_') plain.pop_back();
  if (scopes_.empty() || scopes_.back().path.empty()) return plain;
  return scopes_.back().leaf ? scopes_.back().path : scopes_.back().path + "." + plain;
}

void Evaluator::work(size_t amount) {
  work_ += amount;
  if (work_ > kMaxWork) refuse("the program does more than is read of one (", kMaxWork, " steps)");
}

bool Evaluator::truth(const Any& value) {
  if (const auto* truth = value.get<bool>()) return *truth;
  if (const auto* number = value.get<int64_t>()) return *number != 0;
  if (const auto* number = value.get<double>()) return *number != 0;
  if (value.none()) return false;
  if (const auto* list = value.get<Any::List>()) return !(*list)->items.empty();
  if (const auto* text = value.get<std::string>()) return !text->empty();
  if (const auto* cell = value.get<Any::Tensor>()) {
    const Tensor* known = importer_.known((*cell)->value);
    if (known == nullptr) known = importer_.draft.graph.constant((*cell)->value);
    if (known != nullptr && known->size() == 1) return to_doubles(*known)[0] != 0;
    refuse("a condition on a tensor's content, which is known only when the network runs, is not read");
  }
  refuse("a condition on ", kind_of(value), " is not read; fix the input's shape with --shape");
}

const Function& Evaluator::forward() {
  root();
  const Class* c = find_class(root_->class_name);
  if (c == nullptr) fail_malformed("the archive has no class ", root_->class_name);
  const auto method = c->methods.find("forward");
  if (method == c->methods.end()) fail_unsupported("the module has no forward()");
  return method->second;
}

Any Evaluator::call(const Function& function, std::vector<Any> arguments, const std::vector<std::string>& keywords) {
  if (frames_.size() >= kMaxCalls) refuse("calls are nested deeper than ", kMaxCalls);
  Variables variables;
  const size_t n_positional = arguments.size() - keywords.size();
  if (arguments.size() > function.parameters.size())
    fail(function.name, "() takes ", function.parameters.size(), " arguments, not ", arguments.size());
  for (size_t i = 0; i < n_positional; ++i) variables[function.parameters[i].name] = arguments[i];
  for (size_t i = 0; i < keywords.size(); ++i) variables[keywords[i]] = arguments[n_positional + i];
  frames_.push_back({&function, function.line});
  for (const Function::Parameter& parameter : function.parameters) {
    if (variables.count(parameter.name) != 0) continue;
    if (!parameter.fallback) fail(function.name, "(): argument '", parameter.name, "' is missing");
    variables[parameter.name] = evaluate(*parameter.fallback, variables);
  }
  Any result;
  run(function.body, variables, &result);
  frames_.pop_back();
  return result;
}

// Whether the block returned.
bool Evaluator::run(const std::vector<Stmt>& body, Variables& variables, Any* result) {
  if (++depth_ > kMaxCallDepth) refuse("the program is nested too deep");
  bool returned = false;
  for (const Stmt& s : body) {
    work();
    frames_.back().line = s.line;
    switch (s.kind) {
      case Stmt::Kind::Assign:
        if (s.unpack) {
          unpack(s.targets, evaluate(s.value, variables), variables);
        } else {
          assign(s.targets[0], evaluate(s.value, variables), variables);
        }
        break;
      case Stmt::Kind::Return:
        *result = evaluate(s.value, variables);
        returned = true;
        break;
      case Stmt::Kind::If:
        returned = run(truth(evaluate(s.value, variables)) ? s.body : s.otherwise, variables, result);
        break;
      case Stmt::Kind::While:
        while (!returned && truth(evaluate(s.value, variables))) {
          returned = run(s.body, variables, result);
          work();
        }
        break;
      case Stmt::Kind::For:
        for (const Any& item : iterated(evaluate(s.value, variables))) {
          if (s.unpack || s.targets[0].kind == Expr::Kind::Tuple) {
            unpack(s.unpack ? s.targets : s.targets[0].items, item, variables);
          } else {
            assign(s.targets[0], item, variables);
          }
          returned = run(s.body, variables, result);
          if (returned) break;
        }
        break;
      case Stmt::Kind::Assert:
        if (!truth(evaluate(s.value, variables))) refuse("an assertion of the program does not hold for this input");
        break;
      case Stmt::Kind::Eval: evaluate(s.value, variables); break;
    }
    if (returned) break;
  }
  --depth_;
  return returned;
}

void Evaluator::assign(const Expr& target, Any value, Variables& variables) {
  switch (target.kind) {
    case Expr::Kind::Name: variables[target.text] = std::move(value); return;
    case Expr::Kind::Attribute: {
      const Any base = evaluate(target.items[0], variables);
      const auto* module = base.get<Any::Module>();
      if (module == nullptr) fail("an attribute of ", kind_of(base), " is set");
      (*module)->attributes[target.text] = std::move(value);
      return;
    }
    case Expr::Kind::Subscript: {
      const Any base = evaluate(target.items[0], variables);
      if (call_builtin(*this, "_set_item", {base, evaluate(target.items[1], variables), value})) return;
      refuse("a part of ", kind_of(base), " is set, which is not read");
    }
    default: fail("what is assigned to is no name");
  }
}

void Evaluator::unpack(const std::vector<Expr>& targets, const Any& value, Variables& variables) {
  const auto* list = value.get<Any::List>();
  if (list == nullptr) fail(kind_of(value), " is unpacked");
  const std::vector<Any> items = (*list)->items;
  if (items.size() != targets.size()) fail(items.size(), " values for ", targets.size(), " names");
  for (size_t i = 0; i < items.size(); ++i) assign(targets[i], items[i], variables);
}

std::vector<Any> Evaluator::iterated(const Any& value) {
  if (const auto* list = value.get<Any::List>()) return (*list)->items;
  if (const auto* dict = value.get<Any::Dict>()) {
    std::vector<Any> keys;
    for (const auto& pair : **dict) keys.push_back(pair.first);
    return keys;
  }
  refuse("a loop over ", kind_of(value), " is not read");
}

Any Evaluator::evaluate(const Expr& e, Variables& variables) {
  work();
  if (++depth_ > kMaxCallDepth) refuse("the program is nested too deep");
  Any result;
  switch (e.kind) {
    case Expr::Kind::Name: result = name(e, variables); break;
    case Expr::Kind::Attribute: result = member(evaluate(e.items[0], variables), e.text); break;
    case Expr::Kind::Call: result = evaluate_call(e, variables); break;
    case Expr::Kind::Subscript: {
      const Any base = evaluate(e.items[0], variables);
      result = subscript(base, evaluate(e.items[1], variables));
      break;
    }
    case Expr::Kind::List:
    case Expr::Kind::Tuple: {
      std::vector<Any> items;
      for (const Expr& item : e.items) items.push_back(evaluate(item, variables));
      result = make_list(std::move(items), e.kind == Expr::Kind::Tuple);
      break;
    }
    case Expr::Kind::Dict: {
      auto dict = std::make_shared<std::vector<std::pair<Any, Any>>>();
      for (size_t i = 0; i + 1 < e.items.size(); i += 2)
        dict->emplace_back(evaluate(e.items[i], variables), evaluate(e.items[i + 1], variables));
      result = Any::Dict(dict);
      break;
    }
    case Expr::Kind::Int: result = e.integer; break;
    case Expr::Kind::Float: result = e.real; break;
    case Expr::Kind::Text: result = e.text; break;
    case Expr::Kind::Bool: result = e.integer != 0; break;
    case Expr::Kind::None: break;
    case Expr::Kind::Negative: {
      const Any value = evaluate(e.items[0], variables);
      if (const auto* number = value.get<int64_t>()) {
        result = *number == INT64_MIN ? *number : -*number;
      } else if (const auto* real = value.get<double>()) {
        result = -*real;
      } else {
        refuse("minus ", kind_of(value), " is not read");
      }
      break;
    }
  }
  --depth_;
  return result;
}

Any Evaluator::name(const Expr& e, const Variables& variables) {
  const auto found = variables.find(e.text);
  if (found != variables.end()) return found->second;
  if (arithmetic_name(e.text))
    return e.text == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (e.text == "torch" || e.text == "ops" || e.text == "__torch__" || e.text == "CONSTANTS") return Dotted{e.text};
  fail("there is no '", e.text, "'");
}

Any Evaluator::member(const Any& base, const std::string& name) {
  if (const auto* dotted = base.get<Dotted>()) {
    if (dotted->name == "CONSTANTS") return constant(name);
    return Dotted{dotted->name + "." + name};
  }
  if (const auto* module = base.get<Any::Module>()) return attribute(*module, name);
  fail("attribute '", name, "' of ", kind_of(base));
}

Any Evaluator::subscript(const Any& base, const Any& index) {
  if (const std::optional<Any> item = call_builtin(*this, "__getitem__", {base, index})) return *item;
  if (base.tensor() && index.get<int64_t>() != nullptr)
    return importer_.call("select", {base, int64_t{0}, index}, {}, node_name("select"), where());
  fail("a part of ", kind_of(base));
}

Any Evaluator::evaluate_call(const Expr& e, Variables& variables) {
  const Expr& callee = e.items[0];
  if (callee.kind == Expr::Kind::Name && variables.count(callee.text) == 0) return call_name(callee.text, e, variables);
  std::string method;
  Any base;
  if (callee.kind == Expr::Kind::Attribute) {
    base = evaluate(callee.items[0], variables);
    if (const auto* dotted = base.get<Dotted>()) {
      base = Dotted{dotted->name + "." + callee.text};
    } else {
      method = callee.text;
    }
  } else {
    base = evaluate(callee, variables);
  }
  std::vector<Any> arguments;
  for (size_t i = 1; i < e.items.size(); ++i) arguments.push_back(evaluate(e.items[i], variables));
  if (!method.empty()) return call_method(base, method, std::move(arguments), e.keywords);
  const auto* dotted = base.get<Dotted>();
  if (dotted == nullptr) fail(kind_of(base), " is called");
  return call_dotted(dotted->name, std::move(arguments), e.keywords);
}

// range() of one to three integers, all at once.
Any Evaluator::range(const Expr& e, Variables& variables) {
  const size_t n = e.items.size() - 1;
  std::vector<int64_t> bounds;
  for (size_t i = 0; i < n; ++i) {
    const Any bound = evaluate(e.items[i + 1], variables);
    if (bound.get<Any::Symbolic>() != nullptr)
      refuse("a loop over an input's open extent; fix the input's shape with --shape");
    if (bound.get<int64_t>() == nullptr) fail("range() of ", kind_of(bound));
    bounds.push_back(*bound.get<int64_t>());
  }
  if (bounds.empty() || bounds.size() > 3) fail("range() with ", n, " arguments");
  if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
  if (bounds.size() == 2) bounds.push_back(1);
  if (bounds[2] == 0) fail("a range of step 0");
  std::vector<Any> items;
  for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];) {
    work();
    items.emplace_back(i);
    if (__builtin_add_overflow(i, bounds[2], &i)) break;
  }
  return make_list(std::move(items));
}

// The functions that stand without a module, some of which do not evaluate all that they are given.
Any Evaluator::call_name(const std::string& name, const Expr& e, Variables& variables) {
  const size_t n = e.items.size() - 1;
  const auto argument = [&](size_t i) {
    if (i >= n) fail(name, "() with ", n, " arguments");
    return evaluate(e.items[i + 1], variables);
  };
  if (name == "annotate" || name == "unchecked_cast") return argument(1);
  if (name == "uninitialized") return {};
  if (name == "getattr") {
    const Any key = argument(1);
    if (key.get<std::string>() == nullptr) fail("getattr() of ", kind_of(key));
    return member(argument(0), *key.get<std::string>());
  }
  if (name == "hasattr") {
    const Any base = argument(0), key = argument(1);
    const auto* module = base.get<Any::Module>();
    if (module == nullptr || key.get<std::string>() == nullptr) fail("hasattr() of ", kind_of(base));
    return (*module)->attributes.count(*key.get<std::string>()) != 0 ||
           (*module)->unread.count(*key.get<std::string>()) != 0;
  }
  if (name == "int") return to_int(*this, argument(0));
  if (name == "float") return to_real(*this, argument(0));
  if (name == "bool") return truth(argument(0));
  if (name == "str") return *call_builtin(*this, "format", {std::string("{}"), argument(0)});
  if (name == "isinstance") {
    const Any value = argument(0);
    return is_instance(value, e.items.at(2));
  }
  if (name == "range") return range(e, variables);
  if (name == "print") return {};
  refuse("the function ", name, "() is not read");
}

Any Evaluator::call_method(const Any& base, const std::string& method, std::vector<Any> arguments,
                           const std::vector<std::string>& keywords) {
  const auto* module = base.get<Any::Module>();
  if (module == nullptr) fail("method ", method, "() of ", kind_of(base));
  const Class* c = find_class((*module)->class_name);
  if (c == nullptr) fail("the archive has no class ", (*module)->class_name);
  const auto found = c->methods.find(method);
  if (found == c->methods.end()) fail("class ", (*module)->class_name, " has no ", method, "()");
  arguments.insert(arguments.begin(), base);
  scopes_.push_back({(*module)->path, is_leaf(**module)});
  Any result = call(found->second, std::move(arguments), keywords);
  scopes_.pop_back();
  return result;
}

Any Evaluator::call_dotted(const std::string& dotted, std::vector<Any> arguments,
                           const std::vector<std::string>& keywords) {
  std::string name;
  if (starts_with(dotted, "__torch__.")) {
    if (const Function* function = find_function(dotted)) return call(*function, std::move(arguments), keywords);
    if (find_class(dotted) != nullptr) return make_list(std::move(arguments), true);  // a named tuple
    fail("the archive has no ", dotted, "()");
  }
  if (starts_with(dotted, "torch.")) name = dotted.substr(6);
  if (starts_with(dotted, "ops.")) {
    name = dotted.substr(4);
    const size_t dot = name.find('.');
    if (dot == std::string::npos) fail("the operator ", dotted);
    name.replace(dot, 1, "::");
    if (starts_with(name, "aten::")) name = name.substr(6);
  }
  if (name.empty()) fail("there is no ", dotted, "()");
  if (keywords.empty() || name == "div") {
    if (std::optional<Any> value = call_builtin(*this, name, arguments)) return *value;
  } else if (name == "tensor" || name == "scalar_tensor" || name == "as_tensor") {
    std::vector<Any> plain(arguments.begin(),
                           arguments.begin() + static_cast<std::ptrdiff_t>(arguments.size() - keywords.size()));
    plain.resize(2);
    for (size_t i = 0; i < keywords.size(); ++i) {
      if (keywords[i] == "dtype") plain[1] = arguments[arguments.size() - keywords.size() + i];
    }
    return *call_builtin(*this, name, plain);
  }
  const std::string node = node_name(name);
  return importer_.call(name, std::move(arguments), keywords, node, where());
}

}  // namespace dnn::torch
