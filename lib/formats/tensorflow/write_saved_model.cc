// Writing SavedModel as TensorFlow 1 does, which TensorFlow 2 loads too: parameters are variables that a saver restores from a
// bundle; see tensorflow.h.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <climits>

#include "formats/tensorflow/exports.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/tensorflow/write.h"
#include "formats/wire/bundle.h"

namespace dnn::savedmodel {
namespace {

using namespace tensorflow;  // NOLINT(google-build-using-namespace): the messages' package

Tensor texts(const std::vector<std::string>& values) {
  Tensor tensor(DType::String, {static_cast<int64_t>(values.size())});
  tensor.mutable_strings() = values;
  return tensor;
}

// Nodes that store and restore the variables, and what says so.
void add_saver(File& file, MetaGraphDef* meta) {
  const std::vector<File::Variable>& variables = file.variables();
  if (variables.empty()) return;
  std::vector<std::string> names;
  std::vector<DataType> dtypes;
  for (const File::Variable& variable : variables) {
    names.push_back(variable.name);
    dtypes.push_back(type_of(variable.value.dtype()));
  }
  NodeBuilder place("Placeholder", file.free_name("save/filename"));
  place.type("dtype", DT_STRING).attr("shape").mutable_shape();
  const Edge filename = file.add(std::move(place));
  const Edge keys = file.constant("save/tensor_names", texts(names)),
             slices = file.constant("save/shape_and_slices", texts(std::vector<std::string>(names.size())));
  NodeBuilder store("SaveV2", file.free_name("save/SaveV2"));
  store.in({filename, keys, slices}).types("dtypes", dtypes);
  for (const File::Variable& variable : variables) store.in(variable.read);
  const Edge stored = file.add(std::move(store));
  NodeBuilder control("Identity", file.free_name("save/control_dependency"));
  control.in({filename, "^" + stored}).type("T", DT_STRING);
  NodeBuilder restore("RestoreV2", file.free_name("save/RestoreV2"));
  restore.in({filename, keys, slices}).types("dtypes", dtypes);
  const Edge saved = file.add(std::move(control)), restored = file.add(std::move(restore));
  NodeBuilder all("NoOp", file.free_name("save/restore_all"));
  for (size_t i = 0; i < variables.size(); ++i) {
    NodeBuilder assign("AssignVariableOp", file.free_name("save/AssignVariableOp"));
    assign.in({variables[i].name, i == 0 ? restored : cat(restored, ":", i)}).type("dtype", dtypes[i]);
    const Edge assigned = file.add(std::move(assign));
    all.in("^" + assigned);
    VariableDef def;
    def.set_variable_name(variables[i].name + ":0");
    def.set_initializer_name(assigned);
    def.set_snapshot_name(variables[i].read + ":0");
    def.set_initial_value_name(cat(restored, ":", i));
    def.set_is_resource(true);
    def.set_trainable(variables[i].trainable);
    for (const char* key : {"variables", "trainable_variables"}) {
      if (variables[i].trainable || std::string(key) == "variables")
        (*meta->mutable_collection_def())[key].mutable_bytes_list()->add_value(def.SerializeAsString());
    }
  }
  SaverDef& saver = *meta->mutable_saver_def();
  saver.set_filename_tensor_name(filename + ":0");
  saver.set_save_tensor_name(saved + ":0");
  saver.set_restore_op_name(file.add(std::move(all)));
  saver.set_max_to_keep(5);
  saver.set_version(2);
}

void describe(const Graph& graph, ValueId v, const Edge& edge, TensorInfo* info) {
  info->set_name(edge + ":0");
  info->set_dtype(type_of(graph.value(v).type.dtype));
  set_shape(info->mutable_tensor_shape(), graph.value(v).type);
}

}  // namespace

ModelFiles to_files(const Graph& source, const WriteOptions&) {
  const Graph graph = prepared(source);
  File file(graph, true);
  std::vector<Edge> outputs;
  write_graph(graph, file, &outputs);
  SavedModel model;
  model.set_saved_model_schema_version(1);
  MetaGraphDef& meta = *model.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  SignatureDef& signature = (*meta.mutable_signature_def())["serving_default"];
  signature.set_method_name("tensorflow/serving/predict");
  for (ValueId v : graph.inputs) describe(graph, v, file.edge(v), &(*signature.mutable_inputs())[graph.value(v).name]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId v = graph.outputs[i];
    std::string key = graph.value(v).name;
    for (int n = 1; signature.outputs().count(key) != 0; ++n) key = cat(graph.value(v).name, "_", n);
    describe(graph, v, outputs[i], &(*signature.mutable_outputs())[key]);
  }
  add_saver(file, &meta);
  std::map<std::string, Tensor> tensors;
  for (const File::Variable& variable : file.variables()) tensors[variable.name] = variable.value;
  meta.mutable_graph_def()->ParseFromString(file.take().text());
  std::string text;
  {
    google::protobuf::io::StringOutputStream sink(&text);
    google::protobuf::io::CodedOutputStream stream(&sink);
    stream.SetSerializationDeterministic(true);
    if (model.ByteSizeLong() > INT_MAX) fail_unsupported("constants of more than 2 GiB besides the parameters");
    model.SerializeToCodedStream(&stream);
  }
  ModelFiles files = {{"/saved_model.pb", std::move(text)}};
  if (tensors.empty()) return files;
  BundleFiles bundle = write_bundle(tensors);
  files.push_back({"/variables/variables.index", std::move(bundle.index)});
  files.push_back({"/variables/variables.data-00000-of-00001", std::move(bundle.shard)});
  return files;
}

}  // namespace dnn::savedmodel
