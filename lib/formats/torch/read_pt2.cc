// torch.export's JSON graph, of both generations of archives; see pt2.h.
#include <algorithm>
#include <set>

#include "formats/torch/archive.h"
#include "formats/torch/import.h"
#include "formats/torch/json.h"
#include "formats/torch/pt2.h"
#include "formats/torch/pt2_values.h"
#include "formats/torch/pt2_weights.h"
#include "formats/torch/shapes.h"
#include "formats/torch/signature.h"

namespace dnn::pt2 {
namespace {

using torch::Any;
using torch::Json;
using torch::member;

constexpr const char* kModel = "models/model.json";
constexpr const char* kOldModel = "serialized_exported_program.json";

// A node's module: the last entry of "name,path,class;name,path,class".
std::string module_path(const Json& node) {
  const Json* metadata = torch::find_member(node, "metadata");
  const Json* stack = metadata == nullptr ? nullptr : torch::find_member(*metadata, "nn_module_stack");
  if (stack == nullptr || !stack->is_string()) return "";
  const std::string& text = stack->get_ref<const std::string&>();
  const size_t last = text.rfind(';');
  const std::vector<std::string> parts = split(last == std::string::npos ? text : text.substr(last + 1), ',');
  return parts.size() >= 2 && parts[1].size() < 1000 ? parts[1] : "";
}

class Reader {
 public:
  explicit Reader(const ModelSource& source)
      : shapes_(source.shapes),
        archive_(source.bytes, source.owner),
        tensors_(archive_.owner(), archive_.big_endian(), source.bytes.size()),
        importer_(source.ignored),
        values_(importer_) {}

  Graph read() {
    const bool old = !archive_.has(kModel);
    const char* file = old ? kOldModel : kModel;
    const Json json = torch::parse_json(archive_.text(file), file);
    values_.set_weights(open_weights(archive_, tensors_, old));
    importer_.draft.graph.producer = "torch.export";
    const std::string record = std::string("extra/") + torch::kSignatureKey;
    if (archive_.has(record)) signature_ = torch::parse_signature(archive_.text(record));
    importer_.draft.graph.name = signature_.name;
    torch::read_extras(archive_, &importer_.draft.graph);
    const Json& module = member(json, "graph_module");
    const Json& graph = member(module, "graph");
    read_inputs(graph, torch::array(member(member(module, "signature"), "input_specs"), "input_specs"));
    find_leaves(graph);
    for (const Json& node : torch::array(member(graph, "nodes"), "nodes")) read_node(node);
    read_outputs(graph, torch::array(member(member(module, "signature"), "output_specs"), "output_specs"));
    return importer_.draft.finish();
  }

 private:
  // An extent of a user's input: open ones by the name of their symbol, the first axis' as batch.
  Dim extent(const Json& size, const std::string& input, size_t axis, size_t rank) {
    if (const Json* fixed = torch::find_member(size, "as_int")) {
      const int64_t n = torch::integer(*fixed, "a size");
      if (n < 0) fail_malformed("input '", input, "': an extent of ", n);
      return n;
    }
    const std::string& symbol = torch::text(member(member(size, "as_expr"), "expr_str"), "an extent");
    const auto [at, fresh] = symbols_.emplace(symbol, torch::open_extent(input, axis, rank));
    for (const auto& [other, dim] : symbols_) {
      if (fresh && other != symbol && dim == at->second) at->second = Dim(cat(input, "_dim", axis));
    }
    return at->second;
  }

  void read_inputs(const Json& graph, const Json& specs) {
    const Json& values = member(graph, "tensor_values");
    size_t n_inputs = 0;
    for (const Json& spec : specs) n_inputs += torch::find_member(spec, "user_input") != nullptr ? 1 : 0;
    for (const Json& spec : specs) {
      if (const Json* user = torch::find_member(spec, "user_input")) {
        const Json& argument = member(*user, "arg");
        const Json* tensor = torch::find_member(argument, "as_tensor");
        if (tensor == nullptr) continue;  // a constant that the graph has inside
        const std::string& name = torch::text(member(*tensor, "name"), "an input's name");
        const Json& meta = member(values, name.c_str());
        std::vector<Dim> dims;
        const Json& sizes = torch::array(member(meta, "sizes"), "sizes");
        for (size_t i = 0; i < sizes.size(); ++i) dims.push_back(extent(sizes[i], name, i, sizes.size()));
        const size_t place = importer_.draft.graph.inputs.size();
        const bool known = signature_.inputs.size() == n_inputs && signature_.inputs[place].type.shape.has_value() &&
                           signature_.inputs[place].type.shape->size() == dims.size();
        const std::string label = known ? signature_.inputs[place].name : name;
        for (size_t i = 0; known && i < dims.size(); ++i) {  // the symbols that the model had
          const Dim& own = (*signature_.inputs[place].type.shape)[i];
          if (!own.fixed() && !dims[i].fixed()) dims[i] = own;
        }
        const Type type = torch::with_shape(Type(dtype_of(meta), dims), shapes_, label, n_inputs);
        values_.set(name, importer_.cell(importer_.add_input(label, type)));
        continue;
      }
      static constexpr std::array<std::pair<const char*, const char*>, 3> kKinds = {
          {{"parameter", "parameter_name"}, {"buffer", "buffer_name"}, {"tensor_constant", "tensor_constant_name"}}};
      bool found = false;
      for (const auto& kind : kKinds) {
        const Json* entry = torch::find_member(spec, kind.first);
        if (entry == nullptr) continue;
        const std::string& weight = torch::text(member(*entry, kind.second), "a name");
        values_.set_weight(torch::text(member(member(*entry, "arg"), "name"), "a name"), weight);
        found = true;
      }
      if (!found)
        fail_unsupported("inputs of the kind ", spec.is_object() && !spec.empty() ? spec.begin().key() : "?",
                         " are not read");
    }
  }

  void find_leaves(const Json& graph) {
    for (const Json& node : torch::array(member(graph, "nodes"), "nodes")) paths_.insert(module_path(node));
  }

  std::string node_name(const Json& node, const std::string& op) const {
    const std::string path = module_path(node);
    if (path.empty()) return op;
    const auto inside = paths_.lower_bound(path + ".");
    const bool leaf = inside == paths_.end() || !starts_with(*inside, path + ".");
    return leaf ? path : path + "." + op;
  }

  // A sum, product or quotient of extents, which is rounded down.
  Any extent_math(const std::string& op, const std::vector<Any>& arguments, const std::string& name) {
    if (arguments.size() != 2) fail_malformed("node '", name, "': ", op, " of ", arguments.size());
    const auto *a = arguments[0].get<int64_t>(), *b = arguments[1].get<int64_t>();
    if (a != nullptr && b != nullptr) {
      int64_t result = 0;
      if (op == "Div"   ? *b <= 0
          : op == "Add" ? __builtin_add_overflow(*a, *b, &result)
          : op == "Sub" ? __builtin_sub_overflow(*a, *b, &result)
                        : __builtin_mul_overflow(*a, *b, &result))
        fail_malformed("node '", name, "': a number is out of range");
      if (op == "Div") result = *a / *b - (*a % *b < 0 ? 1 : 0);
      return result;
    }
    for (const Any& argument : arguments) {
      if (argument.get<Any::Symbolic>() == nullptr && argument.get<int64_t>() == nullptr)
        fail_malformed("node '", name, "': ", op, " of ", kind_of(argument));
    }
    DraftBuilder steps(importer_.draft, name);
    return importer_.symbolic_math(op, arguments[0], arguments[1], steps);
  }

  void read_node(const Json& node) {
    const std::string& target = torch::text(member(node, "target"), "a target");
    const Json& outputs = torch::array(member(node, "outputs"), "outputs");
    std::string label;
    if (!outputs.empty()) {
      if (const Json* tensor = torch::find_member(outputs[0], "as_tensor"))
        label = torch::text(member(*tensor, "name"), "a name");
    }
    std::vector<Any> arguments;
    std::vector<std::string> keywords;
    try {
      for (const Json& input : torch::array(member(node, "inputs"), "inputs")) {
        arguments.push_back(values_.argument(member(input, "arg")));
        const Json* name = torch::find_member(input, "name");
        const bool named = name != nullptr && name->is_string() && !name->get_ref<const std::string&>().empty();
        if (named) keywords.push_back(name->get<std::string>());
        if (!named && !keywords.empty()) fail_malformed("a positional argument behind a named one");
      }
      define(outputs, call(target, std::move(arguments), keywords, node, label));
    } catch (Error& e) {
      if (starts_with(e.what(), "torch.")) throw;
      throw e.within(cat(target, " '", label, "'"));
    }
  }

  Any call(const std::string& target, std::vector<Any> arguments, const std::vector<std::string>& keywords,
           const Json& node, const std::string& label) {
    static const std::map<std::string, std::string> kMath = {
        {"_operator.add", "Add"}, {"_operator.sub", "Sub"}, {"_operator.mul", "Mul"}, {"_operator.floordiv", "Div"}};
    const auto math = kMath.find(target);
    if (math != kMath.end()) return extent_math(math->second, arguments, label.empty() ? "extent" : label);
    const std::vector<std::string> parts = split(target, '.');  // torch ops aten conv2d default
    if (parts.size() < 4 || parts[0] != "torch" || parts[1] != "ops" || parts[2] == "higher_order")
      fail_unsupported("this operator is not read");
    const std::string op = parts[2] == "aten" ? parts[3] : parts[2] + "::" + parts[3];
    if (op == "sym_size") {
      const auto* tensor = arguments.empty() ? nullptr : arguments[0].get<Any::Tensor>();
      const auto* axis = arguments.size() < 2 ? nullptr : arguments[1].get<int64_t>();
      if (tensor == nullptr || axis == nullptr) fail_malformed("its arguments are no tensor and axis");
      return importer_.extent(importer_.value_of(*tensor, label), *axis);
    }
    if (starts_with(op, "_assert") || starts_with(op, "sym_constrain_range")) return {};
    return importer_.call(op, std::move(arguments), keywords, node_name(node, op), dnn::quoted(label));
  }

  void define(const Json& outputs, const Any& result) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      Any part = result;
      if (outputs.size() > 1) {
        const auto* list = result.get<Any::List>();
        if (list == nullptr || i >= (*list)->items.size())
          fail_malformed(outputs.size(), " outputs, but fewer results");
        part = (*list)->items[i];
      }
      const Json& output = outputs[i];
      if (const Json* tensor = torch::find_member(output, "as_tensor")) {
        values_.set(torch::text(member(*tensor, "name"), "a name"), part);
      } else if (const Json* number = torch::find_member(output, "as_sym_int")) {
        if (const Json* name = torch::find_member(*number, "as_name")) values_.set(torch::text(*name, "a name"), part);
      } else if (const Json* tensors = torch::find_member(output, "as_tensors")) {
        const auto* list = part.get<Any::List>();
        if (list == nullptr || (*list)->items.size() != torch::array(*tensors, "outputs").size())
          fail_malformed("other outputs than results");
        for (size_t k = 0; k < tensors->size(); ++k)
          values_.set(torch::text(member((*tensors)[k], "name"), "a name"), (*list)->items[k]);
      }
    }
  }

  void read_outputs(const Json& graph, const Json& specs) {
    Graph& result = importer_.draft.graph;
    const Json& outputs = torch::array(member(graph, "outputs"), "outputs");
    DraftBuilder steps(importer_.draft, "output");
    for (size_t i = 0; i < outputs.size() && i < specs.size(); ++i) {
      const Json* tensor = torch::find_member(outputs[i], "as_tensor");
      if (torch::find_member(specs[i], "user_output") == nullptr || tensor == nullptr) continue;
      const Any cell = values_.value(torch::text(member(*tensor, "name"), "an output's name"));
      if (!cell.tensor()) fail_malformed("an output is ", kind_of(cell));
      ValueId v = importer_.real_of(*cell.get<Any::Tensor>(), steps, "the output");
      if (result.is_input(v) || result.is_output(v) || result.constant(v) != nullptr) v = steps.emit("Identity", {v});
      if (signature_.outputs.size() == outputs.size())
        v = importer_.draft.rename(v, signature_.outputs[result.outputs.size()].name, "output");
      result.outputs.push_back(v);
    }
    if (result.outputs.empty()) fail_unsupported("the program returns no tensor");
  }

  const std::vector<std::string>& shapes_;
  torch::ModelSignature signature_;
  torch::Archive archive_;
  torch::StridedTensors tensors_;
  torch::Importer importer_;
  ProgramValues values_;
  std::map<std::string, Dim> symbols_;
  std::set<std::string> paths_;
};

}  // namespace

bool sniff(const ModelSource& source) {
  return torch::has_record(source.bytes, kModel) || torch::has_record(source.bytes, kOldModel);
}

Graph read(const ModelSource& source) { return Reader(source).read(); }

}  // namespace dnn::pt2
