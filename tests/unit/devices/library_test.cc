// Frameworks as devices, with a stand-in for the framework (adapters/): what is said, and every way in which it goes wrong.
#include "devices/library.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "package_case.h"

namespace dnn {
namespace {

std::shared_ptr<const Package> two_inputs() {
  return package_of(
      "graph \"g\" {\n opset 17\n input x: float32[1,3]\n input x2: int64[2]\n y: float32[1,3] = Add(x, x) @a\n"
      " y2: int64[2] = Add(x2, x2) @b\n output y\n output y2\n}\n");
}

DeviceOptions options_of(const std::string& timeout = "20", const std::string& python = "") {
  DeviceOptions options;
  options.model_file = "folder/model.onnx";
  options.opt = 2;
  options.threads = 3;
  options.variable = [=](const std::string& name) -> std::string {
    if (name == "DNN_ADAPTERS") return "unit/devices/adapters";
    if (name == "DNN_ADAPTER_TIMEOUT") return timeout;
    return name == "DNN_PYTHON_ONNXRUNTIME" ? python : "";
  };
  return options;
}

std::unique_ptr<Session> open(const std::string& what, const DeviceOptions& options = options_of()) {
  return open_session(what.empty() ? "lib:onnxruntime" : "lib:onnxruntime:ep=" + what, two_inputs(), options);
}

const float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<Tensor> some_inputs() {
  return {Tensor::of<float>({1, 3}, {1.5F, kNaN, -INFINITY}), Tensor::of<int64_t>({2}, {-4, int64_t{1} << 40})};
}

// What opening and running said, with its kind.
void expect_failure(const std::string& what, ErrorKind kind, const std::string& message,
                    const DeviceOptions& options = options_of()) {
  try {
    open(what, options)->run(some_inputs());
    ADD_FAILURE() << what << ": no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << what;
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST(Library, RunsAndSaysWhatTheAdapterSays) {
  for (const char* const what : {"", "reversed", "renamed", "ones"}) {
    const std::unique_ptr<Session> session = open(what);
    EXPECT_EQ(session->isa(), "fake 2");
    EXPECT_EQ(session->opt(), 2);
    EXPECT_EQ(session->threads(), 3);
    EXPECT_EQ(session->facts().at("file"), "model.onnx");
    for (int i = 0; i < 3; ++i) {
      const std::vector<Tensor> outputs = session->run(some_inputs());
      ASSERT_EQ(outputs.size(), 2u) << what;
      EXPECT_EQ(outputs[0].shape(), (Shape{1, 3}));
      const std::vector<double> y = to_doubles(outputs[0]);
      EXPECT_EQ(y[0], 3);
      EXPECT_TRUE(std::isnan(y[1]));
      EXPECT_EQ(y[2], -INFINITY);
      EXPECT_EQ(to_int64s(outputs[1]), (std::vector<int64_t>{-8, int64_t{1} << 41}));
      EXPECT_EQ(session->latency_ns(), 1234);
    }
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Library, PassesTensorsOfManyMegabytes) {
  constexpr int64_t kCount = 5'000'000;  // 20 MB: two parts each way
  const auto package = package_of(cat("graph \"g\" {\n opset 17\n input x: float32[", kCount, "]\n y: float32[", kCount,
                                      "] = Add(x, x) @a\n output y\n}\n"));
  std::vector<float> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013);
  const Tensor x = Tensor::of<float>({kCount}, values);
  EXPECT_TRUE(open_session("lib:onnxruntime", package, options_of())->run({x})[0].identical(x));
}

TEST(Library, SaysWhatIsMissing) {
  expect_failure("absent", ErrorKind::Environment,
                 "No module named 'onnxruntime' (in python3; DNN_PYTHON_ONNXRUNTIME names");
  expect_failure("", ErrorKind::Environment, "cannot run /none/python: No such file", options_of("20", "/none/python"));
  DeviceOptions elsewhere = options_of();
  elsewhere.variable = [](const std::string& name) { return name == "DNN_ADAPTERS" ? "unit" : ""; };
  expect_failure("", ErrorKind::Environment, "no adapter run_onnxruntime.py in unit", elsewhere);
}

TEST(Library, FindsWhatSetupInstalled) {
  const TemporaryFolder folder("");
  const std::string python = folder.path() + "/onnxruntime/bin/python";
  make_folders(folder.path() + "/onnxruntime/bin");
  write_file(python, "not a program");
  DeviceOptions there = options_of();
  there.variable = [&, given = there.variable](const std::string& name) {
    return name == "DNN_FRAMEWORKS" ? folder.path() : given(name);
  };
  expect_failure("", ErrorKind::Environment, cat("cannot run ", python), there);
}

TEST(Library, SaysWhyTheFrameworkRefuses) {
  expect_failure("refuse", ErrorKind::Unsupported, "lib:onnxruntime: ValueError: no operator of that name");
  expect_failure("fail", ErrorKind::Unsupported, "RuntimeError: out of cheese");
}

TEST(Library, SurvivesDeathAndHanging) {
  expect_failure("die", ErrorKind::Environment, "its process was ended by signal 9 (Killed)");
  expect_failure("silent", ErrorKind::Environment, "its process ended with code 3");
  const auto start = std::chrono::steady_clock::now();
  expect_failure("hang", ErrorKind::Environment, "no answer within 0.5 s, the limit of DNN_ADAPTER_TIMEOUT",
                 options_of("0.5"));
  expect_failure("deaf", ErrorKind::Environment, "no answer within 0.5 s", options_of("0.5"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  expect_failure("", ErrorKind::Usage, "DNN_ADAPTER_TIMEOUT is 'soon'", options_of("soon"));
}

TEST(Library, RefusesAnswersThatDoNotFit) {
  expect_failure("garbage", ErrorKind::Malformed, "lib:onnxruntime: ");
  expect_failure("fewer", ErrorKind::Malformed, "gives 1 outputs, the model has 2");
  expect_failure("shape", ErrorKind::Malformed, "output 'y' is float32[1,3,2], the model's is float32[1,3]");
  expect_failure("dtype", ErrorKind::Malformed, "output 'y' is int32[1,3]");
  expect_failure("other", ErrorKind::Malformed, "answers run 0 with another record");
  expect_failure("untimed", ErrorKind::Malformed, "says no latency_ns");
}

// What may hold code is given to a framework only where it is trusted; a format of a new row must be placed here knowingly.
TEST(Library, KnowsWhichFilesMayHoldCode) {
  std::map<std::string, std::string> always, if_trusted;
  for (const Framework& row : frameworks()) {
    for (const char* const format : {"onnx", "tflite", "keras", "h5", "torchscript", "pt2", "statedict", "safetensors",
                                     "savedmodel", "graphdef", "text", ""}) {
      const OwnFile own = own_file(row, format);
      if (own == OwnFile::Always) always[row.name] += cat(format, " ");
      if (own == OwnFile::IfTrusted) if_trusted[row.name] += cat(format, " ");
    }
  }
  EXPECT_EQ(always, (std::map<std::string, std::string>{{"onnxruntime", "onnx "},
                                                        {"tflite", "tflite "},
                                                        {"ncnn", "onnx "},
                                                        {"openvino", "onnx tflite savedmodel graphdef "}}));
  EXPECT_EQ(if_trusted,
            (std::map<std::string, std::string>{
                {"tensorflow", "savedmodel graphdef "}, {"keras", "keras h5 "}, {"torch", "torchscript pt2 "}}));
}

TEST(Library, KnowsItsNames) {
  EXPECT_EQ(DeviceSpec("cpu").framework(), nullptr);
  EXPECT_STREQ(DeviceSpec("lib:tflite:delegate=/x:y.so").framework()->name, "tflite");
  for (const char* const wrong :
       {"lib", "lib:", "lib:caffe", "lib:keras:ep=x", "lib:onnxruntime:delegate=x", "lib:onnxruntime:ep="})
    EXPECT_THROW(DeviceSpec{wrong}, Error) << wrong;
}

}  // namespace
}  // namespace dnn
