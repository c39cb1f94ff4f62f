// Calls of ATen operators: binding of arguments, values, results; see import.h.
#include "formats/torch/import.h"

#include <algorithm>
#include <unordered_map>

namespace dnn::torch {
namespace {

constexpr int kMaxNodes = 100'000;

struct Parameter {
  std::string name;
  bool required = true;
  Any fallback;
};

Any parse_default(const std::string& text) {
  if (text == "None") return {};
  if (text == "True" || text == "False") return text == "True";
  if (text == "[]") return make_list({});
  int64_t integer = 0;
  if (parse_int(text, &integer)) return integer;
  double real = 0;
  if (parse_double(text, &real)) return real;
  return text;
}

// "input weight bias=None stride=1"
std::vector<Parameter> parse_schema(const char* schema) {
  std::vector<Parameter> result;
  for (const std::string& word : split(schema, ' ')) {
    const size_t equals = word.find('=');
    Parameter parameter;
    parameter.name = word.substr(0, equals);
    parameter.required = equals == std::string::npos;
    if (!parameter.required) parameter.fallback = parse_default(word.substr(equals + 1));
    result.push_back(std::move(parameter));
  }
  return result;
}

const std::vector<Parameter>& schema_of(const OpRow& row) {
  static const std::unordered_map<const OpRow*, std::vector<Parameter>> schemas = [] {
    std::unordered_map<const OpRow*, std::vector<Parameter>> all;
    for (const OpRow& r : op_rows()) all.emplace(&r, parse_schema(r.schema));
    return all;
  }();
  return schemas.at(&row);
}

struct CodeRow {
  int64_t code;
  DType dtype;
};
constexpr CodeRow kCodes[] = {{0, DType::UInt8},    {1, DType::Int8},    {2, DType::Int16},   {3, DType::Int32},
                              {4, DType::Int64},    {5, DType::Float16}, {6, DType::Float32}, {7, DType::Float64},
                              {11, DType::Bool},    {12, DType::Int8},   {13, DType::UInt8},  {14, DType::Int32},
                              {15, DType::BFloat16}};

}  // namespace

DType dtype_of_code(int64_t code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return row.dtype;
  }
  return DType::Undefined;
}

int64_t code_of_dtype(DType dtype) {
  for (const CodeRow& row : kCodes) {
    if (row.dtype == dtype) return row.code;
  }
  return -1;
}

std::string kind_of(const Any& value) {
  constexpr const char* kNames[] = {"None",      "a bool",          "an int", "a float",  "a text", "a tensor",
                                    "an extent", "a list or tuple", "a dict", "a module", "a name"};
  return kNames[value.v.index()];
}

const OpRow* find_op_row(const std::string& name) {
  static const std::unordered_map<std::string, const OpRow*> rows = [] {
    std::unordered_map<std::string, const OpRow*> all;
    for (const OpRow& row : op_rows()) all.emplace(row.name, &row);
    return all;
  }();
  const auto found = rows.find(name);
  if (found != rows.end()) return found->second;
  if (!ends_with(name, "_") || ends_with(name, "__")) return nullptr;
  const auto pure = rows.find(name.substr(0, name.size() - 1));
  return pure == rows.end() ? nullptr : pure->second;
}

namespace {
double number_of(const Any& value) {
  if (const auto* truth = value.get<bool>()) return *truth ? 1 : 0;
  if (const auto* integer = value.get<int64_t>()) return static_cast<double>(*integer);
  return *value.get<double>();
}

bool is_plain_number(const Any& value) {
  return value.get<bool>() != nullptr || value.get<int64_t>() != nullptr || value.get<double>() != nullptr;
}

// Whether an argument is what stands for one that is not given.
bool is_default(const Any& value, const Any& fallback) {
  if (is_plain_number(value) && is_plain_number(fallback)) return number_of(value) == number_of(fallback);
  if (value.v.index() != fallback.v.index()) return false;
  if (const auto* text = value.get<std::string>()) return *text == *fallback.get<std::string>();
  if (const auto* list = value.get<Any::List>()) return (*list)->items.empty();
  return value.none();
}

std::string text_of(const Any& value) {
  if (value.none()) return "None";
  if (const auto* truth = value.get<bool>()) return *truth ? "True" : "False";
  if (const auto* integer = value.get<int64_t>()) return std::to_string(*integer);
  if (const auto* real = value.get<double>()) return exact_text(*real);
  if (const auto* text = value.get<std::string>()) return *text;
  return "";
}
}  // namespace

Importer::Importer(IgnoredFields ignored) : types_(draft.graph), ignored_(std::move(ignored)) {}

void Importer::refuse_leftovers(const Op& op, const std::vector<Any>& arguments) const {
  const std::vector<Parameter>& schema = schema_of(op.row());
  Leftovers leftovers;
  for (size_t i = 0; i < schema.size(); ++i) {
    if (!op.asked(i) && (schema[i].required || !is_default(arguments[i], schema[i].fallback)))
      leftovers.add(schema[i].name);
  }
  const auto show = [&](const std::string& name) {
    for (size_t i = 0; i < schema.size(); ++i) {
      if (schema[i].name == name) return text_of(arguments[i]);
    }
    return std::string();
  };
  leftovers.irrelevant(op.row().name, irrelevant_arguments(), show);
  leftovers.ignore(op.row().name, ignored_);
  leftovers.finish(op.label(), "argument", show);
}

ValueId Importer::add_input(const std::string& name, Type type) {
  const ValueId v = draft.add_value(name, Draft::Name::Given);
  draft.graph.value(v).type = std::move(type);
  draft.graph.inputs.push_back(v);
  return v;
}

Any Importer::cell(ValueId value) const {
  return std::make_shared<TensorCell>(TensorCell{value, nullptr, std::make_shared<Aliases>(), 0});
}

Any Importer::view(ValueId value, const Any::Tensor& of) const {
  return std::make_shared<TensorCell>(TensorCell{value, nullptr, of->aliases, of->aliases->version});
}

Any Importer::constant(const std::string& name, const StoredTensor& tensor) {
  const ValueId v = draft.add_constant(name, tensor.values, Draft::Name::Given);
  Any result = cell(v);
  if (tensor.quantized) {
    (*result.get<Any::Tensor>())->quantizer = std::make_shared<const Quantizer>(
        Quantizer{tensor.scales, tensor.zero_points, tensor.axis, tensor.values.dtype()});
  }
  return result;
}

ValueId Importer::value_of(const Any::Tensor& cell, const std::string& who) const {
  if (cell->version != cell->aliases->version)
    fail_unsupported(who, ": it reads a tensor that was written to through a view of it, which is not read");
  if (!cell->not_made.empty()) fail_unsupported(who, ": it reads ", cell->not_made, ", which is not made");
  return cell->value;
}

Any Importer::not_made(const std::string& what) {
  auto cell = std::make_shared<TensorCell>();
  cell->aliases = std::make_shared<Aliases>();
  cell->not_made = what;
  return cell;
}

ValueId Importer::real_of(const Any::Tensor& cell, GraphBuilder& steps, const std::string& who) {
  const ValueId v = value_of(cell, who);
  if (cell->quantizer == nullptr) return v;
  const auto found = reals_.find(v);
  if (found != reals_.end()) return found->second;
  const Quantizer& q = *cell->quantizer;
  const bool per_axis = q.axis >= 0;
  const Shape shape = per_axis ? Shape{static_cast<int64_t>(q.scales.size())} : Shape{};
  std::vector<float> scales(q.scales.begin(), q.scales.end());
  std::vector<ValueId> inputs = {v, steps.store("scale", Tensor::of<float>(shape, scales))};
  if (q.dtype != DType::Int32)
    inputs.push_back(steps.store("zero_point", convert(Tensor::of<int64_t>(shape, q.zero_points), q.dtype)));
  Attributes attributes;
  if (per_axis) attributes["axis"] = q.axis;
  return reals_[v] = steps.emit("DequantizeLinear", std::move(inputs), std::move(attributes));
}

ValueId Importer::symbolic_value(const Any::Symbolic& symbolic, GraphBuilder& steps) {
  if (symbolic->value == kNoValue) {
    symbolic->value = steps.emit("Shape", {symbolic->of}, {{"start", symbolic->axis}, {"end", symbolic->axis + 1}});
  }
  return symbolic->value;
}

Any Importer::symbolic_math(const std::string& op, const Any& a, const Any& b, GraphBuilder& steps) {
  bool negative = op == "Sub";
  const auto vector = [&](const Any& value) {
    if (const auto* symbolic = value.get<Any::Symbolic>()) {
      negative = negative || (*symbolic)->signed_number;
      return symbolic_value(*symbolic, steps);
    }
    negative = negative || number_of(value) < 0;
    return steps.list({static_cast<int64_t>(number_of(value))});
  };
  const ValueId y = vector(b);
  ValueId x = vector(a);
  if (op == "Div" && negative) x = steps.emit("Sub", {x, steps.emit("Mod", {x, y})});  // Div rounds to zero
  return std::make_shared<SymbolicInt>(SymbolicInt{kNoValue, 0, steps.emit(op, {x, y}), Dim(), negative});
}

const Type& Importer::type(ValueId v) {
  if (draft.graph.node_slots() > kMaxNodes) fail_unsupported("the program computes more than ", kMaxNodes, " nodes");
  types_.update();
  return draft.graph.value(v).type;
}

const Tensor* Importer::known(ValueId v) {
  types_.update();
  return types_.known(v);
}

Any Importer::extent(ValueId v, int64_t axis) {
  const Type& t = type(v);
  if (t.shape) {
    const auto rank = static_cast<int64_t>(t.shape->size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) fail_malformed("axis ", axis, " of ", t.text());
    Dim& dim = (*draft.graph.value(v).type.shape)[axis];
    if (dim.fixed()) return dim.size;
    // A name of its own, by which it is recognised where it comes back.
    if (dim.symbol.empty()) dim.symbol = cat(draft.graph.value(v).name, "_dim", axis);
    return std::make_shared<SymbolicInt>(SymbolicInt{v, axis, kNoValue, dim});
  }
  if (axis < 0)
    fail_unsupported("an axis counted from the back of a tensor of unknown rank; say the input's shape with --shape");
  return std::make_shared<SymbolicInt>(SymbolicInt{v, axis, kNoValue, Dim()});
}

void Importer::guess_input(ValueId v, std::vector<Dim> shape) const {
  const Graph& graph = draft.graph;
  static const std::set<std::string> kElementwise = {
      "Add",      "Sub",    "Mul",       "Div",   "Cast", "QuantizeLinear", "DequantizeLinear",
      "Identity", "Gather", "Unsqueeze", "Concat"};
  std::map<ValueId, const Node*> producer;
  for (NodeId id : graph.order()) {
    for (ValueId output : graph.node(id).outputs) producer[output] = &graph.node(id);
  }
  for (int steps = 0; steps < 100; ++steps) {
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      if (graph.inputs[i] == v && !graph.value(v).type.shape) throw InputGuess{i, std::move(shape)};
    }
    const auto node = producer.find(v);
    if (node == producer.end() || kElementwise.count(node->second->op) == 0) return;
    ValueId next = kNoValue;
    for (ValueId input : node->second->inputs) {
      if (next == kNoValue && input != kNoValue && graph.constant(input) == nullptr) next = input;
    }
    if (next == kNoValue) return;
    v = next;
  }
}

Any Importer::call(const std::string& op, std::vector<Any> arguments, const std::vector<std::string>& keywords,
                   const std::string& node_name, const std::string& where) {
  const OpRow* row = find_op_row(op);
  if (row == nullptr) fail_unsupported("torch.", op, " at ", where, ": this operator is not read");
  const std::vector<Parameter>& schema = schema_of(*row);
  const size_t n_positional = arguments.size() - keywords.size();
  std::vector<Any> bound;
  std::vector<bool> given(schema.size());
  Leftovers unknown;  // arguments that the schema lacks
  std::map<std::string, std::string> values;
  for (const Parameter& parameter : schema) bound.push_back(parameter.fallback);
  for (size_t i = 0; i < arguments.size(); ++i) {
    size_t at = i;
    if (i >= n_positional) {
      const std::string& keyword = keywords[i - n_positional];
      auto found = std::find_if(schema.begin(), schema.end(), [&](const Parameter& p) { return p.name == keyword; });
      if (found == schema.end() && (keyword == "self" || (keyword == "input" && schema[0].name == "self")))
        found = schema.begin();                                 // what one overload calls input, another calls self
      if (found == schema.end() && keyword == "scale_factors")  // of the overload that takes a list of them
        found = std::find_if(schema.begin(), schema.end(),
                             [](const Parameter& p) { return starts_with(p.name, "scales"); });
      if (found == schema.end()) {
        unknown.add(keyword);
        if (arguments[i].none()) unknown.use(keyword);
        values[keyword] = text_of(arguments[i]);
        continue;
      }
      at = static_cast<size_t>(found - schema.begin());
    }
    if (at >= schema.size())
      fail_unsupported("torch.", op, " at ", where, ": ", arguments.size(), " arguments, ", schema.size(), " are read");
    bound[at] = arguments[i];
    given[at] = true;
  }
  const auto show = [&](const std::string& name) { return values[name]; };
  unknown.irrelevant(row->name, irrelevant_arguments(), show);
  unknown.ignore(row->name, ignored_);
  unknown.finish(cat("torch.", op, " at ", where), "argument", show);
  for (size_t i = 0; i < schema.size(); ++i) {
    if (schema[i].required && !given[i])
      fail_malformed("torch.", op, " at ", where, ": argument '", schema[i].name, "' is missing");
  }
  Op context(*this, *row, node_name, where, bound);
  if (op != row->name) context.set_in_place();
  Any result;
  try {
    result = row->import(context);
    refuse_leftovers(context, bound);
  } catch (Error& e) {
    if (starts_with(e.what(), "torch.")) throw;
    throw e.within(context.label());
  }
  if (op == row->name) return result;
  const auto* target = bound[0].get<Any::Tensor>();
  const auto* changed = result.get<Any::Tensor>();
  if (target == nullptr || changed == nullptr)
    fail_malformed("torch.", op, " at ", where, ": it writes to ", kind_of(bound[0]));
  (*target)->value = (*changed)->value;
  (*target)->quantizer = (*changed)->quantizer;
  (*target)->version = ++(*target)->aliases->version;
  return *target;
}

}  // namespace dnn::torch
