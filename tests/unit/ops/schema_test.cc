// Attribute schemas and traits of all operators: complete, and the only attributes that code asks for.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "ops/op.h"

namespace dnn {
namespace {

std::string schema_refusal(const Node& node) {
  try {
    check_schema(node, *find_op(node.domain, node.op));
  } catch (const Error& error) {
    return cat(error.exit_code(), " ", error.what());
  }
  return "";
}

Node node_of(const std::string& op, Attributes attributes) {
  Node node;
  node.name = "n";
  node.op = op;
  node.attributes = std::move(attributes);
  return node;
}

TEST(Schema, EveryOperatorStatesItsTraitsAndEachAttribute) {
  for (const OpDef& op : all_ops()) {
    EXPECT_TRUE(op.traits.stated()) << op.name;
    std::set<std::string> names;
    for (const AttributeDef& row : op.attributes) {
      EXPECT_TRUE(names.insert(row.name).second) << op.name << " " << row.name;
      EXPECT_FALSE(row.text.empty()) << op.name << " " << row.name;
      EXPECT_FALSE(row.required && (row.fallback || row.per_axis)) << op.name << " " << row.name;
      if (row.fallback) {
        EXPECT_EQ(type_of(*row.fallback), row.type) << op.name << " " << row.name;
      }
    }
  }
}

TEST(Schema, UnknownMistypedAndMissingAttributesAreRefused) {
  EXPECT_EQ(schema_refusal(node_of("LeakyRelu", {{"alpha", 0.5F}})), "");
  EXPECT_EQ(schema_refusal(node_of("LeakyRelu", {{"alpah", 0.5F}})),
            "4 node 'n' (LeakyRelu): the operator has no attribute \"alpah\", the nearest is \"alpha\"; "
            "dnn-convert --ignore-attribute NAME reads the model without it");
  EXPECT_EQ(schema_refusal(node_of("LeakyRelu", {{"alpha", int64_t{1}}})),
            "3 node 'n' (LeakyRelu): attribute 'alpha' is not a float");
  EXPECT_EQ(schema_refusal(node_of("Concat", {})), "3 node 'n' (Concat): attribute 'axis' is missing");
  for (const OpDef& op : all_ops()) {
    Node node = node_of(op.name, {{"no_such_attribute", int64_t{1}}});
    node.domain = op.domain;
    EXPECT_EQ(schema_refusal(node).substr(0, 2), "4 ") << op.name;
    node.attributes.clear();
    node.inputs.assign(static_cast<size_t>(op.max_inputs + 1), kNoValue);
    if (op.max_inputs >= 0) {
      EXPECT_EQ(schema_refusal(node).substr(0, 2), "3 ") << op.name;
    }
    node.inputs.clear();
    node.outputs.assign(static_cast<size_t>(op.max_outputs + 1), kNoValue);
    if (op.max_outputs >= 0) {
      EXPECT_EQ(schema_refusal(node).substr(0, 2), "3 ") << op.name;
    }
  }
}

TEST(Schema, AccessorsKnowNoOtherNamesAndDefaults) {
  const Node conv = node_of("Conv", {{"group", int64_t{4}}});
  EXPECT_EQ(int_attribute(conv, "group"), 4);
  EXPECT_EQ(string_attribute(conv, "auto_pad"), "NOTSET");
  EXPECT_EQ(ints_attribute(conv, "strides", 3), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(ints_attribute(conv, "kernel_shape"), std::vector<int64_t>());
  EXPECT_EQ(float_attribute(node_of("LeakyRelu", {}), "alpha"), 0.01F);
  EXPECT_TRUE(takes_attribute(conv, "pads"));
  EXPECT_FALSE(takes_attribute(conv, "ceil_mode"));
  for (const char* name : {"ceil_mode", "strides"}) {  // an unknown one, and one of another type
    try {
      int_attribute(conv, name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 70) << name;
    }
  }
  EXPECT_THROW(int_attribute(node_of("Concat", {}), "axis"), Error);
}

// The names in calls like int_attribute(node, "axis") of an operator's file are in the schema of an operator of that file; no file
// asks a node for an attribute with a default of its own.
TEST(Schema, CodeOfOperatorsAsksForNothingElse) {
  const std::string folder = "../lib/ops/";
  std::map<std::string, std::set<std::string>> known;  // by file
  const std::regex row("DNN_OP\\((\\w+), (\\w+), (\\w+)\\)");
  const std::string rows = read_file(folder + "ops.def");
  std::vector<std::string> files;
  for (std::sregex_iterator at(rows.begin(), rows.end(), row), end; at != end; ++at) {
    const std::string name = (*at)[1], file = at->str(2) + "/" + at->str(3);
    const OpDef* op = find_op("", name) != nullptr ? find_op("", name) : find_op(kInternalDomain, name);
    ASSERT_NE(op, nullptr) << name;
    if (known.count(file) == 0) files.push_back(file);
    for (const AttributeDef& attribute : op->attributes) known[file].insert(attribute.name);
    known[file].insert("");
  }
  const std::regex asked(
      "\\b(?:int|flag|float|string|ints|floats)_attribute\\([^\"()]*(?:\\([^()]*\\))?[^\"()]*\"(\\w+)\"");
  const std::regex untyped("\\.attribute_(?:int|float|string|ints|floats)\\(");
  size_t n = 0;
  for (const std::string& file : files) {
    const std::string text = read_file(folder + file + ".cc");
    EXPECT_FALSE(std::regex_search(text, untyped)) << file;
    for (std::sregex_iterator at(text.begin(), text.end(), asked), end; at != end; ++at, ++n)
      EXPECT_TRUE(known[file].count((*at)[1]) != 0) << file << " " << (*at)[1];
  }
  EXPECT_GT(n, 150U);
}

}  // namespace
}  // namespace dnn
