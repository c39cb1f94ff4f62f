// Running a model's layers once, to build the graph; see keras.h.
#include <functional>
#include <map>
#include <set>

#include "base/zip.h"
#include "formats/keras/import.h"
#include "formats/keras/keras.h"
#include "formats/keras/operations.h"
#include "formats/wire/hdf5.h"

namespace dnn::keras {
namespace {

// Calls of layers, nested models' counted as often as they are called; more is no model but an attack.
constexpr size_t kMaxCalls = 100000;

// How a layer is read: one of the two.
struct Row {
  const LayerRow* layer = nullptr;
  const OperationRow* operation = nullptr;
};

// Unsupported where it is not.
Row import_row_of(const Layer& layer) {
  Row row;
  const bool operates = is_operation(layer);
  if (operates) {
    row.operation = find_operation(layer);
  } else {
    row.layer = find_layer(layer.class_name);
  }
  if (row.layer != nullptr || row.operation != nullptr) return row;
  const std::string function = operates ? layer.config.text("function") : "";
  if (!function.empty()) fail_unsupported(layer.label(), ": the function ", function, " is not read");
  fail_unsupported(layer.label(), ": this ", operates ? "operation" : "layer class", " is not read");
}

void check_classes(const Model& model);

void check_class(const Layer& layer) {
  if (layer.model != nullptr) {
    check_classes(*layer.model);
  } else if (layer.class_name != "InputLayer") {
    import_row_of(layer);
  }
  for (const Layer& inner : layer.inner) check_class(inner);
}

// Layers that nothing calls count too: a framework that loads the file makes all of them.
void check_classes(const Model& model) {
  for (const Layer& layer : model.layers) {
    check_class(layer);
  }
}

class Reader {
 public:
  Reader(Archive archive, IgnoredFields ignored) : archive_(std::move(archive)) {
    session_.ignored = std::move(ignored);
    session_.version = archive_.version;
    session_.flips_kernels = archive_.flips_kernels;
    // A wrapper costs levels of JSON, which are counted.
    session_.call = [this](const Layer& layer, const std::string& name, Json args, Json kwargs) {
      return call_layer(layer, name, std::move(args), std::move(kwargs), 0);
    };
  }

  Graph read() {
    Graph& graph = session_.draft.graph;
    Model& model = archive_.model;
    check_classes(model);
    graph.name = model.name;
    graph.producer = archive_.producer;
    graph.metadata = archive_.metadata;
    graph.inputs = model.sequential ? sequential_input(model) : functional_inputs(model);
    for (ValueId v : run(model, graph.inputs, "", 0)) {
      if (graph.is_input(v) || graph.is_output(v) || graph.constant(v) != nullptr)
        v = session_.draft.rename(v, graph.value(v).name + "_output", "");
      graph.outputs.push_back(v);
    }
    if (graph.outputs.empty()) fail_malformed("the model has no outputs");
    return session_.draft.finish();
  }

 private:
  // A graph input of a batch shape.
  ValueId add_input(const std::string& name, const Json& shape, const Json& dtype) {
    if (!shape.is_array() || shape.size() > 16) fail_malformed("input '", name, "': its shape is no list");
    Type type;
    type.shape.emplace();
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].is_null()) {
        type.shape->emplace_back(i == 0 ? std::string("batch") : cat(name, "_dim", i));
      } else if (shape[i].is_number_integer() && shape[i].get<int64_t>() >= 0 && shape[i].get<int64_t>() <= INT32_MAX) {
        type.shape->emplace_back(shape[i].get<int64_t>());
      } else {
        fail_malformed("input '", name, "': its shape is ", shape.dump(-1, ' ', true, Json::error_handler_t::replace));
      }
    }
    type.dtype = dtype.is_string() ? dtype_from_name(dtype.get<std::string>()) : DType::Float32;
    if (type.dtype == DType::Undefined || type.dtype == DType::String)
      fail_unsupported("input '", name, "': of a dtype that is not read");
    const ValueId v = session_.draft.add_value(name, Draft::Name::Given);
    session_.draft.graph.value(v).type = std::move(type);
    return v;
  }

  static const Json& shape_of(const Fields& config) {
    return config.has("batch_shape") ? config.take("batch_shape") : config.take("batch_input_shape");
  }

  // A name; null where there is none.
  static const Json& dtype_of(const Fields& config) {
    static const Json none;
    const Json &name = config.take("dtype"), &old = config.take("input_dtype");
    return name.is_string() ? name : old.is_string() ? old : none;
  }

  ValueId add_input(const Layer& layer, const std::string& name) {
    const Fields config = layer.config.fresh();
    config.take("name");
    const ValueId v = add_input(name, shape_of(config), dtype_of(config));
    config.finish(layer.label(), layer.class_name, FieldKind::Option, session_.ignored);
    return v;
  }

  std::vector<ValueId> sequential_input(const Model& model) {
    const Layer* first = model.layers.empty() ? nullptr : &model.layers[0];
    const Model* inner = &model;
    for (int depth = 0; first != nullptr && first->model != nullptr && depth < 64; ++depth) {
      inner = first->model.get();
      first = inner->layers.empty() ? nullptr : &inner->layers[0];
    }
    if (first == nullptr) fail_malformed("the model has no layers");
    if (first->class_name == "InputLayer") return {add_input(*first, first->name)};
    Json shape = shape_of(first->config);
    if (shape.is_null()) shape = model.input_shape;
    if (shape.is_null()) shape = inner->input_shape;
    if (shape.is_null()) fail_unsupported("the model was never built: the file does not say its input's shape");
    if (shape.is_object() && shape.size() == 1) shape = *shape.begin();
    return {add_input(first->name + "_input", shape, Json())};
  }

  std::vector<ValueId> functional_inputs(const Model& model) {
    std::vector<ValueId> result;
    for (const TensorRef& ref : model.inputs) {
      const Layer* layer = nullptr;
      for (const Layer& candidate : model.layers) {
        if (candidate.name == ref.layer) layer = &candidate;
      }
      if (layer == nullptr || layer->class_name != "InputLayer")
        fail_malformed("input '", ref.layer, "' is no input layer");
      result.push_back(add_input(*layer, layer->source_value.empty() ? layer->name : layer->source_value));
    }
    return result;
  }

  // What a layer gives for these arguments.
  std::vector<ValueId> call_layer(const Layer& layer, const std::string& name, Json args, Json kwargs, int depth) {
    if (++session_.calls > kMaxCalls) fail_unsupported("more than ", kMaxCalls, " calls of layers");
    if (layer.model != nullptr) {
      const Call arguments(session_, layer, name, std::move(args), std::move(kwargs));
      const std::vector<ValueId> inputs = arguments.inputs();
      arguments.finish();
      return run(*layer.model, inputs, name + "/", depth + 1);
    }
    const Row row = import_row_of(layer);
    const bool first = name == layer.name;
    Call call(session_, layer, first && !layer.source_node.empty() ? layer.source_node : name, std::move(args),
              std::move(kwargs));
    if (row.layer != nullptr) call.cast_inputs(compute_dtype(call));
    const ValueId y = row.layer != nullptr ? import_all(call, row.layer->import)
                                           : import_all(call, row.operation->import, row.operation->detail);
    const auto named = [&](ValueId v, const std::string& wanted) {
      if (session_.draft.unnamed.count(v) == 0 || session_.draft.graph.constant(v) != nullptr)
        v = call.emit("Identity", {v});
      return call.named(v, wanted);
    };
    std::vector<ValueId> outputs = {named(y, first && !layer.source_value.empty() ? layer.source_value : name)};
    for (ValueId v : call.more_outputs()) outputs.push_back(named(v, cat(name, "_", outputs.size())));
    return outputs;
  }

  std::vector<ValueId> run(const Model& model, const std::vector<ValueId>& inputs, const std::string& prefix,
                           int depth) {
    if (depth > 64) fail_unsupported("models nested deeper than 64");
    return model.sequential ? run_sequential(model, inputs, prefix, depth)
                            : run_functional(model, inputs, prefix, depth);
  }

  static Json argument(ValueId v) { return {{"value", v}}; }

  std::vector<ValueId> run_sequential(const Model& model, const std::vector<ValueId>& inputs, const std::string& prefix,
                                      int depth) {
    std::vector<ValueId> values = inputs;
    for (const Layer& layer : model.layers) {
      if (layer.class_name == "InputLayer") continue;
      if (values.size() != 1) fail_malformed(layer.label(), ": it takes one input, ", values.size(), " come");
      values = call_layer(layer, prefix + layer.name, Json::array({argument(values[0])}), Json::object(), depth);
    }
    return values;
  }

  using Place = std::pair<size_t, int64_t>;  // layer, call

  // Calls in an order in which each finds what it reads, the file's where that is one.
  static std::vector<Place> call_order(const Model& model, const std::map<std::string, size_t>& by_name) {
    std::map<Place, size_t> missing;
    std::map<Place, std::vector<Place>> readers;
    std::set<Place> ready;
    for (size_t i = 0; i < model.layers.size(); ++i) {
      const Layer& layer = model.layers[i];
      for (size_t c = 0; c < layer.calls.size(); ++c) {
        const Place here = {i, static_cast<int64_t>(c)};
        std::set<Place> from;
        for (const TensorRef& ref : tensors_of(layer.calls[c])) {
          const auto found = by_name.find(ref.layer);
          if (found == by_name.end())
            fail_malformed(layer.label(), ": reads of layer '", ref.layer, "', which is missing");
          const Layer& source = model.layers[found->second];
          if (source.class_name == "InputLayer") continue;
          if (ref.call < 0 || ref.call >= static_cast<int64_t>(source.calls.size()))
            fail_malformed(layer.label(), ": reads call ", ref.call, " of layer '", ref.layer, "', which is missing");
          from.insert({found->second, ref.call});
        }
        for (const Place& place : from) readers[place].push_back(here);
        missing[here] = from.size();
        if (from.empty()) ready.insert(here);
      }
    }
    std::vector<Place> order;
    while (!ready.empty()) {
      const Place here = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(here);
      for (const Place& reader : readers[here]) {
        if (--missing[reader] == 0) ready.insert(reader);
      }
    }
    if (order.size() != missing.size()) fail_malformed("layers that wait for each other");
    return order;
  }

  std::vector<ValueId> run_functional(const Model& model, const std::vector<ValueId>& inputs, const std::string& prefix,
                                      int depth) {
    std::map<std::string, size_t> by_name;
    for (size_t i = 0; i < model.layers.size(); ++i) by_name.emplace(model.layers[i].name, i);
    if (inputs.size() != model.inputs.size())
      fail_malformed("model '", model.name, "': ", inputs.size(), " inputs come, ", model.inputs.size(), " expected");
    std::map<Place, std::vector<ValueId>> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto found = by_name.find(model.inputs[i].layer);
      if (found == by_name.end()) fail_malformed("input layer '", model.inputs[i].layer, "' is missing");
      values[{found->second, 0}] = {inputs[i]};
    }
    const auto value = [&](const TensorRef& ref) {
      const auto found = by_name.find(ref.layer);
      if (found == by_name.end()) fail_malformed("layer '", ref.layer, "' is missing");
      const bool input = model.layers[found->second].class_name == "InputLayer";
      const auto made = values.find({found->second, input ? 0 : ref.call});
      if (made == values.end() || ref.output < 0 || ref.output >= static_cast<int64_t>(made->second.size()))
        fail_malformed("layer '", ref.layer, "' has no output ", ref.output, " of call ", ref.call);
      return made->second[ref.output];
    };
    const std::function<Json(const Json&)> resolve = [&](const Json& v) -> Json {
      if (is_tensor(v)) return argument(value(tensor_of(v)));
      if (!v.is_structured()) return v;
      Json result = v.is_array() ? Json::array() : Json::object();
      for (const auto& [key, item] : v.items()) {
        if (v.is_array()) {
          result.push_back(resolve(item));
        } else {
          result[key] = resolve(item);
        }
      }
      return result;
    };
    for (const Place& place : call_order(model, by_name)) {
      const Layer& layer = model.layers[place.first];
      const CallConfig& call = layer.calls[place.second];
      const std::string name = place.second == 0 ? prefix + layer.name : cat(prefix, layer.name, "_call", place.second);
      values[place] = call_layer(layer, name, resolve(call.args), resolve(call.kwargs), depth);
    }
    std::vector<ValueId> outputs;
    for (const TensorRef& ref : model.outputs) outputs.push_back(value(ref));
    return outputs;
  }

  Archive archive_;
  Session session_;
};

}  // namespace

bool sniff(const ModelSource& source) {
  if (source.bytes.size() < 4 || std::memcmp(source.bytes.data(), "PK\3\4", 4) != 0) return false;
  try {
    return ZipArchive(source.bytes).find("config.json") != nullptr;
  } catch (const Error&) {
    return false;
  }
}

Graph read(const ModelSource& source) { return Reader(open_zip(source), source.ignored).read(); }

}  // namespace dnn::keras

namespace dnn::keras_h5 {

bool sniff(const ModelSource& source) { return hdf5::is_hdf5(source.bytes); }

Graph read(const ModelSource& source) { return keras::Reader(keras::open_h5(source), source.ignored).read(); }

}  // namespace dnn::keras_h5
