// What a user names a device by, read once.
#include "devices/device_spec.h"

#include <gtest/gtest.h>

#include "devices/library.h"

namespace dnn {
namespace {

TEST(DeviceSpec, ReadsEachKind) {
  const DeviceSpec cpu = "cpu", wide = "cpu:f64", gpu = "opencl:1", lib = "lib:tflite:delegate=/x:y.so",
                   mine = "exec:run --it";
  EXPECT_STREQ(cpu.kind(), "cpu");
  EXPECT_FALSE(cpu.float64() || cpu.framework() != nullptr);
  EXPECT_TRUE(wide.float64());
  EXPECT_STREQ(gpu.kind(), "opencl");
  EXPECT_EQ(gpu.index(), "1");
  EXPECT_STREQ(lib.framework()->name, "tflite");
  EXPECT_FALSE(lib.is_program());
  EXPECT_TRUE(mine.is_program());
  EXPECT_TRUE(lib == "lib:tflite:delegate=/x:y.so");
  const DeviceSpec there = "tcp://board:7000/opencl:1", socket = "unix:/run/dnn.sock";
  EXPECT_TRUE(there.is_remote() && socket.is_remote() && !cpu.is_remote());
  EXPECT_STREQ(there.kind(), "opencl");
  EXPECT_EQ(there.index(), "1");
  EXPECT_EQ(socket.name_there(), "cpu");
  EXPECT_THROW(there.remote(), Error);  // not connected
}

TEST(DeviceSpec, RefusesWithTheNearestName) {
  for (const auto& [text, message] : {std::pair{"cpq", "did you mean cpu?"},
                                      {"cpu:f32", "write it as cpu[:f64]"},
                                      {"opencl:", "write it as opencl:N"},
                                      {"opencl:-1", "write it as opencl:N"},
                                      {"tcp://board:1/lib:tflite", "only devices that run packages"},
                                      {"ssh://board/exec:x", "only devices that run packages"},
                                      {"ssh://board/cpq", "did you mean cpu?"},
                                      {"", "no such kind"}}) {
    try {
      const DeviceSpec spec = text;
      ADD_FAILURE() << text << " is taken as " << spec.kind();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace dnn
