// Exported programs (.pt2 of torch.export, PyTorch 2.8 and later): the program as JSON, the tensors as records beside it.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "formats/torch/export.h"
#include "formats/torch/pt2.h"
#include "formats/torch/signature.h"
#include "formats/torch/storage.h"
#include "formats/torch/torchscript.h"
#include "formats/torch/write.h"
#include "layout/channels_first.h"
#include "ops/op.h"

namespace dnn::torch {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kStrided = 7;                  // memory layout
constexpr int kPositional = 1, kByName = 2;  // how an argument is given
constexpr int kSchemaMajor = 8, kSchemaMinor = 20, kAtenOpset = 10;

// What a module cannot have as the name of a tensor: nn.Module has it already.
const std::set<std::string>& taken_names() {
  static const std::set<std::string> names = [] {
    const std::vector<std::string> words = split(
        "add_module apply bfloat16 buffers call_super_init children code compile cpu cuda double dump_patches eval "
        "extra_repr "
        "float forward get_buffer get_extra_state get_parameter get_submodule graph half ipu load_state_dict meta "
        "modules "
        "mtia named_buffers named_children named_modules named_parameters parameters print_readable recompile "
        "register_buffer register_module register_parameter requires_grad_ set_extra_state set_submodule share_memory "
        "state_dict T_destination to to_empty train training type validate_inputs xpu zero_grad",
        ' ');
    return std::set<std::string>(words.begin(), words.end());
  }();
  return names;
}

// The dotted path of a tensor: no empty part, none that a module has, no tensor at the place of a module.
class Keys {
 public:
  explicit Keys(const Program& program) {
    for (const Var& var : program.vars) {
      const std::string key = legal(var.key);
      for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
        modules_.insert(key.substr(0, dot));
    }
  }
  std::string operator()(const std::string& name) {
    std::string key = legal(name);
    while (modules_.count(key) != 0 || !used_.insert(key).second) key += '_';
    return key;
  }

 private:
  static std::string legal(const std::string& name) {
    std::vector<std::string> parts;
    for (std::string part : split(name, '.')) {
      for (char& c : part) {
        if (c == '"' || c == '\\' || (c >= 0 && c < ' ')) c = '_';
      }
      if (part.empty() || taken_names().count(part) != 0) part += '_';
      parts.push_back(std::move(part));
    }
    return join(parts, ".");
  }
  std::set<std::string> modules_, used_;
};

OrderedJson json_real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

OrderedJson named(const std::string& name) { return {{"name", name}}; }
OrderedJson as_tensor(const std::string& name) { return {{"as_tensor", named(name)}}; }
OrderedJson leaf() { return {{"type", nullptr}, {"context", nullptr}, {"children_spec", OrderedJson::array()}}; }
OrderedJson tuple_of(size_t n) {
  return {{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", std::vector<OrderedJson>(n, leaf())}};
}

class Pt2Printer {
 public:
  explicit Pt2Printer(const Program& program) : program_(program), keys_(program) {
    for (VarId v = 0; v < static_cast<VarId>(program.vars.size()); ++v) {
      if (program.var(v).role != Role::None) held_.push_back(v);
    }
    std::stable_sort(held_.begin(), held_.end(),
                     [&](VarId a, VarId b) { return program.var(a).role < program.var(b).role; });
    for (VarId v : held_) key_of_.emplace(v, keys_(program.var(v).key));
  }

  const std::vector<VarId>& held() const { return held_; }
  const std::string& key(VarId v) const { return key_of_.at(v); }

  OrderedJson meta(const Var& var) {
    OrderedJson sizes = OrderedJson::array(), strides = OrderedJson::array();
    std::vector<std::string> texts;
    const std::vector<Dim> dims = var.type.shape.value_or(std::vector<Dim>());
    for (const Dim& dim : dims) {
      texts.push_back(dim.fixed() ? cat(std::max<int64_t>(1, dim.size)) : symbol(dim));
      sizes.push_back(dim.fixed() ? number(dim.size) : expression(texts.back()));
    }
    int64_t fixed = 1;  // product of the fixed extents behind an axis
    std::string open;   // and of the others
    for (size_t i = dims.size(); i-- > 0;) {
      strides.push_back(open.empty() ? number(fixed) : expression(cat(fixed) + open));
      if (dims[i].fixed()) {
        fixed *= std::max<int64_t>(1, dims[i].size);
      } else {
        open += "*" + texts[i];
      }
    }
    std::reverse(strides.begin(), strides.end());
    return {{"dtype", exported_scalar_type(var.type.dtype)},
            {"sizes", sizes},
            {"requires_grad", var.role == Role::Parameter},
            {"device", {{"type", "cpu"}, {"index", nullptr}}},
            {"strides", strides},
            {"storage_offset", number(0)},
            {"layout", kStrided}};
  }

  OrderedJson model() {
    OrderedJson inputs = OrderedJson::array(), input_specs = OrderedJson::array(), outputs = OrderedJson::array(),
                output_specs = OrderedJson::array();
    for (VarId v : held_) {
      inputs.push_back(as_tensor(program_.var(v).name));
      input_specs.push_back(held_spec(v));
    }
    for (VarId v : program_.inputs) {
      inputs.push_back(as_tensor(program_.var(v).name));
      input_specs.push_back({{"user_input", {{"arg", as_tensor(program_.var(v).name)}}}});
    }
    for (VarId v : program_.outputs) {
      outputs.push_back(as_tensor(program_.var(v).name));
      output_specs.push_back({{"user_output", {{"arg", as_tensor(program_.var(v).name)}}}});
    }
    const OrderedJson graph = graph_of(inputs, outputs);  // first: it numbers the unnamed symbols
    return {{"graph_module",
             {{"graph", graph},
              {"signature", {{"input_specs", input_specs}, {"output_specs", output_specs}}},
              {"module_call_graph", OrderedJson::array({root_call()})},
              {"metadata", OrderedJson::object()},
              {"treespec_namedtuple_fields", OrderedJson::object()}}},
            {"opset_version", {{"aten", kAtenOpset}}},
            {"range_constraints", ranges()},
            {"schema_version", {{"major", kSchemaMajor}, {"minor", kSchemaMinor}}},
            {"verifiers", {"TRAINING"}},
            {"torch_version", "<=2.4"},
            {"guards_code", OrderedJson::array()}};
  }

 private:
  // A parameter, buffer or constant as an input of the graph.
  OrderedJson held_spec(VarId v) const {
    const Var& var = program_.var(v);
    const OrderedJson arg = named(var.name);
    if (var.role == Role::Parameter) return {{"parameter", {{"arg", arg}, {"parameter_name", key(v)}}}};
    if (var.role == Role::Buffer) return {{"buffer", {{"arg", arg}, {"buffer_name", key(v)}, {"persistent", true}}}};
    return {{"tensor_constant", {{"arg", arg}, {"tensor_constant_name", key(v)}}}};
  }

  // The call of the whole module, with its user's arguments.
  OrderedJson root_call() const {
    std::vector<std::string> argument_names;
    for (VarId v : program_.inputs) argument_names.push_back(program_.var(v).name);
    const size_t n = program_.inputs.size(), m = program_.outputs.size();
    OrderedJson arguments = {
        {"type", "builtins.tuple"},
        {"context", "null"},
        {"children_spec",
         {tuple_of(n), {{"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", OrderedJson::array()}}}}};
    return {{"fqn", ""},
            {"signature",
             {{"inputs", OrderedJson::array()},
              {"outputs", OrderedJson::array()},
              {"in_spec", json_text(OrderedJson::array({1, arguments}))},
              {"out_spec", json_text(OrderedJson::array({1, m == 1 ? leaf() : tuple_of(m)}))},
              {"forward_arg_names", argument_names}}}};
  }

  OrderedJson graph_of(const OrderedJson& inputs, const OrderedJson& outputs) {
    OrderedJson nodes = OrderedJson::array(), tensors = OrderedJson::object(), integers = OrderedJson::object();
    for (const Var& var : program_.vars) {
      if (var.kind == Kind::Tensor) tensors[var.name] = meta(var);
      if (var.kind == Kind::Int) integers[var.name] = expression(parsed(var.extent));
    }
    for (const Call& call : program_.calls) nodes.push_back(node(call));
    return {{"inputs", inputs},
            {"outputs", outputs},
            {"nodes", nodes},
            {"tensor_values", tensors},
            {"sym_int_values", integers},
            {"sym_bool_values", OrderedJson::object()},
            {"is_single_tensor_return", false},
            {"custom_obj_values", OrderedJson::object()},
            {"sym_float_values", OrderedJson::object()}};
  }

  OrderedJson ranges() const {
    OrderedJson ranges = OrderedJson::object();
    for (const auto& [model, own] : program_.symbols) ranges[own] = {{"min_val", 0}, {"max_val", nullptr}};
    for (const std::string& own : unnamed_) ranges[own] = {{"min_val", 0}, {"max_val", nullptr}};
    return ranges;
  }

  static OrderedJson number(int64_t value) { return {{"as_int", value}}; }
  static OrderedJson expression(const std::string& text) {
    return {{"as_expr", {{"expr_str", text}, {"hint", nullptr}}}};
  }
  static std::string symbol_text(const std::string& name) {
    return "Symbol('" + name + "', positive=True, integer=True)";
  }

  // An extent over the program's symbols ("s0"), as sympy reads it.
  static std::string parsed(const std::string& extent) {
    std::string text;
    for (size_t i = 0; i < extent.size();) {
      size_t end = i;
      while (end < extent.size() && ((extent[end] >= '0' && extent[end] <= '9') || extent[end] == 's')) ++end;
      if (end == i) {
        text += extent[i++];
        continue;
      }
      const std::string word = extent.substr(i, end - i);
      text += word[0] == 's' ? symbol_text(word) : word;
      i = end;
    }
    return text;
  }

  std::string symbol(const Dim& dim) {
    for (const auto& [model, own] : program_.symbols) {
      if (!dim.symbol.empty() && model == dim.symbol) return symbol_text(own);
    }
    unnamed_.push_back(cat("s", program_.symbols.size() + unnamed_.size()));
    return symbol_text(unnamed_.back());
  }

  OrderedJson item(const Item& item) const {
    return item.fixed() ? number(item.number) : OrderedJson{{"as_name", program_.var(item.var).name}};
  }

  OrderedJson argument(const Arg& arg) const {
    if (const auto* t = std::get_if<TensorArg>(&arg)) return as_tensor(program_.var(t->var).name);
    if (const auto* i = std::get_if<Item>(&arg))
      return i->fixed() ? number(i->number) : OrderedJson{{"as_sym_int", item(*i)}};
    if (const auto* d = std::get_if<double>(&arg)) return {{"as_float", json_real(*d)}};
    if (const auto* b = std::get_if<bool>(&arg)) return {{"as_bool", *b}};
    if (const auto* s = std::get_if<std::string>(&arg)) return {{"as_string", *s}};
    if (const auto* t = std::get_if<DType>(&arg)) return {{"as_scalar_type", exported_scalar_type(*t)}};
    if (const auto* list = std::get_if<Items>(&arg)) {
      const bool fixed = std::all_of(list->begin(), list->end(), [](const Item& i) { return i.fixed(); });
      OrderedJson items = OrderedJson::array();
      for (const Item& i : *list) items.push_back(fixed ? OrderedJson(i.number) : item(i));
      return {{fixed ? "as_ints" : "as_sym_ints", items}};
    }
    if (const auto* list = std::get_if<std::vector<VarId>>(&arg)) {
      OrderedJson items = OrderedJson::array();
      for (VarId v : *list) items.push_back(named(program_.var(v).name));
      return {{"as_tensors", items}};
    }
    return {{"as_none", true}};
  }

  OrderedJson node(const Call& call) const {
    OrderedJson inputs = OrderedJson::array(), outputs = OrderedJson::array();
    const bool integers = *call.signature->overload == 0;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const bool positional = i < call.signature->positional;
      inputs.push_back({{"name", integers ? "" : call.signature->arguments[i]},
                        {"arg", argument(call.args[i])},
                        {"kind", positional ? kPositional : kByName}});
    }
    if (call.list) {
      OrderedJson items = OrderedJson::array();
      for (VarId v : call.outputs) items.push_back(named(program_.var(v).name));
      outputs.push_back({{"as_tensors", items}});
    } else {
      for (VarId v : call.outputs) {
        const Var& var = program_.var(v);
        outputs.push_back(var.kind == Kind::Int ? OrderedJson{{"as_sym_int", {{"as_name", var.name}}}}
                                                : as_tensor(var.name));
      }
    }
    return {{"target", call.signature->target},
            {"inputs", inputs},
            {"outputs", outputs},
            {"metadata", OrderedJson::object()},
            {"is_hop_single_tensor_return", nullptr}};
  }

  const Program& program_;
  Keys keys_;
  std::vector<VarId> held_;  // parameters, buffers, constants
  std::map<VarId, std::string> key_of_;
  std::vector<std::string> unnamed_;
};

// Open extents of inputs that have no symbol get one, so that what follows from them is known to be the same.
void name_open_extents(Graph& graph) {
  for (ValueId v : graph.inputs) {
    Type& type = graph.value(v).type;
    for (size_t i = 0; type.shape && i < type.shape->size(); ++i) {
      Dim& dim = (*type.shape)[i];
      if (!dim.fixed() && dim.symbol.empty()) dim = Dim(cat(graph.value(v).name, ".", i));
    }
  }
}

}  // namespace
}  // namespace dnn::torch

namespace dnn::pt2 {

ModelFiles to_files(const Graph& source, const WriteOptions&) {
  using namespace dnn::torch;  // NOLINT(google-build-using-namespace): the family's shared parts
  Graph graph = source;
  name_open_extents(graph);
  infer_types(graph);
  to_channels_first(graph);
  const Program program = to_program(graph);
  Pt2Printer printer(program);
  const std::string root = "net/";
  ZipWriter zip(kStorageAlignment);
  OrderedJson weights = OrderedJson::object(), constants = OrderedJson::object();
  zip.add(root + "archive_format", "pt2");
  zip.add(root + "models/model.json", json_text(printer.model()));
  for (VarId v : printer.held()) {
    const Var& var = program.var(v);
    const bool constant = var.role == Role::Constant;
    OrderedJson& config = constant ? constants : weights;
    const std::string path = cat(constant ? "tensor_" : "weight_", config.size());
    config[printer.key(v)] = {{"path_name", path},
                              {"is_param", var.role == Role::Parameter},
                              {"use_pickle", false},
                              {"tensor_meta", printer.meta(var)}};
    zip.add(root + (constant ? "data/constants/" : "data/weights/") + path, content_of(var.tensor));
  }
  zip.add(root + "data/weights/model_weights_config.json", json_text(OrderedJson{{"config", weights}}));
  zip.add(root + "data/constants/model_constants_config.json", json_text(OrderedJson{{"config", constants}}));
  zip.add(root + "data/sample_inputs/model.pt", "");
  zip.add(root + "extra/" + kSignatureKey, signature_json(graph));
  for (const auto& [key, text] : graph.metadata) {
    if (key != kSignatureKey) zip.add(root + "extra/" + key, text);
  }
  zip.add(root + "byteorder", "little");
  zip.add(root + ".data/version", "6\n");
  zip.add(root + "archive_version", "0");
  return single_file(zip.content());
}

}  // namespace dnn::pt2
