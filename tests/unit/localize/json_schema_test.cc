// schemas/localize says what dnn-localize writes: outputs of each mode are what their schema describes, and whatever is described is
// written by one of them.
#include "json_schema.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json_text.h"
#include "cache.h"
#include "localize/bisect_model.h"
#include "localize/optimizer_model.h"
#include "localize/partition_model.h"
#include "localize/precision_model.h"
#include "localize/preprocess_model.h"
#include "localize/present.h"
#include "localize/repair_model.h"
#include "unit/localize/isolated.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

const std::string kSchemas = "../schemas/localize/";  // tests run in tests/
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Schema : public JsonSchema {
 public:
  explicit Schema(const std::string& name) : JsonSchema(kSchemas + name + ".schema.json") {}
  void expect(const std::string& text) {
    EXPECT_EQ(join(errors(parse_ordered_json(text)), "\n"), "") << text.substr(0, 2000);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
  }
  // The examples are sound too; they do not count as written.
  void expect_all_seen() {
    EXPECT_EQ(join(unseen()), "");
    for (const Json& example : root()["examples"]) EXPECT_EQ(join(errors(example), "\n"), "");
  }
};

template <class Request>
Request sample_request() {
  Request request;
  request.source = "sample/shapes.onnx";
  request.target = "sample/shapes_wrong.onnx";
  request.inputs = {"sample/images/star/00.png", "sample/images/ring/01.png"};
  request.preprocess = "imagenet-torch";
  request.network.device = "reference";
  request.folders.compile.build.cache_folder = test_cache();
  return request;
}

const LocalizePresentation kShown = {"right.onnx", "wrong.onnx"};

TEST(LocalizeSchemas, Partition) {
  Schema schema("partition");
  PartitionedModel wrong;
  wrong.model = "a.onnx";
  wrong.device = "cpu -O1";
  wrong.paths = {"a.png"};
  wrong.not_judged.unread = 1;
  wrong.report.n_samples = 1;
  wrong.report.max_abs = kInfinity;
  wrong.report.differs = true;
  wrong.report.error = "no such operator";
  wrong.report.findings = {{{{"a", "Conv", {"a"}, {"y"}}}, "y", 0.5, 2, ""}};
  schema.expect(partition_json(wrong));
  PartitionedModel agrees;
  schema.expect(partition_json(agrees));
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, Optimizer) {
  Schema schema("optimizer");
  OptimizedModel wrong;
  wrong.model = "a.onnx";
  wrong.optimizer = "onnxsim";
  wrong.paths = {"a.png"};
  wrong.not_judged.left_out = 1;
  wrong.report.differs = true;
  wrong.report.error = "it does not run";
  wrong.report.max_abs = kInfinity;
  wrong.report.findings = {{"fold", 0, 0.5, 2, "", {{"a", "Conv"}}, {{"b", "Add"}}}};
  schema.expect(optimizer_json(wrong));
  schema.expect(optimizer_json(OptimizedModel()));
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, Layers) {
  Schema schema("layers"), of_findings("findings"), of_maps("maps");
  auto request = sample_request<LocalizeRequest>();
  request.maps = true;
  TemporaryFolder folder(::testing::TempDir());
  request.reduce = folder.path() + "/reduced";
  request.label_sampling = LabelSampling{1, 1, 1, 0};
  const std::string text = localize_json(ModelComparison(request).run(), kShown);
  schema.expect(text);
  using Json = JsonSchema::Json;
  const Json findings = parse_ordered_json(text);
  for (const char* key : {"findings", "residual"}) ASSERT_TRUE(findings.contains(key));
  of_findings.expect(json_text(Json({{"findings", findings["findings"]}, {"residual", findings["residual"]}})) + "\n");
  of_findings.expect_all_seen();
  of_maps.expect(json_text(findings.at("maps")) + "\n");
  of_maps.expect_all_seen();
  // Out of time at once: the first sample has run, and no layer by itself.
  request.deadline = after_questions(0);
  const LocalizeReport cut = ModelComparison(request).run();
  EXPECT_EQ(cut.n_samples, 1);
  EXPECT_EQ(cut.ran_out, true);
  EXPECT_FALSE(cut.agree());
  EXPECT_EQ(localize_table(cut, kShown).find("the time ran out") == std::string::npos, false);
  schema.expect(localize_json(cut, kShown));
  // What these two models have not: attributes, infinities, and labels of which some are the same.
  const std::string net = R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const w: float32[2,2] = {1, 0, 0, NUMBER}
  a = Gemm(x, w) @dense {alpha = NUMBER}
  y = Relu(a) @relu
  output y
})";
  const auto with = [&](const std::string& number) {
    std::string text = net;
    for (size_t at = 0; (at = text.find("NUMBER")) != std::string::npos;) text.replace(at, 6, number);
    return typed(text);
  };
  const Graph a = with("1.5"), b = with("2.5"), c = with("nan");
  for (const Graph* other : {&b, &c}) {
    Localizer localizer(&a, other);
    for (float x : {1.0f, 0.5f, 0.0f}) {
      const Tensor input = Tensor::of<float>({1, 2}, {1, x});
      localizer.add(trace_of(a, input), trace_of(*other, input));
    }
    schema.expect(localize_json(localizer.finish({}), kShown));
  }
  LocalizeReport small = cut;
  small.small_floats = SmallFloats{DType::BFloat16, false, 4, 3};
  schema.expect(localize_json(small, kShown));
  LocalizeReport quantised = cut;
  quantised.quantisation =
      QuantisationReport{"int8 weights", 1, 2, 3, false, {{"a", "Gemm", 31.5, {}, 0}}, 0.25, 1, 2, ""};
  quantised.quantisation->costs.push_back({"y", "Relu", {}, 40.5, 0.5});
  schema.expect(localize_json(quantised, kShown));
  Localizer traces(nullptr, nullptr);
  traces.add(trace_of(a, Tensor::of<float>({1, 2}, {1, 2})), trace_of(a, Tensor::of<float>({1, 2}, {1, 2})));
  schema.expect(localize_json(traces.finish({}), kShown));
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, Passes) {
  Schema schema("passes");
  BisectRequest request;
  request.model = "sample/shapes.onnx";
  request.inputs = {"sample/images/cross/tie02.png"};
  request.preprocess = "imagenet-torch";
  request.source.device = request.target.device = "reference";
  request.source.level = "1";
  request.target.level = "0";
  BisectedModel found = bisect_model(request);
  ASSERT_FALSE(found.report.rewrites.empty());
  schema.expect(bisect_json(found));
  // A kernel's fault, a layout, and what --reduce left.
  KernelFinding kernel;
  kernel.node = found.report.rewrites[0].before.at(0);
  kernel.kernels = kernel.patterns = kernel.shared_with = {"conv_0"};
  kernel.got = kInfinity;
  kernel.relabelled = {{0, {.max_abs = kInfinity, .from = 1, .to = -1}}};
  found.report.kernels = {kernel};
  found.report.rewrites[0].layouts = {{"c", "nhwc"}};
  found.report.rewrites[0].kind = FaultKind::Breaks;
  found.report.rewrites[0].max_abs_float64 = NAN;
  found.reduced = BisectedModel::ReducedTo{"reduced", 1, 12, 0.5, true, ""};
  found.report.ran_out = true;
  found.not_judged = {1, 2};
  EXPECT_NE(bisect_text(found).find(" (1 could not be read, 2 were left out); outputs"), std::string::npos);
  found.report.unfinished = {{false, 3, 9, 12, {"fold-constant", "fuse-ops"}}};
  EXPECT_NE(bisect_text(found).find("one of 4 to 9 (fold-constant, fuse-ops)"), std::string::npos);
  schema.expect(bisect_json(found));
  found.reduced = BisectedModel::ReducedTo{"", 0, 0, 0, false, "it cannot be written"};
  EXPECT_NE(bisect_text(found).find("\nnot reduced: it cannot be written\n"), std::string::npos);
  schema.expect(bisect_json(found));
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, Precision) {
  Schema schema("precision");
  PrecisionRequest request;
  request.model = "sample/shapes.onnx";
  request.inputs = {"sample/images/star/00.png", "sample/images/cross/tie02.png"};
  request.preprocess = "imagenet-torch";
  request.network.device = "reference";
  request.threads = 2;
  for (const char* dtype : {"float16", "bfloat16", "int8"}) {
    request.search.dtype = precision_dtype(dtype);
    JudgedPrecision judged = judge_precision_of(request);
    EXPECT_EQ(judged.report.n_samples, 2u);
    schema.expect(precision_json(judged));
  }
  request.search.tolerance = OutputTolerance{1e-9, 1e-9};
  request.search.deadline = after_questions(0);
  JudgedPrecision cut = judge_precision_of(request);
  EXPECT_EQ(cut.report.n_samples, 1u);
  EXPECT_EQ(cut.report.ran_out, true);
  EXPECT_FALSE(cut.report.keeps);
  EXPECT_NE(precision_text(cut, 0).find("the time ran out"), std::string::npos);
  schema.expect(precision_json(cut));
  // What the sample has not.
  PrecisionLayer& layer = cut.report.layers.at(0);
  layer.effect.relabelled = {0};
  layer.effect.error = layer.effect.max_abs = layer.own_error = kInfinity;
  layer.stays = true;
  using Role = PrecisionSpot::Role;
  layer.spots = {{Role::Input, "a", {3, 1, 0}}, {Role::Constant, "b", {3, 0, 1}}, {Role::Output, "c", {3, 1, 1}}};
  cut.report.left_alone = {"if"};
  schema.expect(precision_json(cut));
  const std::string text = precision_text(cut, 1);
  EXPECT_NE(text.find("input a: of 3 numbers 1 to infinity\n"), std::string::npos) << text;
  EXPECT_NE(text.find("output c: of 3 numbers 1 to infinity, 1 to 0\n"), std::string::npos) << text;
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, Preprocessing) {
  Schema schema("preprocessing");
  auto request = sample_request<PreprocessRequest>();
  request.target = "sample/shapes_tflite.tflite";
  request.target_preprocess = "imagenet-tf channels=bgr";
  schema.expect(preprocess_report_json(search_preprocess_of(request)));
  request.target_preprocess = "";
  schema.expect(preprocess_report_json(search_preprocess_of(request)));
  request.target_preprocess = "imagenet-tf channels=bgr";
  request.deadline = after_questions(0);
  const SearchedPreprocess cut = search_preprocess_of(request);
  EXPECT_EQ(cut.report.ran_out, true);
  EXPECT_NE(preprocess_report_text(cut).find("the time ran out"), std::string::npos);
  SearchedPreprocess unread = cut;
  unread.not_judged = {1, 2};
  schema.expect(preprocess_report_json(unread));
  EXPECT_NE(preprocess_report_text(unread).find(" (1 could not be read, 2 were left out); "), std::string::npos);
  schema.expect(preprocess_report_json(cut));
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, Repair) {
  Schema schema("repair");
  auto request = sample_request<RepairRequest>();
  request.output = test_cache() + "/repaired.onnx";
  RepairReport report = repair_model(request);
  ASSERT_EQ(report.verdict, RepairReport::Verdict::Repaired);
  schema.expect(repair_json(report));
  report.left = {report.findings.at(0)};
  report.between_quantisers = {"conv"};
  report.noise = OutputNoise();
  report.noise->apart = kInfinity;
  report.noise->from = "conv";
  report.verdict = RepairReport::Verdict::NotRepaired;
  report.after.distance = kInfinity;
  report.certificate->outputs.at(0).max_absolute = kInfinity;
  report.certificate->seed.reset();
  schema.expect(repair_json(report));
  // Out of time in the search: nothing is found, nor written.
  request.output = test_cache() + "/not_repaired.onnx";
  request.deadline = after_questions(0);
  const RepairReport cut = repair_model(request);
  EXPECT_EQ(cut.verdict, RepairReport::Verdict::NotRepaired);
  EXPECT_EQ(cut.ran_out, true);
  EXPECT_EQ(cut.output, "");
  schema.expect(repair_json(cut));
  // Out of time in the judgement: what was found is written.
  std::atomic<int> asked = 0;
  request.deadline = counted_questions(&asked);
  const RepairReport timed = repair_model(request);
  EXPECT_EQ(timed.verdict, RepairReport::Verdict::Repaired);
  EXPECT_EQ(timed.ran_out, false);
  request.deadline = after_questions(asked - 1);
  const RepairReport unjudged = repair_model(request);
  EXPECT_EQ(unjudged.verdict, RepairReport::Verdict::NotRepaired);
  EXPECT_EQ(unjudged.output, request.output);
  EXPECT_EQ(unjudged.why_not, "the time ran out before it was judged on all samples");
  EXPECT_EQ(edits_json(unjudged.edits), edits_json(timed.edits));
  EXPECT_GE(unjudged.after.n_images, 1);
  request.deadline = {};
  request.target = request.source;
  schema.expect(repair_json(repair_model(request)));
  schema.expect_all_seen();
}

// Every kind of edit as it is written; and what is written by the rules of the schema is read back.
TEST(LocalizeSchemas, Edits) {
  Schema schema("edits");
  const auto edits = parse_edits(json_text(schema.root()["examples"][0]), "example");
  ASSERT_EQ(edits.size(), 7u);
  schema.expect(edits_json(edits));
  EXPECT_EQ(edits_json(edits), json_text(schema.root()["examples"][0]) + "\n");
  Edit plain;
  plain.source = "a";
  plain.target = "b";
  schema.expect(edits_json({plain}));
  schema.expect(edits_json({}));
  Edit scale = edits[6];
  scale.key = "scale";
  scale.rows.clear();
  scale.numbers = {0.5, 0.25};
  schema.expect(edits_json({scale}));
  EXPECT_EQ(parse_edits(edits_json({scale}), "scale"), std::vector<Edit>{scale});
  Edit order = edits[6];
  order.key = "order";
  order.perm = {0, 1, 3, 2};
  order.numbers = {3};
  schema.expect(edits_json({order}));
  EXPECT_EQ(parse_edits(edits_json({order}), "order"), std::vector<Edit>{order});
  Edit folded_layers = edits[2];
  folded_layers.held = {{"w", "q"}};
  folded_layers.in_float = {"other"};
  EXPECT_EQ(parse_edits(edits_json({folded_layers}), "held"), std::vector<Edit>{folded_layers});
  folded_layers.folded = true;
  Edit folded_attribute = edits[1];
  folded_attribute.folded = true;
  schema.expect(edits_json({folded_layers, folded_attribute}));
  // As quantisers fold and scale.
  std::vector<Edit> all = {edits[0], edits[1], edits[2], edits[6]};
  for (Edit& edit : all) edit.all_folded = true;
  all[3].divided = {0.5, 2};
  all[3].multiplied = {4};
  EXPECT_EQ(parse_edits(edits_json(all), "all folded"), all);
  schema.expect(edits_json(all));
  schema.expect_all_seen();
}

TEST(LocalizeSchemas, EachIsTested) {
  size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas))
    n_files += entry.path().extension() == ".json";
  EXPECT_EQ(n_files, 10u);
}

// What a schema does not describe is refused; else the tests above could not fail.
TEST(JsonSchema, SaysEachBreach) {
  Schema schema("edits");
  const auto breach = [&](const char* text) { return join(schema.errors(parse_ordered_json(text)), "; "); };
  EXPECT_EQ(breach(R"({"edits": []})"), "");
  EXPECT_EQ(breach(R"({"edits": 1})"), "$.edits: is 1, not of type \"array\"");
  EXPECT_EQ(breach(R"({})"), "$: lacks \"edits\"");
  EXPECT_EQ(breach(R"({"edits": [], "more": 1})"), "$.more: is not described");
  EXPECT_EQ(breach(R"({"edits": [{"kind": "classes", "classes": [0, -1]}]})"),
            "$.edits[0].classes[1]: is -1, minimum 0");
  EXPECT_EQ(breach(R"({"edits": [{"kind": "classes", "classes": [0.5]}]})"),
            "$.edits[0].classes[0]: is 0.5, not of type \"integer\"");
  EXPECT_EQ(breach(R"({"edits": [{"kind": "constant", "source": "a", "target": "b", "input": 65537}]})"),
            "$.edits[0].input: is 65537, maximum 65536");
  EXPECT_EQ(breach(R"({"edits": [{"kind": "bias", "source": "a", "target": "b", "key": "k"}]})"),
            "$.edits[0].kind: is \"bias\", not \"attribute\"");
  Schema layers("layers");
  JsonSchema::Json example = layers.root()["examples"][0];
  example.erase("residual");
  example["layers"][0]["by"] = "luck";
  example["layers"][0]["error"] = "Inf";
  EXPECT_EQ(join(layers.errors(example), "; "),
            "$.layers[0].by: is \"luck\", none of "
            R"(["name","place","order","values","parameters","wiring","given"]; )"
            "$.layers[0].error: is \"Inf\", not of type \"number\"; $: has \"findings\" and lacks \"residual\"");
  EXPECT_FALSE(layers.unseen().empty());
}

}  // namespace
}  // namespace dnn
