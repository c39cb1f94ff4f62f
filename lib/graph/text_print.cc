// Printing of the text form; see text.h.
#include <algorithm>
#include <set>

#include "graph/tensor_text.h"
#include "graph/text.h"

namespace dnn {
namespace {

bool is_bare(std::string_view name) {
  static const std::set<std::string_view> kKeywords = {"alias", "capture", "const",    "describe", "doc",
                                                       "from",  "graph",   "input",    "layout",   "metadata",
                                                       "opset", "output",  "producer", "_"};
  return !name.empty() && kKeywords.count(name) == 0 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_./-+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string float_text(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::string text = exact_text(value);
  if (text == "nan" && bits != 0x7fc00000u) return cat("nan(", bits, ")");
  return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}

// "ints[]" where there is nothing to tell the type by.
template <class T, class Print>
std::string list(const char* empty, const std::vector<T>& values, Print print) {
  if (values.empty()) return cat(empty, "[]");
  std::vector<std::string> items;
  for (const T& value : values) items.push_back(print(value));
  return "[" + join(items) + "]";
}

class Printer {
 public:
  explicit Printer(const TextOptions& options) : options_(options) {}

  std::string graph_text(const Graph& graph, const std::string& indent) const {
    const std::string inner = indent + "  ";
    std::string out = "graph " + dnn::quoted(graph.name) + " {\n";
    const auto line = [&](const std::string& text) { out += inner + text + "\n"; };
    for (const auto& [domain, version] : graph.source_opsets) {
      line(cat("opset ", domain.empty() ? "" : dnn::quoted(domain) + " ", version));
    }
    if (!graph.producer.empty()) line("producer " + dnn::quoted(graph.producer));
    if (!graph.doc.empty()) line("doc " + dnn::quoted(graph.doc));
    for (const auto& [key, text] : graph.metadata) line("metadata " + dnn::quoted(key) + " " + dnn::quoted(text));
    std::vector<bool> shown(graph.value_count(), false);
    std::vector<ValueId> order;  // as the text defines them
    const auto show = [&](ValueId id) {
      if (id == kNoValue || shown[id]) return false;
      shown[id] = true;
      order.push_back(id);
      return true;
    };
    for (ValueId id : graph.inputs) {
      line("input " + value_text(graph, id));
      show(id);
    }
    for (ValueId id : graph.captures) {
      line("capture " + value_text(graph, id));
      show(id);
    }
    const auto show_constant = [&](ValueId id) {
      if (id == kNoValue || graph.constant(id) == nullptr || !show(id)) return;
      line("const " + value_text(graph, id) + " = " + tensor_text(*graph.constant(id), options_));
    };
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      for (ValueId value : node.inputs) show_constant(value);
      for (ValueId value : captured_values(graph, node)) show_constant(value);
      for (ValueId value : node.outputs) show(value);
      line(node_text(graph, node, inner));
    }
    for (ValueId id : graph.outputs) {
      show_constant(id);
      line("output " + name_text(graph.value(id).name));
    }
    for (ValueId id : order) {
      const Value& value = graph.value(id);
      for (const std::string& alias : value.aliases) line("alias " + name_text(value.name) + " " + dnn::quoted(alias));
      if (!value.layout.empty()) line("layout " + name_text(value.name) + " " + dnn::quoted(value.layout));
      if (!value.doc.empty()) line("describe " + name_text(value.name) + " " + dnn::quoted(value.doc));
    }
    return out + indent + "}";
  }

 private:
  static std::string value_text(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    return value.type == Type() ? name_text(value.name) : name_text(value.name) + ": " + type_text(value.type);
  }

  std::string node_text(const Graph& graph, const Node& node, const std::string& indent) const {
    std::vector<std::string> outputs, inputs;
    for (ValueId id : node.outputs) outputs.push_back(id == kNoValue ? "_" : value_text(graph, id));
    for (ValueId id : node.inputs) inputs.push_back(id == kNoValue ? "_" : name_text(graph.value(id).name));
    std::string out = outputs.empty() ? "()" : join(outputs);
    out += " = " + (node.domain.empty() ? "" : name_text(node.domain) + "::") + name_text(node.op) + "(" +
           join(inputs) + ")";
    if (!node.name.empty()) out += " @" + name_text(node.name);
    if (!node.attributes.empty()) {
      std::vector<std::string> items;
      for (const auto& [key, value] : node.attributes)
        items.push_back(name_text(key) + " = " + attribute_text(value, indent));
      out += " {" + join(items) + "}";
    }
    if (!node.sources.empty()) {
      std::vector<std::string> items;
      for (const std::string& source : node.sources) items.push_back(dnn::quoted(source));
      out += " from " + join(items);
    }
    if (!node.doc.empty()) out += " doc " + dnn::quoted(node.doc);
    return out;
  }

  std::string constant_text(const Tensor& tensor) const {
    return type_text(Type(tensor)) + (tensor_text(tensor, options_)[0] == '{' ? "" : " ") +
           tensor_text(tensor, options_);
  }

 public:
  std::string attribute_text(const Attribute& attribute, const std::string& indent) const {
    struct Visitor {
      const Printer& printer;
      const std::string& indent;
      std::string operator()(int64_t value) const { return std::to_string(value); }
      std::string operator()(float value) const { return float_text(value); }
      std::string operator()(const std::string& value) const { return dnn::quoted(value); }
      std::string operator()(const Tensor& value) const { return printer.constant_text(value); }
      std::string operator()(const std::shared_ptr<const Graph>& value) const {
        return printer.graph_text(*value, indent);
      }
      std::string operator()(const std::vector<int64_t>& values) const {
        return list("ints", values, [](int64_t value) { return std::to_string(value); });
      }
      std::string operator()(const std::vector<float>& values) const { return list("floats", values, float_text); }
      std::string operator()(const std::vector<std::string>& values) const {
        return list("strings", values, [](const std::string& value) { return dnn::quoted(value); });
      }
      std::string operator()(const std::vector<Tensor>& values) const {
        return list("tensors", values, [this](const Tensor& value) { return printer.constant_text(value); });
      }
    };
    return std::visit(Visitor{*this, indent}, attribute);
  }

 private:
  const TextOptions& options_;
};

}  // namespace

std::string name_text(std::string_view name) { return is_bare(name) ? std::string(name) : dnn::quoted(name); }

std::string type_text(const Type& type) {
  std::string out(type.dtype == DType::Undefined ? "?" : dtype_name(type.dtype));
  if (!type.shape) return out + "?";
  std::vector<std::string> dims;
  for (const Dim& dim : *type.shape) {
    const bool number = !dim.symbol.empty() && dim.symbol.find_first_not_of("0123456789") == std::string::npos;
    dims.push_back(dim.fixed()          ? std::to_string(dim.size)
                   : dim.symbol.empty() ? "?"
                   : number             ? dnn::quoted(dim.symbol)
                                        : name_text(dim.symbol));
  }
  return out + "[" + join(dims, ",") + "]";
}

std::string attribute_text(const Attribute& attribute, const TextOptions& options) {
  return Printer(options).attribute_text(attribute, "");
}

std::string to_text(const Graph& graph, const TextOptions& options) {
  return Printer(options).graph_text(graph, "") + "\n";
}

}  // namespace dnn
