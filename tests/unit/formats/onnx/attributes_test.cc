// Attributes of ONNX's nodes: those that the operator has in the file's opset, and no other; and fields that nothing reads.
#include <gtest/gtest.h>

#include "formats/onnx/upgrade.h"
#include "ops/op.h"
#include "unit/formats/onnx/model_builder.h"

namespace dnn::onnx {
namespace {

struct VersionRow {
  const char* op;
  int opset;
};
constexpr VersionRow kVersions[] = {
#define DNN_ONNX_VERSION(op, version, up, down) {#op, version},
#include "formats/onnx/versions.def"
#undef DNN_ONNX_VERSION
};

struct SpanRow {
  const char *op, *attribute;
  int first, end;
};
constexpr SpanRow kSpans[] = {
#define DNN_ONNX_ATTRIBUTE(op, attribute, first, end) {#op, #attribute, first, end},
#include "formats/onnx/attributes.def"
#undef DNN_ONNX_ATTRIBUTE
};

TEST(OnnxAttributes, UnknownOneIsRefusedInEveryVersionOfEveryOperator) {
  for (const VersionRow& row : kVersions) {
    ModelBuilder builder(8, row.opset);
    NodeProto* node = builder.node(row.op, {}, {"y"});
    node->set_name("n");
    AttributeProto* attribute = ModelBuilder::attribute(node, "no_such_attribute");
    attribute->set_type(AttributeProto::INT);
    attribute->set_i(1);
    const std::string complaint = builder.complaint();
    EXPECT_EQ(complaint.substr(0, 2), "4 ") << row.op << " " << row.opset << ": " << complaint;
    EXPECT_NE(complaint.find("node 'n' (" + std::string(row.op) + ")"), std::string::npos) << complaint;
    EXPECT_NE(complaint.find("\"no_such_attribute\""), std::string::npos) << complaint;
    Node ignored;
    ignored.op = row.op;
    ignored.attributes["no_such_attribute"] = int64_t{1};
    check_attributes(ignored, row.opset, {std::string(row.op) + ".no_such_attribute"});
    EXPECT_TRUE(ignored.attributes.empty()) << row.op;
  }
}

// ONNX Runtime 1.31.1 refuses such files too: "Unrecognized attribute: ceil_mode for operator MaxPool" at opset 8.
TEST(OnnxAttributes, OneOfAnotherOpsetIsRefused) {
  const auto accepts = [](const SpanRow& row, int opset) {
    Node node;
    node.op = row.op;
    node.attributes[row.attribute] = int64_t{1};
    try {
      check_attributes(node, opset, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 4);
      EXPECT_NE(std::string(error.what()).find(row.attribute), std::string::npos);
      return false;
    }
    return true;
  };
  for (const SpanRow& row : kSpans) {
    const std::string text = std::string(row.op) + "." + row.attribute;
    EXPECT_TRUE(accepts(row, row.first)) << text;
    EXPECT_TRUE(accepts(row, row.end == 0 ? kIrOpset : row.end - 1)) << text;
    if (row.first > 1 && std::string(row.op) != "Pad") {
      EXPECT_FALSE(accepts(row, row.first - 1)) << text;
    }
    if (row.end != 0) {
      EXPECT_FALSE(accepts(row, row.end)) << text;
    }
  }
}

TEST(OnnxAttributes, MessageNamesTheNearestAndTheOpsets) {
  ModelBuilder builder(8, 8);
  builder.input("x", 1, {1, 1, 4, 4});
  builder.output("y", 1, {1, 1, 2, 2});
  NodeProto* node = builder.node("MaxPool", {"x"}, {"y"});
  node->set_name("pool");
  for (const char* name : {"kernel_shape", "strides"}) {
    AttributeProto* list = ModelBuilder::attribute(node, name);
    list->set_type(AttributeProto::INTS);
    list->add_ints(2);
    list->add_ints(2);
  }
  EXPECT_EQ(builder.complaint(), "");
  AttributeProto* mode = ModelBuilder::attribute(node, "ceil_mode");
  mode->set_type(AttributeProto::INT);
  EXPECT_EQ(
      builder.complaint(),
      "4 node 'pool' (MaxPool): the operator has the attribute \"ceil_mode\" from opset 10, the model is written in 8; "
      "dnn-convert --ignore-attribute NAME reads it without");
  mode->set_name("stride");
  EXPECT_EQ(builder.complaint(),
            "4 node 'pool' (MaxPool): the operator has no attribute \"stride\", the nearest is \"strides\"; "
            "dnn-convert --ignore-attribute NAME reads the model without it");
}

TEST(OnnxFields, KnownOnesThatChangeNothingAreReadOver) {
  ModelBuilder builder(8, 17);
  builder.input("x", 1, {2});
  builder.output("y", 1, {2});
  NodeProto* node = builder.node("Relu", {"x"}, {"y"});
  node->add_device_configurations()->set_configuration_id("all");
  node->add_metadata_props()->set_key("note");
  builder.graph().add_quantization_annotation()->set_tensor_name("x");
  builder.model.add_training_info();
  builder.model.add_configuration()->set_name("all");
  EXPECT_EQ(builder.complaint(), "");
}

TEST(OnnxFields, UnknownOnesAreRefusedByNumber) {
  const std::string field("\xf8\x06\x01", 3);  // 111, a varint
  const auto complaint = [&](auto&& message_of) {
    ModelBuilder builder(8, 17);
    builder.input("x", 1, {2});
    builder.output("y", 1, {2});
    builder.node("Relu", {"x"}, {"y"})->set_name("n");
    builder.initializer("c", 1, {1})->add_float_data(1);
    *message_of(builder)->mutable_unknown_fields() = field;
    return builder.complaint();
  };
  for (const std::string& text :
       {complaint([](ModelBuilder& b) { return &b.model; }), complaint([](ModelBuilder& b) { return &b.graph(); }),
        complaint([](ModelBuilder& b) { return b.graph().mutable_node(0); }),
        complaint([](ModelBuilder& b) { return ModelBuilder::attribute(b.graph().mutable_node(0), "a"); }),
        complaint([](ModelBuilder& b) { return b.graph().mutable_initializer(0); })}) {
    EXPECT_EQ(text.substr(0, 2), "4 ") << text;
    EXPECT_NE(text.find("field 111"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace dnn::onnx
