// No field of a Keras file is passed over: one is planted in each layer class and operation of each file kind, at each place.
#include <gtest/gtest.h>

#include <map>

#include "base/json_text.h"
#include "formats/keras/archive.h"
#include "formats/keras/operations.h"
#include "graph_case.h"
#include "unit/formats/keras/model_builder.h"

namespace dnn::keras {
namespace {

enum class Kind { H5OfKeras2, H5OfKeras3, Zip };
constexpr Kind kKinds[] = {Kind::H5OfKeras2, Kind::H5OfKeras3, Kind::Zip};

// A valid layer or operation: its options, how many inputs of which shape it takes (batch aside), its weights.
struct Sample {
  std::string options;
  std::vector<int64_t> shape;
  size_t inputs = 1;
  std::vector<std::pair<std::string, Shape>> weights = {};
  bool apart = false;          // inputs are arguments of their own, not one list
  std::string arguments = "";  // JSON of further ones: ", 3.0"
};

const std::vector<int64_t> kImageShape = {6, 6, 4}, kRow = {6, 4}, kVolume = {4, 4, 4, 4}, kPlain = {4};

std::map<std::string, Sample> layer_samples() {
  std::map<std::string, Sample> s;
  for (const char* name : {"ActivityRegularization",
                           "AlphaDropout",
                           "Dropout",
                           "ELU",
                           "Flatten",
                           "GaussianDropout",
                           "GaussianNoise",
                           "Identity",
                           "LeakyReLU",
                           "RandomBrightness",
                           "RandomContrast",
                           "RandomFlip",
                           "RandomRotation",
                           "RandomTranslation",
                           "RandomZoom",
                           "ReLU",
                           "Rescaling",
                           "Softmax",
                           "SpatialDropout2D",
                           "StochasticDepth",
                           "ThresholdedReLU",
                           "UnitNormalization",
                           "AveragePooling2D",
                           "MaxPooling2D",
                           "GlobalAveragePooling2D",
                           "GlobalMaxPooling2D",
                           "UpSampling2D",
                           "ZeroPadding2D",
                           "Cropping2D"})
    s[name] = {"", kImageShape};
  for (const char* name : {"AveragePooling1D", "MaxPooling1D", "GlobalAveragePooling1D", "GlobalMaxPooling1D",
                           "UpSampling1D", "ZeroPadding1D", "Cropping1D", "SpatialDropout1D"})
    s[name] = {"", kRow};
  for (const char* name : {"AveragePooling3D", "MaxPooling3D", "GlobalAveragePooling3D", "GlobalMaxPooling3D",
                           "UpSampling3D", "ZeroPadding3D", "Cropping3D", "SpatialDropout3D"})
    s[name] = {"", kVolume};
  for (const char* name : {"Add", "Average", "Concatenate", "Maximum", "Merge", "Minimum", "Multiply", "Subtract"})
    s[name] = {"", kImageShape, 2};
  s["Activation"] = {R"("activation": "relu")", kImageShape};
  s["Attention"] = {"", kRow, 2};
  s["AdditiveAttention"] = {"", kRow, 2, {{"scale", {4}}}};
  s["Dot"] = {R"("axes": 2)", kRow, 2};
  for (const char* name : {"BatchNormalization", "BatchNormalizationV1", "SyncBatchNormalization"})
    s[name] = {"", kImageShape, 1, {{"gamma", {4}}, {"beta", {4}}, {"moving_mean", {4}}, {"moving_variance", {4}}}};
  s["GroupNormalization"] = {R"("groups": 2)", kImageShape, 1, {{"gamma", {4}}, {"beta", {4}}}};
  s["LayerNormalization"] = {"", kImageShape, 1, {{"gamma", {4}}, {"beta", {4}}}};
  s["LayerScale"] = {"", kImageShape, 1, {{"gamma", {4}}}};
  s["PReLU"] = {"", kPlain, 1, {{"alpha", {4}}}};
  s["Normalization"] = {R"("axis": [-1], "mean": [1, 2, 3, 4], "variance": [1, 2, 3, 4])", kImageShape};
  for (const char* name : {"Conv1D", "Convolution1D"}) s[name] = {"", kRow, 1, {{"kernel", {2, 4, 3}}, {"bias", {3}}}};
  for (const char* name : {"AtrousConvolution2D", "Conv2D", "Convolution2D"})
    s[name] = {"", kImageShape, 1, {{"kernel", {2, 2, 4, 3}}, {"bias", {3}}}};
  s["Conv3D"] = {"", kVolume, 1, {{"kernel", {2, 2, 2, 4, 3}}, {"bias", {3}}}};
  s["Conv2DTranspose"] = {"", kImageShape, 1, {{"kernel", {2, 2, 3, 4}}, {"bias", {3}}}};
  s["DepthwiseConv1D"] = {"", kRow, 1, {{"depthwise_kernel", {2, 4, 1}}, {"bias", {4}}}};
  s["DepthwiseConv2D"] = {"", kImageShape, 1, {{"depthwise_kernel", {2, 2, 4, 1}}, {"bias", {4}}}};
  s["SeparableConv1D"] = {
      "", kRow, 1, {{"depthwise_kernel", {2, 4, 1}}, {"pointwise_kernel", {1, 4, 3}}, {"bias", {3}}}};
  for (const char* name : {"SeparableConv2D", "SeparableConvolution2D"})
    s[name] = {
        "", kImageShape, 1, {{"depthwise_kernel", {2, 2, 4, 1}}, {"pointwise_kernel", {1, 1, 4, 3}}, {"bias", {3}}}};
  s["Conv1DTranspose"] = {"", kRow, 1, {{"kernel", {2, 3, 4}}, {"bias", {3}}}};
  s["Conv3DTranspose"] = {"", kVolume, 1, {{"kernel", {2, 2, 2, 3, 4}}, {"bias", {3}}}};
  s["CenterCrop"] = {R"("height": 3, "width": 5)", kImageShape};
  s["EinsumDense"] = {R"("equation": "abc,cd->abd", "bias_axes": "d")", kRow, 1, {{"kernel", {4, 3}}, {"bias", {3}}}};
  s["RMSNormalization"] = {"", kImageShape, 1, {{"scale", {4}}}};
  s["Dense"] = {"", kPlain, 1, {{"kernel", {4, 3}}, {"bias", {3}}}};
  s["MultiHeadAttention"] = {"",
                             kRow,
                             2,
                             {{"query/kernel", {4, 2, 3}},
                              {"key/kernel", {4, 2, 3}},
                              {"value/kernel", {4, 2, 3}},
                              {"attention_output/kernel", {2, 3, 4}}},
                             true};
  s["GroupQueryAttention"] = s["GroupedQueryAttention"] = s["MultiHeadAttention"];
  s["LSTM"] = {"", kRow, 1, {{"kernel", {4, 12}}, {"recurrent_kernel", {3, 12}}, {"bias", {12}}}};
  s["GRU"] = {R"("reset_after": true)", kRow, 1, {{"kernel", {4, 9}}, {"recurrent_kernel", {3, 9}}, {"bias", {2, 9}}}};
  s["SimpleRNN"] = {"", kRow, 1, {{"kernel", {4, 3}}, {"recurrent_kernel", {3, 3}}, {"bias", {3}}}};
  s["Bidirectional"] = {
      R"("merge_mode": "sum", "layer": {"class_name": "SimpleRNN", "config": {"name": "r", "trainable": true}})",
      kRow,
      1,
      {{"forward_layer/kernel", {4, 3}},
       {"forward_layer/recurrent_kernel", {3, 3}},
       {"forward_layer/bias", {3}},
       {"backward_layer/kernel", {4, 3}},
       {"backward_layer/recurrent_kernel", {3, 3}},
       {"backward_layer/bias", {3}}}};
  s["TimeDistributed"] = {R"("layer": {"class_name": "Dense", "config": {"name": "d", "trainable": true}})",
                          kRow,
                          1,
                          {{"layer/kernel", {4, 3}}, {"layer/bias", {3}}}};
  s["Permute"] = {R"("dims": [2, 1])", kRow};
  s["RepeatVector"] = {R"("n": 2)", kPlain};
  s["Reshape"] = {R"("target_shape": [4, 6])", kRow};
  s["Resizing"] = {R"("height": 3, "width": 5)", kImageShape};
  return s;
}

std::map<std::string, Sample> operation_samples() {
  std::map<std::string, Sample> s;
  for (const char* name :
       {"Absolute",    "Ceil",     "Cos",        "Elu",        "Erf",       "Exp",          "Floor",     "Gelu",
        "HardSigmoid", "HardSilu", "Log",        "LogSoftmax", "Max",       "Mean",         "Min",       "Negative",
        "Prod",        "Relu",     "Relu6",      "Round",      "Rsqrt",     "Sigmoid",      "Sign",      "Silu",
        "Sin",         "Softmax",  "Softplus",   "Sqrt",       "Square",    "Sum",          "Tanh",      "Transpose",
        "All",         "Amax",     "Amin",       "Any",        "Arccos",    "Arccosh",      "Arcsin",    "Arcsinh",
        "Arctan",      "Arctanh",  "Argmax",     "Argmin",     "Celu",      "Copy",         "Cosh",      "Expm1",
        "Flip",        "TopK",     "HardTanh",   "Isfinite",   "Isinf",     "Isnan",        "LeakyRelu", "Log10",
        "Log1p",       "Log2",     "LogSigmoid", "LogicalNot", "Logsumexp", "Norm",         "OnesLike",  "Ravel",
        "Reciprocal",  "Selu",     "Sinh",       "Softsign",   "Std",       "StopGradient", "Tan",       "TanhShrink",
        "Tril",        "Triu",     "Trunc",      "Var",        "ZerosLike"})
    s[name] = {"", kRow};
  for (const char* name :
       {"Add",       "Divide",     "Equal",     "Greater",    "GreaterEqual", "Less",       "LessEqual",
        "Maximum",   "Minimum",    "Multiply",  "Power",      "Subtract",     "TrueDivide", "FloorDivide",
        "Logaddexp", "LogicalAnd", "LogicalOr", "LogicalXor", "Mod",          "NotEqual"})
    s[name] = {"", kRow, 2, {}, true};
  s["BroadcastTo"] = {R"("shape": [2, 6, 4])", kRow};
  s["Cast"] = {R"("dtype": "float16")", kRow};
  s["Clip"] = {R"("x_min": -1, "x_max": 1)", kRow};
  s["Concatenate"] = {R"("axis": 1)", kRow, 2};
  for (const char* name : {"Cumprod", "Cumsum"}) s[name] = {R"("axis": 1)", kRow};
  for (const char* name : {"Argsort", "Sort"}) s[name] = {R"("axis": -1)", kRow};
  s["Einsum"] = {R"("subscripts": "abc->acb")", kRow};
  s["Moveaxis"] = {R"("source": 1, "destination": 2)", kRow};
  s["OneHot"] = {R"("num_classes": 3)", kPlain};
  s["Repeat"] = {R"("repeats": 2, "axis": 1)", kRow};
  s["Roll"] = {R"("shift": 1, "axis": 1)", kRow};
  s["Stack"] = {R"("axis": 1)", kRow, 2};
  s["Tile"] = {R"("repeats": [1, 2, 1])", kRow};
  s["ExpandDims"] = {R"("axis": 1)", kRow};
  s["GetItem"] = {"", kRow, 1, {}, true, ", 0"};
  s["Matmul"] = {"", {4, 4}, 2, {}, true};
  s["Pad"] = {R"("pad_width": [[0, 0], [1, 1], [0, 2]])", kRow};
  s["Reshape"] = {R"("newshape": [-1, 24])", kRow};
  s["Squeeze"] = {R"("axis": 1)", {1, 4}};
  s["Swapaxes"] = {R"("axis1": 1, "axis2": 2)", kRow};
  s["Take"] = {R"("axis": 1)", kRow, 1, {}, true, ", [0, 1]"};
  s["Where"] = {"", kRow, 3, {}, true};
  return s;
}

struct Planted {
  std::string option, argument, position, entry;  // JSON of what is planted where; empty: nothing
};

std::string joined(std::initializer_list<std::string> parts) {
  std::string result;
  for (const std::string& part : parts) result += (result.empty() || part.empty() ? "" : ", ") + part;
  return result;
}

// A model of that one layer, called once.
std::string model(const std::string& name, const Sample& sample, bool operation, Kind kind, const Planted& planted) {
  const bool old = kind == Kind::H5OfKeras2;
  std::string shape = "null", layers, inputs;
  for (int64_t extent : sample.shape) shape += cat(", ", extent);
  Json positional = Json::array(), references = Json::array();
  for (size_t i = 0; i < sample.inputs; ++i) {
    const std::string input = cat("x", i);
    layers += cat(R"({"class_name": "InputLayer", "name": ")", input, R"(", "config": {"name": ")", input,
                  R"(", "batch_shape": [)", shape, R"(], "dtype": "float32"}, "inbound_nodes": []}, )");
    inputs += cat(i == 0 ? "" : ", ", "[\"", input, "\", 0, 0]");
    references.push_back(Json::array({input, 0, 0}));
    positional.push_back(
        {{"class_name", "__keras_tensor__"},
         {"config", {{"shape", Json::array()}, {"dtype", "float32"}, {"keras_history", {input, 0, 0}}}}});
  }
  std::string call;
  if (old) {
    Json nodes = Json::array();
    Json named = dnn::parse_json("{" + planted.argument + "}");
    if (sample.apart && sample.inputs > 1) named["value"] = references[1];
    for (size_t i = 0; i < (sample.apart ? 1 : sample.inputs); ++i) {
      Json node = references[i];
      node.push_back(named);
      nodes.push_back(node);
    }
    call = json_text(nodes);
  } else {
    const bool list = !sample.apart && (sample.inputs > 1 || name == "Concatenate");
    std::string args = list ? json_text(Json::array({positional})) : json_text(positional);
    args.insert(args.size() - 1, sample.arguments + (planted.position.empty() ? "" : ", " + planted.position));
    call = cat(R"({"args": )", args, R"(, "kwargs": {)", planted.argument, "}}");
  }
  const std::string module = kind != Kind::Zip ? "" : operation ? "keras.src.ops.numpy" : "keras.layers";
  return cat(R"({"class_name": "Functional", "config": {"name": "m", "layers": [)", layers, R"({"class_name": ")", name,
             R"(", )", module.empty() ? "" : cat(R"("module": ")", module, "\", "),
             planted.entry.empty() ? "" : planted.entry + ", ", R"("name": "l", "config": {)",
             joined({R"("name": "l")", operation ? "" : R"("trainable": true)", sample.options, planted.option}),
             R"(}, "inbound_nodes": [)", call, R"(]}], "input_layers": [)", inputs,
             R"(], "output_layers": [["l", 0, 0]]}})");
}

std::string file(const std::string& name, const Sample& sample, bool operation, Kind kind, const Planted& planted) {
  const std::string config = model(name, sample, operation, kind, planted);
  std::vector<std::pair<std::string, Tensor>> weights;
  std::map<std::string, int> counts;
  for (const auto& [role, shape] : sample.weights) {
    const Tensor value = Tensor::of<float>(shape, counting(static_cast<size_t>(element_count(shape))));
    const size_t slash = role.find('/');
    const std::string part = slash == std::string::npos                    ? ""
                             : role.substr(0, slash) == "attention_output" ? "output_dense/"
                             : ends_with(role.substr(0, slash), "layer")   ? role.substr(0, slash) + "/"
                                                                           : role.substr(0, slash) + "_dense/";
    weights.emplace_back(
        kind == Kind::Zip ? cat("layers/", snake_case(name == "GroupQueryAttention" ? "GroupedQueryAttention" : name),
                                "/", part, "vars/", counts[part]++)
                          : "l/" + role + ":0",
        value);
  }
  if (kind == Kind::Zip) return keras_file(config, weights);
  return h5_file(config, {{"l", weights}}, kind == Kind::H5OfKeras2 ? "2.15.0" : "3.15.1");
}

// What reading says, "" where it reads the model.
std::string said(const std::string& bytes, ErrorKind* kind) {
  try {
    read_text(bytes);
    return "";
  } catch (const Error& error) {
    *kind = error.kind();
    return error.what();
  }
}

void expect_refused(const std::string& what, const std::string& bytes, const std::string& wanted) {
  ErrorKind kind = ErrorKind::Internal;
  const std::string text = said(bytes, &kind);
  EXPECT_EQ(kind, ErrorKind::Unsupported) << what << ": " << text;
  EXPECT_NE(text.find(wanted), std::string::npos) << what << ": " << text;
  EXPECT_NE(text.find("layer 'l'"), std::string::npos) << what << ": " << text;
}

void expect_all_refused(const std::string& name, const Sample& sample, bool operation) {
  for (Kind kind : kKinds) {
    if (operation && kind == Kind::H5OfKeras2) continue;  // TFOpLambda's, below
    const std::string what = cat(name, ", kind ", static_cast<int>(kind));
    ErrorKind error = ErrorKind::Internal;
    EXPECT_EQ(said(file(name, sample, operation, kind, {}), &error), "") << what;
    expect_refused(what, file(name, sample, operation, kind, {R"("planted": 7)", "", "", ""}),
                   R"(option "planted" = 7)");
    expect_refused(what, file(name, sample, operation, kind, {R"("planted": null)", "", "", ""}), "planted");
    expect_refused(what, file(name, sample, operation, kind, {"", R"("planted": 7)", "", ""}),
                   R"(argument "planted" = 7)");
    expect_refused(what, file(name, sample, operation, kind, {"", "", "", R"("planted": 7)"}),
                   R"(entry "planted" = 7)");
    if (kind == Kind::H5OfKeras2)
      expect_refused(what, file(name, sample, operation, kind, {"", R"("training": true)", "", ""}), "training");
    if (kind != Kind::H5OfKeras2)
      expect_refused(what, file(name, sample, operation, kind, {"", "", R"("a", "b", "c", "planted")", ""}), "");
  }
}

TEST(KerasLeftovers, NoneInAnyLayer) {
  const std::map<std::string, Sample> samples = layer_samples();
  for (const LayerRow& row : layer_rows()) {
    ASSERT_EQ(samples.count(row.name), 1u) << row.name << " has no sample here";
    expect_all_refused(row.name, samples.at(row.name), false);
  }
}

TEST(KerasLeftovers, NoneInALayerThatAnotherCalls) {
  Sample dense = layer_samples().at("TimeDistributed");
  dense.options.insert(dense.options.rfind("}}"), R"(, "planted": 7)");
  for (Kind kind : kKinds) {
    ErrorKind error = ErrorKind::Internal;
    const std::string text = said(file("TimeDistributed", dense, false, kind, {}), &error);
    EXPECT_NE(text.find("layer 'd' (Dense)"), std::string::npos) << text;
    EXPECT_NE(text.find(R"(option "planted" = 7)"), std::string::npos) << text;
    EXPECT_EQ(error, ErrorKind::Unsupported);
  }
}

TEST(KerasLeftovers, NoneInAnyOperation) {
  const std::map<std::string, Sample> samples = operation_samples();
  for (const OperationRow& row : operation_rows()) {
    ASSERT_EQ(samples.count(row.name), 1u) << row.name << " has no sample here";
    expect_all_refused(row.name, samples.at(row.name), true);
  }
}

// TensorFlow takes the lower of bounds that cross, PyTorch and ONNX the upper one.
TEST(KerasLeftovers, BoundsThatCrossAreRefused) {
  const Sample sample = {R"("x_min": 2, "x_max": 1)", kRow};
  for (const Kind kind : {Kind::Zip, Kind::H5OfKeras3})
    expect_refused("Clip", file("Clip", sample, true, kind, {}), "bounds that cross");
}

TEST(KerasLeftovers, NoneOfAModel) {
  const Sample dense = layer_samples().at("Activation");
  for (Kind kind : kKinds) {
    std::string config = model("Activation", dense, false, kind, {});
    const std::string option = R"("config": {"planted": 7, "name": "m")";
    config.replace(config.find(R"("config": {"name": "m")"), 22, option);
    ErrorKind error = ErrorKind::Internal;
    const std::string text = said(kind == Kind::Zip ? keras_file(config, {}) : h5_file(config, {}, "3.15.1"), &error);
    EXPECT_NE(text.find(R"(model 'm': option "planted" = 7)"), std::string::npos) << text;
  }
}

TEST(KerasLeftovers, APersonMayIgnoreThem) {
  const std::string bytes =
      file("Dense", layer_samples().at("Dense"), false, Kind::Zip, {R"("planted": 7)", "", "", ""});
  for (const char* name : {"planted", "Dense.planted"}) {
    ModelSource source = model_in_memory("m.keras", {{"", Content(std::string(bytes))}});
    source.ignored = {name};
    EXPECT_EQ(read_model(source).outputs.size(), 1u) << name;
  }
}

// Keras 3.15.1 gives 1.5, 2, 2.5, 3: operations stand in its .h5 as if they were layers.
TEST(KerasLeftovers, NumbersAreOperands) {
  const char tensor[] = R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 4], "dtype": "float32",
    "keras_history": ["%", 0, 0]}})";
  const auto of = [&](const std::string& layer) {
    std::string text = tensor;
    return text.replace(text.find('%'), 1, layer);
  };
  const std::string config = cat(R"({"class_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": [null, 4], "dtype": "float32", "sparse": false,
     "ragged": false, "name": "x", "optional": false}, "inbound_nodes": []},
    {"class_name": "Add", "name": "add", "config": {"name": "add"}, "inbound_nodes": [{"args": [)",
                                 of("x"), R"(, 3.0], "kwargs": {}}]},
    {"class_name": "Multiply", "name": "mul", "config": {"name": "mul"}, "inbound_nodes": [{"args": [)",
                                 of("add"), R"(, {"class_name": "__numpy__", "config": {"value": [0.5, 0.5, 0.5, 0.5],
     "dtype": "float32"}}], "kwargs": {}}]}], "input_layers": ["x", 0, 0], "output_layers": ["mul", 0, 0]}})");
  const Graph graph = read_text(h5_file(config, {}, "3.15.1"));
  EXPECT_EQ(to_doubles(interpret(graph, {Tensor::of<float>({1, 4}, {0, 1, 2, 3})})[0]),
            (std::vector<double>{1.5, 2, 2.5, 3}));
}

// A program is refused wherever it stands, called or not.
TEST(KerasLeftovers, ProgramsAreRefusedWhereverTheyStand) {
  const auto sequential = [](const std::string& layer, const std::string& more = "") {
    return R"({"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "InputLayer",
      "config": {"batch_shape": [null, 4], "name": "x"}}, )" +
           layer + "]" + more + "}}";
  };
  const std::string lambda =
      R"({"class_name": "Lambda", "config": {"name": "code", "trainable": true, "function": ["4wEA", null, null]}})";
  const std::string functional =
      R"({"class_name": "Functional", "name": "inner", "config": {"name": "inner", "trainable": true, "layers": [
      {"class_name": "InputLayer", "name": "i", "config": {"batch_shape": [null, 4], "name": "i"}, "inbound_nodes": []},
      {"class_name": "Lambda", "name": "code", "config": {"name": "code", "trainable": true}, "inbound_nodes": []}],
      "input_layers": [["i", 0, 0]], "output_layers": [["i", 0, 0]]}, "inbound_nodes": []})";
  const std::string dense =
      R"({"class_name": "Activation", "config": {"name": "a", "trainable": true, "activation": %}%})";
  const auto activation = [&](const std::string& value, const std::string& entry) {
    std::string text = dense;
    text.replace(text.rfind('%'), 1, entry);
    return text.replace(text.find('%'), 1, value);
  };
  const std::pair<std::string, const char*> cases[] = {
      {lambda, "Python code"},
      {functional, "Python code"},
      {activation("\"relu\"", R"(, "module": "my_package.layers")"), "my_package.layers"},
      {activation("\"relu\"", R"(, "module": "keras.layers", "registered_name": "mine>Activation")"),
       "mine>Activation"},
      {activation(
           R"({"class_name": "function", "module": "builtins", "config": "relu", "registered_name": "function"})", ""),
       "a program's own"},
      {activation(R"({"class_name": "__lambda__", "config": {"value": "4wEA"}})", ""), "Python code"},
      {R"({"class_name": "Activation", "config": {"name": "a", "trainable": true, "activation": "relu", "kernel_initializer":
        {"class_name": "Mine", "module": "my_package", "config": {}}}})",
       "my_package"},
      {R"({"class_name": "MyLayer", "config": {"name": "a", "trainable": true}})", "MyLayer"}};
  for (const auto& [layer, wanted] : cases) {
    for (const char* version : {"2.15.0", "3.15.1"}) {
      ErrorKind kind = ErrorKind::Internal;
      const std::string text = said(h5_file(sequential(layer), {}, version), &kind);
      EXPECT_EQ(kind, ErrorKind::Unsupported) << layer << ": " << text;
      EXPECT_NE(text.find(wanted), std::string::npos) << layer << ": " << text;
    }
  }
  // A layer that nothing calls.
  const std::string unreached = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": [null, 4], "name": "x"}, "inbound_nodes": []},
    {"class_name": "Activation", "name": "a", "config": {"name": "a", "activation": "relu"}, "inbound_nodes": [[["x", 0, 0, {}]]]},
    {"class_name": "MyLayer", "name": "b", "config": {"name": "b"}, "inbound_nodes": []}],
    "input_layers": [["x", 0, 0]], "output_layers": [["a", 0, 0]]}})";
  ErrorKind kind = ErrorKind::Internal;
  EXPECT_NE(said(h5_file(unreached, {}), &kind).find("MyLayer"), std::string::npos);
  EXPECT_EQ(kind, ErrorKind::Unsupported);
}

// As published files have them: flags as numbers, a functional model inside a sequential one, layers called like paths.
TEST(KerasLeftovers, FlagsAsNumbersModelsInModelsAndNamesWithSlashes) {
  const std::string config = R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
    {"class_name": "Functional", "config": {"name": "f", "trainable": true, "layers": [
      {"class_name": "InputLayer", "name": "i", "config": {"batch_input_shape": [null, 2], "dtype": "float32", "sparse": false,
       "ragged": false, "name": "i"}, "inbound_nodes": []},
      {"class_name": "BatchNormalization", "name": "block/bn", "config": {"name": "block/bn", "trainable": false, "axis": [1], "scale": 1,
       "center": 0, "epsilon": 0}, "inbound_nodes": [[["i", 0, 0, {}]]]}],
      "input_layers": [["i", 0, 0]], "output_layers": [["block/bn", 0, 0]]}}]}})";
  const Tensor gamma = Tensor::of<float>({2}, {2, 3}), mean = Tensor::of<float>({2}, {1, 1}),
               variance = Tensor::of<float>({2}, {4, 1});
  const Graph graph = read_text(h5_file(
      config,
      {{"f",
        {{"block/bn/gamma:0", gamma}, {"block/bn/moving_mean:0", mean}, {"block/bn/moving_variance:0", variance}}}}));
  EXPECT_EQ(to_doubles(interpret(graph, {Tensor::of<float>({1, 2}, {3, 5})})[0]), (std::vector<double>{2, 12}));
}

}  // namespace
}  // namespace dnn::keras
