// The version of each operator by its operands, as TFLite's register has it.
#include "formats/tflite/versions.h"

#include <gtest/gtest.h>

#include "formats/tflite/export.h"
#include "formats/tflite/import.h"

namespace dnn::tflite {
namespace {

using enum TensorType;

int version(int code, TensorType type, size_t rank = 4, const void* options = nullptr) {
  const TensorFacts x{type, std::vector<int32_t>(rank, 2), 0, false};
  return version_of(code, {{&x, &x}, {&x}, options});
}

struct Row {
  const char* name;
  int float32, int8, uint8, int32;
};

TEST(TfliteVersions, FollowTheTypes) {
  const std::vector<Row> rows = {
      {"ABS", 1, 2, 2, 5},           {"ADD", 1, 2, 1, 1},        {"BROADCAST_TO", 2, 3, 2, 2},
      {"CONCATENATION", 1, 2, 1, 1}, {"DIV", 1, 1, 1, 1},        {"ELU", 1, 1, 1, 1},
      {"GATHER", 1, 2, 1, 1},        {"HARD_SWISH", 1, 1, 1, 1}, {"LEAKY_RELU", 1, 1, 1, 1},
      {"LOGISTIC", 1, 2, 1, 1},      {"MAXIMUM", 1, 2, 1, 1},    {"MEAN", 1, 2, 1, 1},
      {"PAD", 1, 2, 1, 1},           {"PRELU", 1, 1, 1, 1},      {"QUANTIZE", 1, 1, 1, 1},
      {"RELU", 1, 2, 2, 1},          {"RELU6", 1, 2, 1, 1},      {"RELU_N1_TO_1", 1, 1, 1, 1},
      {"RESHAPE", 1, 1, 1, 1},       {"SIGN", 1, 1, 1, 2},       {"SOFTMAX", 1, 2, 1, 1},
      {"SPLIT", 1, 2, 1, 3},         {"SUB", 1, 2, 1, 1},        {"SUM", 1, 2, 1, 1},
      {"TILE", 1, 3, 1, 1},          {"TRANSPOSE", 1, 2, 1, 1}};
  for (const Row& row : rows) {
    int code = -1;
    for (const OpRow& op : op_rows()) code = op.name == std::string(row.name) ? op.code : code;
    ASSERT_GE(code, 0) << row.name;
    EXPECT_EQ(version(code, FLOAT32), row.float32) << row.name;
    EXPECT_EQ(version(code, INT8), row.int8) << row.name;
    EXPECT_EQ(version(code, UINT8), row.uint8) << row.name;
    EXPECT_EQ(version(code, INT32), row.int32) << row.name;
  }
}

TEST(TfliteVersions, FollowRanksAndOptions) {
  EXPECT_EQ(version(39, FLOAT32, 5), 4);
  EXPECT_EQ(version(39, BOOL), 3);
  EXPECT_EQ(version(45, FLOAT32, 5), 4);
  EXPECT_EQ(version(34, INT8, 5), 4);
  const TensorFacts x{FLOAT32, {1, 4, 4, 2}, 0, false}, w{INT8, {3, 1, 1, 2}, 0.5f, true},
      half{INT8, {3, 1, 1, 1}, 0.5f, true}, plain{INT8, {3, 2}, 0.5f, false};
  flatbuffers::FlatBufferBuilder fbb;
  const auto conv = CreateConv2DOptions(fbb);
  const auto dense = CreateFullyConnectedOptions(fbb);
  const auto wide = CreateFullyConnectedOptions(fbb, Activation::NONE, 0, true);
  EXPECT_EQ(version_of(3, {{&x, &w}, {&x}, flatbuffers::GetTemporaryPointer(fbb, conv)}), 5);
  EXPECT_EQ(version_of(3, {{&x, &half}, {&x}, flatbuffers::GetTemporaryPointer(fbb, conv)}), 6);
  EXPECT_EQ(version_of(9, {{&x, &plain}, {&x}, flatbuffers::GetTemporaryPointer(fbb, dense)}), 3);
  EXPECT_EQ(version_of(9, {{&x, &x}, {&x}, flatbuffers::GetTemporaryPointer(fbb, wide)}), 5);
  EXPECT_EQ(
      version_of(67, {{&x, &w, &x}, {&x}, flatbuffers::GetTemporaryPointer(fbb, CreateTransposeConvOptions(fbb))}), 2);
}

TEST(TfliteVersions, LieInTheRangeThatIsRead) {
  for (const OpRow& row : op_rows()) {
    const VersionRange range = versions_of(row.code);
    EXPECT_GE(range.first, 1) << row.name;
    EXPECT_GE(range.last, range.first) << row.name;
  }
}

}  // namespace
}  // namespace dnn::tflite
