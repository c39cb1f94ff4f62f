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

}  // namespace
}  // namespace dnn
