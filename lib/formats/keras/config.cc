// Configurations of all dialects; see config.h.
#include "formats/keras/config.h"

#include <algorithm>
#include <functional>
#include <set>

namespace dnn::keras {
namespace {

constexpr int kMaxDepth = 120;
constexpr size_t kMaxText = size_t{8} << 20;

const Json& field(const Json& object, const char* key, const char* what) {
  if (!object.is_object()) fail_malformed(what, ": not an object");
  const auto found = object.find(key);
  if (found == object.end()) fail_malformed(what, ": has no '", key, "'");
  return *found;
}

std::string text_of(const Json& object, const char* key, const std::string& fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : fallback;
}

// ["name", 0, 0], as Keras 1 and 2 refer to tensors and all dialects to inputs and outputs.
bool is_plain_ref(const Json& v) {
  return v.is_array() && v.size() >= 3 && v[0].is_string() && v[1].is_number_integer() && v[2].is_number_integer();
}

Json tensor_json(const Json& plain) { return {{"tensor", Json::array({plain[0], plain[1], plain[2]})}}; }

// Keras 3's tensors in the form of config.h.
Json arguments(const Json& v) {
  if (v.is_object() && text_of(v, "class_name", "") == "__keras_tensor__") {
    const Json& history = field(field(v, "config", "tensor"), "keras_history", "tensor");
    if (!is_plain_ref(history)) fail_malformed("a tensor whose history is none");
    return tensor_json(history);
  }
  if (!v.is_structured()) return v;
  Json result = v.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : v.items()) {
    if (v.is_array()) {
      result.push_back(arguments(item));
    } else {
      result[key] = arguments(item);
    }
  }
  return result;
}

// Keyword arguments of Keras 2, where a tensor is a list that begins with a layer's name.
Json keywords(const Json& v, const std::set<std::string>& layers) {
  if (is_plain_ref(v) && layers.count(v[0].get<std::string>()) != 0) return tensor_json(v);
  if (!v.is_structured()) return v;
  Json result = v.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : v.items()) {
    if (v.is_array()) {
      result.push_back(keywords(item, layers));
    } else {
      result[key] = keywords(item, layers);
    }
  }
  return result;
}

// A call of Keras 1 or 2: a list of [layer, call, output, keywords].
CallConfig old_call(const Json& entries, const std::set<std::string>& layers) {
  CallConfig call;
  const Json list = is_plain_ref(entries) ? Json::array({entries}) : entries;
  Json tensors = Json::array();
  if (!list.is_array() && !list.is_object()) fail_malformed("an inbound node that is no list");
  for (const Json& entry : list) {
    if (!entry.is_array() || entry.size() < 3 || !entry[0].is_string())
      fail_malformed("an inbound node that is no list");
    if (entry[0] == "_CONSTANT_VALUE") {
      tensors.push_back(entry[2]);
    } else if (is_plain_ref(entry)) {
      tensors.push_back(tensor_json(entry));
    } else {
      fail_malformed("an inbound node that names no tensor");
    }
    if (entry.size() > 4 || (entry.size() == 4 && !entry[3].is_object()))
      fail_unsupported("an inbound node whose entries are not known");
    if (entry.size() > 3) {
      for (const auto& [key, value] : entry[3].items()) call.kwargs[key] = keywords(value, layers);
    }
  }
  if (tensors.size() == 1) {
    call.args.push_back(tensors[0]);
  } else if (!tensors.empty()) {
    call.args.push_back(std::move(tensors));
  }
  return call;
}

std::vector<CallConfig> calls_of(const Json& nodes, const std::set<std::string>& layers, const IgnoredFields& ignored) {
  std::vector<CallConfig> calls;
  if (!nodes.is_array()) fail_malformed("inbound nodes that are no list");
  for (const Json& node : nodes) {
    if (!node.is_object() || node.find("args") == node.end()) {
      calls.push_back(old_call(node, layers));
      continue;
    }
    const Fields entries(node, "an inbound node");
    CallConfig call;
    call.args = arguments(entries.take("args"));
    if (!call.args.is_array()) fail_malformed("arguments that are no list");
    if (entries.has("kwargs")) call.kwargs = arguments(entries.take("kwargs"));
    if (!call.kwargs.is_object()) fail_malformed("named arguments that are no object");
    entries.finish("an inbound node", "", FieldKind::Entry, ignored);
    calls.push_back(std::move(call));
  }
  return calls;
}

// input_layers or output_layers: one reference, a list of them, or a dictionary.
void collect_refs(const Json& v, std::vector<TensorRef>* out) {
  if (is_plain_ref(v)) {
    out->push_back(tensor_of(tensor_json(v)));
    return;
  }
  if (!v.is_structured()) fail_malformed("an input or output that names no layer");
  for (const Json& item : v) collect_refs(item, out);
}

bool is_model(const Json& layer) {
  const std::string name = text_of(layer, "class_name", "");
  if (name != "Sequential" && name != "Functional" && name != "Model") return false;
  const auto config = layer.find("config");
  return config != layer.end() && (config->is_array() || config->find("layers") != config->end());
}

// The models that Keras 2 nests have a call of their own in front of those that the file lists.
void settle_calls(Model& model) {
  const std::set<std::string> none;
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < model.layers.size(); ++i) by_name.emplace(model.layers[i].name, i);
  std::set<std::string> from_zero;
  const auto note = [&](const TensorRef& ref) {
    if (ref.call == 0) from_zero.insert(ref.layer);
  };
  for (const Layer& layer : model.layers) {
    for (const CallConfig& call : layer.calls) {
      for (const TensorRef& ref : tensors_of(call)) note(ref);
    }
  }
  for (const TensorRef& ref : model.outputs) note(ref);
  const auto shifted = [&](const std::string& name) {
    const auto found = by_name.find(name);
    return found != by_name.end() && model.layers[found->second].model != nullptr && from_zero.count(name) == 0;
  };
  const std::function<void(Json&)> shift = [&](Json& v) {
    if (is_tensor(v)) {
      Json& ref = v["tensor"];
      if (shifted(ref[0].get<std::string>())) ref[1] = ref[1].get<int64_t>() - 1;
    } else if (v.is_structured()) {
      for (Json& item : v) shift(item);
    }
  };
  for (Layer& layer : model.layers) {
    for (CallConfig& call : layer.calls) {
      shift(call.args);
      shift(call.kwargs);
    }
  }
  for (TensorRef& ref : model.outputs) {
    if (shifted(ref.layer)) --ref.call;
  }
}

// Python writes infinities and NaN as words that JSON has not; they become texts in NumPy's spelling. Outside texts no other word begins so.
std::string without_python_words(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}, {"NaN", "\"nan\""}};
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto* word = std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& w) {
      return !quoted && text.substr(i, w.first.size()) == w.first;
    });
    if (word != std::end(kWords)) {
      result += word->second;
      i += word->first.size() - 1;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    result += text[i];
    if (text[i] == '\\' && i + 1 < text.size()) result += text[++i];
  }
  return result;
}

}  // namespace

Model::Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Json parse_json(std::string_view text, const char* what) {
  if (text.size() > kMaxText)
    fail_unsupported(what, ": ", text.size(), " bytes of JSON, at most ", kMaxText, " are read");
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) fail_malformed(what, ": JSON nested deeper than ", kMaxDepth);
    return true;
  };
  try {
    return Json::parse(without_python_words(text), shallow);
  } catch (const Json::exception& e) {
    fail_malformed(what, ": not JSON: ", e.what());
  }
}

bool is_tensor(const Json& argument) {
  if (!argument.is_object() || argument.size() != 1) return false;
  const auto found = argument.find("tensor");
  return found != argument.end() && is_plain_ref(*found);
}

TensorRef tensor_of(const Json& argument) {
  const Json& ref = argument.at("tensor");
  return {ref[0].get<std::string>(), ref[1].get<int64_t>(), ref[2].get<int64_t>()};
}

std::vector<TensorRef> tensors_of(const CallConfig& call) {
  std::vector<TensorRef> result;
  const std::function<void(const Json&)> visit = [&](const Json& v) {
    if (is_tensor(v)) {
      result.push_back(tensor_of(v));
    } else if (v.is_structured()) {
      for (const Json& item : v) visit(item);
    }
  };
  visit(call.args);
  visit(call.kwargs);
  return result;
}

namespace {

class ModelReader {
 public:
  ModelReader(int version, const IgnoredFields& ignored) : version_(version), ignored_(ignored) {}

  // `root`: with its class, in a layer's place or alone.
  Model model(const Json& root) {
    const std::string kind = text_of(root, "class_name", "");
    if (!is_model(root)) {
      if (kind.empty()) fail_malformed("the configuration names no class");
      fail_unsupported("model class '", kind, "' is a program of its own; Sequential and Functional models are read");
    }
    Model model;
    model.sequential = kind == "Sequential";
    const Fields entries(root, "model");
    for (const char* key : {"class_name", "module", "registered_name", "name", "inbound_nodes", kSourceKey})
      entries.take(key);
    const Json& config = entries.take("config");
    if (config.is_array()) {  // Keras 1
      add_layers(config, &model);
    } else {
      const Fields options(config, "model");
      model.name = options.text("name");
      const std::string label = "model '" + model.name + "'";
      model.input_shape = options.take("build_input_shape");
      options.take("dtype");  // of a model's inputs, which its input layers say; each layer has its own
      add_layers(options.take("layers"), &model);
      if (!model.sequential) {
        collect_refs(field(config, "input_layers", "model"), &model.inputs);
        collect_refs(field(config, "output_layers", "model"), &model.outputs);
        options.take("input_layers");
        options.take("output_layers");
      }
      options.finish(label, kind, FieldKind::Option, ignored_);
    }
    entries.finish(cat("model '", model.name, "'"), kind, FieldKind::Entry, ignored_);
    settle_calls(model);
    return model;
  }

 private:
  void add_layers(const Json& layers, Model* model) {
    if (!layers.is_array()) fail_malformed("layers that are no list");
    std::set<std::string> names;
    for (const Json& layer : layers) {
      field(layer, "class_name", "layer");
      const Json& own = field(layer, "config", "layer");
      const std::string name = text_of(layer, "name", own.is_object() ? text_of(own, "name", "") : "");
      if (!name.empty() && !names.insert(name).second) fail_malformed("two layers are called '", name, "'");
    }
    for (const Json& json : layers) model->layers.push_back(layer(json, names, *model));
  }

  Layer layer(const Json& json, const std::set<std::string>& names, Model& model) {
    const Fields entries(json, "layer");
    Layer layer;
    layer.class_name = entries.text("class_name");
    layer.module = entries.text("module");
    layer.name = entries.text("name");
    entries.take("registered_name");  // refuse_programs() has looked at it
    const Json& source = entries.take(kSourceKey);
    layer.source_node = text_of(source, "node", "");
    layer.source_value = text_of(source, "value", "");
    if (layer.class_name.empty()) fail_malformed("a layer without a class");
    const Json& nodes = entries.take("inbound_nodes");
    if (!nodes.is_null() && !model.sequential) {
      try {
        layer.calls = calls_of(nodes, names, ignored_);
      } catch (Error& error) {
        throw error.within(layer.label());
      }
    }
    if (is_model(json)) {
      entries.take("config");  // model() answers for it
      if (layer.name.empty()) layer.name = text_of(json["config"], "name", "");
      layer.model = std::make_unique<Model>(this->model(json));
    } else {
      const Json& config = entries.take("config");
      layer.config = Fields(config, layer.label());
      if (layer.name.empty()) layer.name = text_of(config, "name", "");
      // Keras 3 writes its operations into .h5 without the module that tells them from layers, and layers with "trainable".
      if (version_ >= 3 && layer.module.empty() && layer.class_name != "InputLayer" && !config.contains("trainable"))
        layer.module = "keras.src.ops";
      const Json& built = entries.take("build_config");
      if (model.layers.empty() && model.input_shape.is_null() && built.is_object() && built.contains("input_shape"))
        model.input_shape = built["input_shape"];
    }
    if (layer.name.empty()) layer.name = cat(layer.class_name, "_", model.layers.size());
    add_inner(json["config"], &layer);
    entries.finish(layer.label(), layer.class_name, FieldKind::Entry, ignored_);
    return layer;
  }

  // The layers that a wrapper's configuration holds.
  void add_inner(const Json& config, Layer* layer) {
    if (layer->class_name != "TimeDistributed" && layer->class_name != "Bidirectional") return;
    const auto wrapped = [&](const Json& json) {
      Model apart;
      apart.sequential = true;  // nothing calls it but the wrapper
      layer->inner.push_back(this->layer(json, {}, apart));
    };
    const Json& own = field(config, "layer", layer->label().c_str());
    wrapped(own);
    if (layer->class_name == "TimeDistributed") return;
    if (config.contains("backward_layer") && !config["backward_layer"].is_null()) {
      wrapped(config["backward_layer"]);
    } else {  // the same layer, the other way round
      Json other = own;
      Json& options = other["config"];
      if (!options.is_object()) fail_malformed(layer->label(), ": the layer in it has no configuration");
      options["go_backwards"] = !options.contains("go_backwards") || options["go_backwards"] != true;
      options["name"] = "backward_" + text_of(options, "name", "layer");
      wrapped(other);
    }
  }

  const int version_;
  const IgnoredFields& ignored_;
};

}  // namespace

Model model_of(const Json& root, int version, const IgnoredFields& ignored) {
  refuse_programs(root, ignored);
  return ModelReader(version, ignored).model(root);
}

}  // namespace dnn::keras
