// What a TFLite file states and no importer asks for: options, operands, fields of tensors and operators, versions.
#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/tflite/versions.h"
#include "unit/formats/tflite/model_builder.h"

namespace dnn::tflite {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

// What may be planted in the file of one operator.
struct Planted {
  int32_t option = 0;  // a number of field 20 of the options, which no table has
  bool custom_options = false, variable = false;
  uint8_t details = 0;  // a kind of quantisation of its own
  int version = 1, extra_operands = 0;
};

// x -> one operator -> y
std::string file_of(int code, const Planted& planted, int options,
                    const std::function<flatbuffers::uoffset_t(Builder&)>& table = {}) {
  Builder fbb;
  const auto empty = CreateBuffer(fbb);
  const auto shape = fbb.CreateVector(std::vector<int32_t>{1, 2});
  const auto scale = fbb.CreateVector(std::vector<float>{0.5f});
  const auto zero = fbb.CreateVector(std::vector<int64_t>{0});
  const auto quantization = CreateQuantization(fbb, 0, 0, scale, zero, planted.details);
  std::vector<flatbuffers::Offset<dnn::tflite::Tensor>> tensors;
  for (const char* name : {"x", "y"})
    tensors.push_back(
        CreateTensor(fbb, shape, TensorType::FLOAT32, 0, fbb.CreateString(name), quantization, planted.variable));
  flatbuffers::Offset<AnyTable> built;
  if (planted.option != 0) {
    const auto start = fbb.StartTable();
    fbb.AddElement<int32_t>(4 + 2 * 20, planted.option, 0);
    built = flatbuffers::Offset<AnyTable>(fbb.EndTable(start));
  } else if (table) {
    built = flatbuffers::Offset<AnyTable>(table(fbb));
  }
  const auto custom = fbb.CreateVector(std::vector<uint8_t>(planted.custom_options ? 3 : 0, 1));
  const auto inputs = fbb.CreateVector(std::vector<int32_t>(static_cast<size_t>(1 + planted.extra_operands), 0));
  const auto outputs = fbb.CreateVector(std::vector<int32_t>{1});
  const auto op = CreateOperator(fbb, 0, inputs, outputs, built.IsNull() ? uint8_t{0} : static_cast<uint8_t>(options),
                                 built, custom);
  const auto code_of_it = CreateOperatorCode(fbb, static_cast<int8_t>(std::min(code, 127)), 0, planted.version, code);
  const auto subgraph = CreateSubGraph(fbb, fbb.CreateVector(tensors), fbb.CreateVector(std::vector<int32_t>{0}),
                                       fbb.CreateVector(std::vector<int32_t>{1}), fbb.CreateVector(std::vector{op}), 0);
  FinishModelBuffer(fbb, CreateModel(fbb, 3, fbb.CreateVector(std::vector{code_of_it}),
                                     fbb.CreateVector(std::vector{subgraph}), 0, fbb.CreateVector(std::vector{empty})));
  return {reinterpret_cast<const char*>(fbb.GetBufferPointer()), fbb.GetSize()};
}

std::string refusal(const std::string& file, const std::string& what) {
  try {
    read_bytes(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << what << ": " << error.what();
    return error.what();
  }
  ADD_FAILURE() << what << " is not refused";
  return "";
}

#define EXPECT_NAMED(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(TfliteLeftovers, WhatIsPlantedInAnyOperatorIsRefusedByName) {
  for (const OpRow& row : op_rows()) {
    const int code = row.code;
    EXPECT_NAMED(refusal(file_of(code, {.custom_options = true}, row.options), row.name), "field \"custom_options\"");
    EXPECT_NAMED(refusal(file_of(code, {.variable = true}, row.options), row.name), "field \"is_variable\"");
    EXPECT_NAMED(refusal(file_of(code, {.details = 2}, row.options), row.name), "field \"details_type\"");
    EXPECT_NAMED(refusal(file_of(code, {.version = 99}, row.options), row.name), "field \"version\" = 99");
    if (row.options == 0) continue;
    EXPECT_NAMED(refusal(file_of(code, {.option = 7}, row.options), row.name), "option \"field 20\"");
    EXPECT_NAMED(refusal(file_of(code, {.option = 7}, row.options + 1), row.name), "options of kind");
  }
}

TEST(TfliteLeftovers, OperandsThatNoneAsksForAreRefused) {
  const std::string text = refusal(file_of(101, {.extra_operands = 1}, 78), "ABS of two");
  EXPECT_NAMED(text, "operand 1 ('x') is not read");
}

TEST(TfliteLeftovers, OptionsThatNoneAsksForAreRefused) {
  const auto pool = [](Builder& fbb) { return CreatePool2DOptions(fbb, Padding::SAME, 1, 1, 1, 1).o; };
  EXPECT_NAMED(refusal(file_of(101, {}, 5, pool), "ABS with a pool's options"), "options of kind 5, not 78");
  const auto add = [](Builder& fbb) { return CreateArithmeticOptions(fbb, Activation::SIGN_BIT).o; };
  EXPECT_NAMED(refusal(file_of(0, {.extra_operands = 1}, 11, add), "ADD with SIGN_BIT"), "fused activation");
}

TEST(TfliteLeftovers, AccessorsAreKnownByTheirFields) {
  EXPECT_EQ(field_of(&Conv2DOptions::padding), 0);
  EXPECT_EQ(field_of(&Conv2DOptions::stride_h), 2);
  EXPECT_EQ(field_of(&Conv2DOptions::dilation_h_factor), 5);
  EXPECT_EQ(field_of(&SoftmaxOptions::beta), 0);
  EXPECT_EQ(field_of(&ReshapeOptions::new_shape), 0);
  EXPECT_EQ(field_of(&StridedSliceOptions::offset), 5);
}

TEST(TfliteLeftovers, UnknownOperatorsHaveTheirNames) {
  EXPECT_NAMED(refusal(file_of(7, {}, 0), "EMBEDDING_LOOKUP"), "EMBEDDING_LOOKUP 'y': this operator is not read");
  EXPECT_NAMED(refusal(file_of(199, {}, 0), "STABLEHLO_SORT"), "STABLEHLO_SORT");
  EXPECT_NAMED(refusal(file_of(999, {}, 0), "operator 999"), "operator 999");
}

}  // namespace
}  // namespace dnn::tflite
