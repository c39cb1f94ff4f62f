// Protobuf messages out of untrusted bytes: damage is an answer, no message on standard error.
#include "formats/wire/proto.h"

#include <gtest/gtest.h>
#include <schemas/tensorflow.pb.h>

namespace dnn {
namespace {

TEST(ParseMessage, IsSilentAboutTextThatIsNotUtf8) {
  tensorflow::NodeDef node;
  EXPECT_TRUE(parse_message(as_bytes("\x0a\x02ok"), &node));
  EXPECT_EQ(node.name(), "ok");
  testing::internal::CaptureStderr();
  parse_message(as_bytes("\x0a\x02\xff\xfe"), &node);
  EXPECT_FALSE(parse_message(as_bytes("\x0a\x7fshort"), &node));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// NodeDef.attr["value"].tensor, as steps.
const std::vector<ProtoStep> kSteps = {{0, 5, 1}, {1, 2, 2}, {2, 8, 3}, {3, 4, kLong}};

std::string node_with(const std::string& content) {
  tensorflow::NodeDef node;
  node.set_name("k");
  tensorflow::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
  tensor.set_tensor_content(content);
  tensor.set_dtype(tensorflow::DT_FLOAT);
  node.set_device("behind it");
  return node.SerializeAsString();
}

TEST(ParseMessage, LeavesLongFieldsWhereTheyAre) {
  for (const size_t n : {0, 100, 4095, 4096, 70000, 3000000}) {
    const std::string content(n, 'w'), file = node_with(content);
    tensorflow::NodeDef node;
    ASSERT_TRUE(parse_message(as_bytes(file), kSteps, &node)) << n;
    const tensorflow::TensorProto& tensor = node.attr().at("value").tensor();
    EXPECT_EQ(node.name() + tensorflow::DataType_Name(tensor.dtype()) + node.device(), "kDT_FLOATbehind it");
    EXPECT_EQ(tensor.has_place(), n >= 4096) << n;
    EXPECT_EQ(tensor.has_place() ? as_text(bytes_at(tensor.place(), as_bytes(file))) : tensor.tensor_content(),
              content);
  }
}

TEST(ParseMessage, RefusesDamageOnTheWay) {
  const std::string file = node_with(std::string(5000, 'w'));
  tensorflow::NodeDef node;
  for (size_t n = 1; n < file.size(); n += n < 60 ? 1 : 97) {
    if (parse_message(as_bytes(file.substr(0, n)), &node)) continue;  // ends between two fields
    EXPECT_FALSE(parse_message(as_bytes(file.substr(0, n)), kSteps, &node)) << n;
  }
  for (size_t at = 0; at < 60; ++at) {  // no other verdict than protobuf's own
    for (const char byte : {'\x00', '\x0b', '\x0c', '\x7f', '\xff'}) {
      std::string damaged = file;
      damaged[at] = byte;
      tensorflow::NodeDef other;
      EXPECT_EQ(parse_message(as_bytes(damaged), kSteps, &node), parse_message(as_bytes(damaged), &other)) << at;
    }
  }
}

TEST(ParseMessage, TakesNoPlaceFromAFile) {
  tensorflow::NodeDef node;
  (*node.mutable_attr())["value"].mutable_tensor()->set_place(std::string(16, '\0'));
  EXPECT_FALSE(parse_message(as_bytes(node.SerializeAsString()), kSteps, &node));
  EXPECT_THROW(bytes_at(std::string(16, '\x01'), {}), Error);
  EXPECT_THROW(bytes_at("", {}), Error);
}

}  // namespace
}  // namespace dnn
