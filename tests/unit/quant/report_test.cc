// schemas/quantize says what dnn-quantize writes: reports and states are what their schema describes, and whatever is described is
// written by one of them.
#include "quant/report.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_text.h"
#include "cases.h"
#include "formats/format.h"
#include "json_schema.h"
#include "quant/model.h"
#include "tensor/npy.h"

namespace dnn::quant {
namespace {

using Json = JsonSchema::Json;

// A small network and inputs for it, as files.
QuantizeRequest request(const TemporaryFolder& folder) {
  QuantizeRequest r;
  r.model = folder.path() + "/net.onnx";
  write_model(parsed(kCoarse), r.model);
  const auto save = [&](const char* name, int n, uint32_t seed) {
    std::vector<float> numbers;
    for (const Tensor& sample : random_samples({1, 4, 6, 6}, n, 0, seed)) {
      const auto values = sample.values<float>();
      numbers.insert(numbers.end(), values.begin(), values.end());
    }
    std::string path = folder.path() + "/" + name;
    write_file(path, format_npy(Tensor::of<float>({n, 4, 6, 6}, numbers)));
    return path;
  };
  r.output = folder.path() + "/out.onnx";
  r.calibrate = {save("calibrate.npy", 12, 1)};
  r.validate = {save("validate.npy", 40, 2)};
  r.options.calibrate.compile.build.cache_folder = test_cache();
  return r;
}

TEST(QuantizeSchemas, Reports) {
  JsonSchema schema("../schemas/quantize/report.schema.json");
  const TemporaryFolder folder(::testing::TempDir());
  const auto expect = [&](const QuantizeRequest& r) {
    QuantizedModel made = quantize_model(r);
    const std::string text = report_json(made.reports);
    EXPECT_EQ(join(schema.errors(parse_ordered_json(text)), "\n"), "") << text.substr(0, 2000);
    return made;
  };
  QuantizeRequest r = request(folder);
  r.sensitivity = true;
  r.max_drop = 10;
  r.most_float = 0.9;
  const QuantizedModel searched = expect(r);
  ASSERT_TRUE(searched.reports.search);
  EXPECT_TRUE(searched.holds);
  EXPECT_FALSE(searched.reports.excluded.empty());
  QuantizeRequest half = request(folder);
  half.options.scheme = scheme_named("float16");
  EXPECT_TRUE(expect(half).reports.report.underflow.empty());
  // Weights that float16 has no numbers for are counted, in both formats, and warned of once.
  Graph faint = parsed(
      "  input x: float32[1,4,6,6]\n  const w: float32[1,4,1,1] = {1e-9, 2e-8, 3e-7, 1}\n"
      "  const v: float32[1,1,1,1] = {0.5}\n  m = Conv(x, w) @faint\n  y = Conv(m, v) @clear\n  output y\n");
  half.model = folder.path() + "/faint.onnx";
  half.validate.clear();
  write_model(faint, half.model);
  for (const char* name : {"/half.onnx", "/half.tflite"}) {
    half.output = folder.path() + name;
    std::vector<std::string> said;
    half.options.calibrate.warn = [&](const std::string& message) { said.push_back(message); };
    const std::vector<Underflow> found = expect(half).reports.report.underflow;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].weights, "w");
    EXPECT_EQ(found[0].zeros, 0.5);  // 1e-9 and 2e-8: numpy.float16 has 0 for both
    EXPECT_EQ(found[0].denormal, 0.25);
    EXPECT_EQ(said,
              (std::vector<std::string>{"most weights are below float16's smallest normal number, 6.1e-05, in node "
                                        "'faint' (Conv) (50.0 % become 0, 25.0 % denormal)"}));
  }
  EXPECT_EQ(join(schema.unseen(), " "), "");
}

TEST(QuantizeSchemas, States) {
  JsonSchema schema("../schemas/quantize/state.schema.json");
  const TemporaryFolder folder(::testing::TempDir());
  QuantizeRequest r = request(folder);
  r.output.clear();
  r.validate.clear();
  r.states = {folder.path() + "/state.json"};
  quantize_model(r);
  EXPECT_EQ(join(schema.errors(parse_ordered_json(read_file(r.states[0]))), "\n"), "");
  EXPECT_EQ(join(schema.unseen(), " "), "");
}

}  // namespace
}  // namespace dnn::quant
