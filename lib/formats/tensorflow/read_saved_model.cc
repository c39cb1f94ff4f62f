// SavedModel: signatures, and which variable holds which value; see tensorflow.h.
#include <climits>

#include "formats/tensorflow/finish.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/tensorflow/walk.h"
#include "formats/wire/bundle.h"
#include "formats/wire/proto.h"

namespace dnn::savedmodel {
namespace {

using namespace tensorflow;  // NOLINT(google-build-using-namespace): the messages' package

constexpr const char* kFile = "saved_model.pb";
constexpr const char* kIndex = "variables/variables.index";

std::string shard_name(int shard, int count) {
  std::string i = std::to_string(shard), n = std::to_string(count);
  i.insert(0, i.size() < 5 ? 5 - i.size() : 0, '0');
  n.insert(0, n.size() < 5 ? 5 - n.size() : 0, '0');
  return cat("variables/variables.data-", i, "-of-", n);
}

std::string without_output(const std::string& ref) { return ref.substr(0, ref.find(':')); }

class Reader {
 public:
  explicit Reader(const ModelSource& source) : source_(source) {}

  Graph read() {
    const SharedBytes file = source_.inside(kFile);
    if (file.bytes.size() > INT_MAX)
      fail_unsupported(kFile, " is larger than 2 GiB, which TensorFlow cannot read either");
    if (!parse_saved_model(file.bytes, &model_)) fail_malformed(kFile, " is damaged");
    choose_graph();
    for (int i = 0; i < graph_->graph_def().node_size(); ++i) {
      if (!node_.try_emplace(graph_->graph_def().node(i).name(), i).second)
        fail_malformed("there are two nodes '", graph_->graph_def().node(i).name(), "'");
    }
    state_.file = file;
    state_.ignored = source_.ignored;
    state_.room = (1 << 22) + static_cast<int64_t>(file.bytes.size());
    const SignatureDef& signature = choose_signature();
    read_variables();
    const std::vector<ValueId> inputs = read_inputs(signature);
    Walk walk(state_, around_, *graph_->mutable_graph_def());
    std::vector<Output> outputs;
    for (const auto& [key, info] : in_order(signature.outputs()))
      outputs.push_back({walk.evaluate({info->name()})[0], key});
    state_.draft.graph.producer = "tensorflow";
    const std::string& version = graph_->meta_info_def().tensorflow_version();
    if (!version.empty()) state_.draft.graph.producer += " " + version;
    return finish(state_, inputs, outputs);
  }

 private:
  using Infos = google::protobuf::Map<std::string, TensorInfo>;

  void choose_graph() {
    for (MetaGraphDef& graph : *model_.mutable_meta_graphs()) {
      for (const std::string& tag : graph.meta_info_def().tags()) {
        if (tag == "serve" && graph_ == nullptr) graph_ = &graph;
      }
    }
    if (graph_ == nullptr && model_.meta_graphs_size() > 0) graph_ = model_.mutable_meta_graphs(0);
    if (graph_ == nullptr) fail_malformed("it holds no graph");
  }

  const SignatureDef& choose_signature() const {
    const auto& all = graph_->signature_def();
    std::map<std::string, const SignatureDef*> usable;
    for (const auto& [key, signature] : all) {
      if (signature.outputs_size() > 0 && key != "__saved_model_init_op") usable[key] = &signature;
    }
    for (const char* key : {"serving_default", "serve"}) {
      if (usable.count(key) != 0) return *usable[key];
    }
    if (usable.empty()) fail_unsupported("it has no signature with outputs, as a model to serve has");
    return *usable.begin()->second;
  }

  // Tensors of a signature in the order of their nodes, which is that of the function's arguments and results.
  std::vector<std::pair<std::string, const TensorInfo*>> in_order(const Infos& infos) const {
    std::map<std::tuple<int, std::string, std::string>, std::pair<std::string, const TensorInfo*>> sorted;
    for (const auto& [key, info] : infos) {
      const std::string node = without_output(info.name());
      const auto at = node_.find(node);
      if (at == node_.end()) fail_malformed("signature: there is no node '", node, "' for '", key, "'");
      sorted[{at->second, info.name().substr(node.size()), key}] = {key, &info};
    }
    std::vector<std::pair<std::string, const TensorInfo*>> result;
    result.reserve(sorted.size());
    for (const auto& [order, entry] : sorted) result.push_back(entry);
    return result;
  }

  std::vector<ValueId> read_inputs(const SignatureDef& signature) {
    std::vector<ValueId> inputs;
    for (const auto& [key, info] : in_order(signature.inputs())) {
      const std::string node = without_output(info->name());
      if (around_.inputs.count(node) != 0) fail_unsupported("signature: two inputs are the node '", node, "'");
      read_metadata(graph_->graph_def().node(node_.at(node)), &state_.draft.graph);
      const ValueId v = state_.draft.add_value(key, Draft::Name::Given);
      const TensorShapeProto* shape = info->has_tensor_shape() ? &info->tensor_shape() : nullptr;
      state_.draft.graph.value(v).type = input_type(key, info->dtype(), shape);
      around_.inputs[node] = v;
      inputs.push_back(v);
    }
    return inputs;
  }

  int variable(const std::string& name, const std::string& key) {
    around_.variables.push_back({name, key, kNoValue});
    return static_cast<int>(around_.variables.size()) - 1;
  }

  void read_variables() {
    around_.load = [this](const std::string& key) {
      if (bundle_ == nullptr) fail_malformed("there is no file ", kIndex);
      return bundle_->read(key);
    };
    if (!source_.has(kIndex)) return;
    index_ = source_.inside(kIndex);
    bundle_ = std::make_unique<TensorBundle>(
        index_.bytes, [this](int shard, int count) { return source_.inside(shard_name(shard, count)); });
    variables_by_object();
    variables_by_restore();
    variables_by_name();
  }

  // TensorFlow 2: functions capture objects, and the checkpoint's own graph of objects has their keys.
  void variables_by_object() {
    constexpr const char* kGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";
    if (!graph_->has_object_graph_def() || !bundle_->has(kGraph)) return;
    const Tensor text = bundle_->read(kGraph);
    TrackableObjectGraph objects;
    if (text.dtype() != DType::String || text.size() != 1 || !parse_message(as_bytes(text.strings()[0]), &objects))
      fail_malformed("variables: the graph of objects is damaged");
    const SavedObjectGraph& saved = graph_->object_graph_def();
    std::map<int, int> of_object;
    for (int i = 0; i < saved.nodes_size(); ++i) {
      if (!saved.nodes(i).has_variable() || i >= objects.nodes_size()) continue;
      for (const auto& attribute : objects.nodes(i).attributes()) {
        if (attribute.name() != "VARIABLE_VALUE") continue;
        const std::string& name = saved.nodes(i).variable().name();
        of_object[i] =
            variable(name.empty() ? attribute.full_name() : without_output(name), attribute.checkpoint_key());
      }
    }
    for (const auto& [function, concrete] : saved.concrete_functions()) {
      std::vector<int>& captured = around_.captured[function];
      for (int object : concrete.bound_inputs()) {
        const auto found = of_object.find(object);
        captured.push_back(found == of_object.end() ? -1 : found->second);
      }
    }
  }

  // TensorFlow 1: what a saver's restoring nodes would assign.
  void variables_by_restore() {
    const GraphDef& graph = graph_->graph_def();
    for (const NodeDef& node : graph.node()) {
      if ((node.op() != "AssignVariableOp" && node.op() != "Assign") || node.input_size() < 2) continue;
      const std::string target = without_output(node.input(0));
      std::string from = node.input(1);
      const NodeDef* source = find(from);
      for (int i = 0; i < 4 && source != nullptr && source->op() == "Identity" && source->input_size() > 0; ++i) {
        from = source->input(0);
        source = find(from);
      }
      if (source == nullptr || source->op() != "RestoreV2" || source->input_size() < 2) continue;
      const NodeDef* names = find(source->input(1));
      if (names == nullptr || names->attr().count("value") == 0) continue;
      const TensorProto& texts = names->attr().at("value").tensor();
      int64_t k = 0;
      if (from.find(':') != std::string::npos && !parse_int(from.substr(from.find(':') + 1), &k)) continue;
      if (k < 0 || k >= texts.string_val_size() || find(target) == nullptr) continue;
      if (around_.variable_of.count(target) == 0)
        around_.variable_of[target] = variable(target, texts.string_val(static_cast<int>(k)));
    }
  }

  // Others by the name that they are stored under.
  void variables_by_name() {
    for (const NodeDef& node : graph_->graph_def().node()) {
      if (node.op() != "VarHandleOp" && node.op() != "VariableV2" && node.op() != "Variable") continue;
      if (around_.variable_of.count(node.name()) != 0) continue;
      std::string key = node.name();
      const auto shared = node.attr().find("shared_name");
      if (!bundle_->has(key) && shared != node.attr().end()) key = shared->second.s();
      if (bundle_->has(key)) around_.variable_of[node.name()] = variable(node.name(), key);
    }
  }

  const NodeDef* find(const std::string& ref) const {
    const auto at = node_.find(without_output(ref));
    return at == node_.end() ? nullptr : &graph_->graph_def().node(at->second);
  }

  const ModelSource& source_;
  SavedModel model_;
  MetaGraphDef* graph_ = nullptr;
  std::map<std::string, int> node_;  // by name
  SharedBytes index_;
  std::unique_ptr<TensorBundle> bundle_;
  Source state_;
  Surroundings around_;
};

}  // namespace

bool sniff(const ModelSource& source) { return source.has(kFile); }

Graph read(const ModelSource& source) { return Reader(source).read(); }

}  // namespace dnn::savedmodel
