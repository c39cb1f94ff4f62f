// Configurations are read as pycls reads them, refused with their line, and become the networks that pycls computes.
#include "branch/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "branch/network.h"
#include "branch/placement.h"
#include "branch/yaml.h"
#include "interp/interpreter.h"
#include "place/measure.h"
#include "place/open.h"
#include "refused.h"

namespace dnn::branch {
namespace {

const char* const kBasic = R"(MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}
ANYNET:
  STEM_TYPE: res_stem_in
  STEM_W: 8
  BLOCK_TYPE: res_basic_block
  STRIDES: [[1, 1], [2, 2, 2]]
  DEPTHS: [[1, 2], [1, 1, 2]]
  WIDTHS: [[8, 16], [16, 8, 8]]
  DEVICES: ["cpu", "dsp", "gpu"]
  ORIGINAL_WIDTHS: [24, 32]
TRAIN: {IM_SIZE: 32}
)";

const char* const kBottleneck = R"(MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}
ANYNET:
  STEM_TYPE: simple_stem_in
  STEM_W: 8
  STEM_K: 3
  BLOCK_TYPE: res_bottleneck_block
  STRIDES: [[2], [1, 1]]
  DEPTHS: [[2], [1, 2]]
  WIDTHS: [[16], [24, 16]]
  BOT_MULS: [0.5, [1, 0.5]]
  GROUP_WS: [[8], [8, 4]]
  SE_ON: True
  DEVICES: ["C", "G"]
  HEAD_DEVICE: 1
  STEM_DEVICE: G
  MERGE_DEVICE: 0
  ORIGINAL_WIDTHS: [16, 40]
  HEAD_W: 12
TRAIN: {IM_SIZE: 32}
)";

const char* const kMbconv = R"(MODEL: {TYPE: mbanynet, NUM_CLASSES: 5, ACTIVATION_FUN: silu}
ANYNET:
  STEM_TYPE: simple_stem_in
  STEM_W: 8
  STEM_K: 5
  BLOCK_TYPE: mbconv
  STRIDES: [[1], [2, 2], [1, 1]]
  DEPTHS: [[2], [1, 2], [2, 1]]
  WIDTHS: [[8], [16, 8], [8, 16]]
  BOT_MULS: [1, [6, 3], 2]
  KERNELS: [3, 5, 3]
  HEAD_W: 16
  SE_ON: True
  DEVICES: [0, 1]
  ORIGINAL_WIDTHS: [8, 24, 16]
  MB_VER: 1
  ACTIVATION_FUN: ["relu", "silu"]
TRAIN: {IM_SIZE: 32}
)";

const char* const kShuffle = R"(MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}
ANYNET:
  STEM_TYPE: res_stem_cifar
  STEM_W: 8
  BLOCK_TYPE: inverted_residual
  STRIDES: [[2, 2]]
  DEPTHS: [[2, 3]]
  WIDTHS: [[8, 12]]
  DEVICES: ["cpu", "dsp"]
  ORIGINAL_WIDTHS: [20]
TRAIN: {IM_SIZE: 16}
)";

Config parsed(const std::string& text, std::vector<std::string>* warnings = nullptr) {
  return parse_config(text, "x.yaml", [&](const std::string& line) {
    if (warnings != nullptr) warnings->push_back(line);
  });
}

// What a refusal says, its exit code in front.
std::string refused_config(const std::string& text) {
  return refused([&] { build_network(parsed(text), 1); });
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string node_names(const Graph& graph, const std::string& prefix) {
  std::vector<std::string> names;
  for (NodeId id : graph.order()) {
    if (starts_with(graph.node(id).name, prefix)) names.push_back(graph.node(id).name);
  }
  return join(names, " ");
}

// The network with parameters that the test of the real framework had, too: sines by element and length of the name.
std::vector<float> outputs(const std::string& text) {
  Graph graph = build_network(parsed(text), 1);
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Tensor* old = graph.constant(v);
    const std::string& name = graph.value(v).name;
    if (old == nullptr || old->dtype() != DType::Float32) continue;
    Tensor tensor(DType::Float32, old->shape());
    const double spread =
        old->rank() > 1 ? std::sqrt(2.0 / (static_cast<double>(old->size()) / static_cast<double>(old->dim(0)))) : 1;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double x = std::sin(0.7 * static_cast<double>(i) + static_cast<double>(name.size()));
      if (ends_with(name, "running_var")) {
        x = 1 + 0.5 * x;
      } else if (ends_with(name, "running_mean")) {
        x = 0.1 * x;
      } else if (old->rank() == 1) {
        x = ends_with(name, "bias") ? 0.2 * x : 1 + 0.3 * x;
      } else {
        x *= spread;
      }
      tensor.mutable_data<float>()[i] = static_cast<float>(x);
    }
    graph.value(v).constant = tensor;
  }
  const int64_t size = parsed(text).image_size;
  Tensor image(DType::Float32, {1, 3, size, size});
  for (int64_t i = 0; i < image.size(); ++i)
    image.mutable_data<float>()[i] = static_cast<float>(std::sin(0.31 * static_cast<double>(i)));
  const Tensor result = interpret(graph, {image})[0];
  return {result.data<float>(), result.data<float>() + result.size()};
}

void expect_outputs(const std::string& text, const std::vector<float>& wanted) {
  const std::vector<float> got = outputs(text);
  ASSERT_EQ(got.size(), wanted.size());
  float largest = 0;
  for (float x : wanted) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 2e-5f * largest) << i;
}

// Right values: mbm-pycls 34c182f in PyTorch 2.15.0, whose counts are those of its complexity().
TEST(BranchNetwork, ComputesWhatPyclsComputes) {
  expect_outputs(kBasic, {8.800869f, -10.81006f, 11.12694f, -9.111368f, 6.266341f});
  expect_outputs(kBottleneck, {-0.128103f, 0.03576932f, 0.1593888f, 0.1789889f, 0.168015f});
  expect_outputs(kMbconv, {-0.2670164f, 0.03387082f, 0.3107102f, 0.2586689f, 0.01889159f});
  expect_outputs(kShuffle, {-0.08860736f, 0.0710777f, 0.1415188f, 0.1536376f, 0.1515657f});
}

TEST(BranchNetwork, CountsAsPyclsCounts) {
  const auto counted = [](const char* text) {
    const Counts c = count_network(parsed(text));
    return cat(c.params, " ", c.flops, " ", c.acts, " ", c.weights);
  };
  EXPECT_EQ(counted(kBasic), "23405 1095845 10501 23405");
  EXPECT_EQ(counted(kBottleneck), "7659 475691 19791 7659");
  EXPECT_EQ(counted(kMbconv), "13203 982651 62699 13683");  // pycls leaves out what widens a branch
  EXPECT_EQ(count_network(parsed(kShuffle)).weights, 1311);
}

TEST(BranchNetwork, NamesAreTheArtefacts) {
  const Graph basic = build_network(parsed(kBasic), 1);
  EXPECT_EQ(node_names(basic, "st_"), "st_cpu_conv st_cpu_bn st_cpu_relu st_cpu_mp_start_pool");
  EXPECT_EQ(
      node_names(basic, "s1_cpu"),
      "s1_cpu_b1_0_conv s1_cpu_b1_0_bn s1_cpu_b1_0_relu s1_cpu_b1_1_conv s1_cpu_b1_1_bn s1_cpu_b1_add s1_cpu_b1_relu "
      "s1_cpu_mp_start_mp_end_concat");
  EXPECT_EQ(node_names(basic, "s2_cpu_mp"), "s2_cpu_mp_end_concat");
  const Graph bottleneck = build_network(parsed(kBottleneck), 1);
  EXPECT_EQ(node_names(bottleneck, "st_"), "st_gpu_conv st_gpu_bn st_gpu_act");
  EXPECT_EQ(node_names(bottleneck, "head_"),
            "head_gpu_conv head_gpu_bn head_gpu_act head_gpu_gap head_gpu_flatten head_gpu_dense");
  EXPECT_EQ(node_names(bottleneck, "s1_cpu_b2_mp_start"), "s1_cpu_b2_mp_start_add s1_cpu_b2_mp_start_relu");
  const Graph mbconv = build_network(parsed(kMbconv), 1);
  EXPECT_EQ(node_names(mbconv, "s2_dsp_conv"),
            "s2_dsp_convfirst s2_dsp_convfirst_bn s2_dsp_convlast s2_dsp_convlast_bn");
  EXPECT_EQ(node_names(mbconv, "s1_cpu_b2_mp_start"), "s1_cpu_b2_mp_start_add");
}

TEST(BranchNetwork, WeightsAreSeeded) {
  const Config config = parsed(kBasic);
  const auto first = [&](uint64_t seed) {
    const Graph graph = build_network(config, seed);
    EXPECT_EQ(graph.metadata.at(0).second, cat("random, seed ", seed));
    return *graph.constant(graph.find_value("stem.conv.weight"));
  };
  EXPECT_TRUE(first(7).identical(first(7)));
  EXPECT_FALSE(first(7).identical(first(8)));
}

TEST(BranchNetwork, BranchesShareAFirstBlockWhereTheyDoNotStride) {
  const std::string text = with(kBasic, "ORIGINAL", "MB_DOWNSAMPLE: False\n  ORIGINAL");
  const Graph graph = build_network(parsed(text), 1);
  EXPECT_EQ(node_names(graph, "s1_cpu_b0"),
            "s1_cpu_b0_proj_conv s1_cpu_b0_proj_bn s1_cpu_b0_0_conv s1_cpu_b0_0_bn s1_cpu_b0_0_relu s1_cpu_b0_1_conv "
            "s1_cpu_b0_1_bn "
            "s1_cpu_b0_mp_start_add s1_cpu_b0_mp_start_relu");
  EXPECT_EQ(node_names(graph, "s1_dsp"),
            "s1_dsp_convfirst s1_dsp_b1_0_conv s1_dsp_b1_0_bn s1_dsp_b1_0_relu s1_dsp_b1_1_conv s1_dsp_b1_1_bn "
            "s1_dsp_b1_add s1_dsp_b1_relu");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[batch,5]");
}

TEST(BranchConfig, DevicesByNameLetterOrIndex) {
  EXPECT_EQ(join(parsed(kBottleneck).devices(), " "), "cpu gpu");
  EXPECT_EQ(parsed(kBottleneck).head_device, "gpu");
  EXPECT_EQ(parsed(kMbconv).stages[1].branches[1].device, "dsp");
  EXPECT_EQ(refused_config(with(kMbconv, "[0, 1]", "[0, 3]")),
            "3 x.yaml:14: ANYNET.DEVICES is 3, and there are 3 devices, counted from 0");
  EXPECT_EQ(refused_config(with(kMbconv, "[0, 1]", "[cpu, npu]")),
            "4 x.yaml:14: ANYNET.DEVICES is npu; devices are cpu (C), dsp (D), gpu (G), or an index");
  EXPECT_EQ(refused_config(with(kMbconv, "[0, 1]", "[cpu, C]")), "3 x.yaml:14: ANYNET.DEVICES names cpu twice");
}

// A page of text asks for no more memory than networks of that kind take: by many blocks, or by wide ones.
TEST(BranchNetwork, MemoryIsBounded) {
  const auto asking = [](size_t stages, const std::string& depth, const std::string& width) {
    const auto all = [&](const std::string& one) { return join(std::vector<std::string>(stages, one)); };
    return cat(
        "MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}\nANYNET: {BLOCK_TYPE: res_basic_block, DEVICES: [cpu], STRIDES: [",
        all("[1]"), "], DEPTHS: [", all("[" + depth + "]"), "], WIDTHS: [", all("[" + width + "]"),
        "], ORIGINAL_WIDTHS: [", all(width), "]}\nTRAIN: {IM_SIZE: 8}\n");
  };
  EXPECT_EQ(refused_config(asking(2, "2", "8")), "accepted");
  for (const std::string& text : {asking(64, "1000", "8"), asking(1, "1", "8192")}) {
    const std::string said = refused_config(text);
    EXPECT_EQ(said.rfind("4 x.yaml: its network of ", 0), 0U) << said;
    EXPECT_NE(said.find(" MB of memory; --max-memory BYTES allows more"), std::string::npos) << said;
    EXPECT_GT(count_network(parsed(text)).weights, 0);  // counts take none
  }
}

TEST(BranchConfig, RefusalsNameLineAndWayOut) {
  EXPECT_EQ(refused_config(with(kBasic, "STEM_W", "STEM_WIDTH")),
            "4 x.yaml:4: ANYNET.STEM_WIDTH is no setting of a branched network; remove it");
  EXPECT_EQ(refused_config(with(kBasic, "DEPTHS", "DEPHTS")),
            "4 x.yaml:7: ANYNET.DEPHTS is no setting of a branched network; did you mean DEPTHS?");
  EXPECT_EQ(refused_config(with(kBasic, "TRAIN:", "OPTIMS:")),
            "4 x.yaml:11: OPTIMS is no setting of a branched network; did you mean OPTIM?");
  EXPECT_EQ(refused_config(with(kBasic, "[8, 16], [16, 8, 8]", "[8, 16], [16, 8]")),
            "3 x.yaml:8: ANYNET.WIDTHS, stage 2, has 2 branches, DEPTHS has 3");
  EXPECT_EQ(refused_config(with(kBasic, "[[1, 1], [2, 2, 2]]", "[[1, 1]]")),
            "3 x.yaml:6: ANYNET.STRIDES has 1 stages, DEPTHS has 2");
  EXPECT_EQ(refused_config(with(kBasic, "[[1, 1], [2", "[[1, 2], [2")),
            "3 x.yaml:6: ANYNET.STRIDES, stage 1, differ between branches; their outputs would differ in size and "
            "cannot be merged");
  EXPECT_EQ(refused_config(with(kBasic, "[\"cpu\", \"dsp\", \"gpu\"]", "[cpu, dsp]")),
            "3 x.yaml:7: stage 2 has 3 branches, and ANYNET.DEVICES names 2 devices");
  EXPECT_EQ(refused_config(with(kBasic, "mbanynet", "regnet")),
            "4 x.yaml:1: MODEL.TYPE is regnet; branched networks are mbanynet");
  EXPECT_EQ(refused_config(with(kBasic, "res_basic_block", "vanilla_block")),
            "4 x.yaml:5: ANYNET.BLOCK_TYPE is vanilla_block; known are res_basic_block, res_bottleneck_block, "
            "inverted_residual, mbconv");
  EXPECT_EQ(refused_config(with(kBasic, "STEM_W: 8", "STEM_W: eight")),
            "3 x.yaml:4: ANYNET.STEM_W is eight, not an integer");
  EXPECT_EQ(refused_config(with(kBasic, "STEM_W: 8", "STEM_W: 0")),
            "3 x.yaml:4: ANYNET.STEM_W is 0, not an integer from 1 to 16384");
  EXPECT_EQ(refused_config(with(kBasic, "STEM_W: 8", "STEM_W: 8\n  STEM_W: 8")),
            "3 x.yaml:5: STEM_W is given twice; leave one");
  EXPECT_EQ(refused_config(with(kMbconv, "KERNELS: [3, 5, 3]", "KERNELS: [3, 4, 3]")),
            "3 x.yaml:11: ANYNET.KERNELS is 4; kernels are of odd size");
  EXPECT_EQ(refused_config(with(kMbconv, "  KERNELS: [3, 5, 3]\n", "")),
            "3 x.yaml:8: ANYNET.KERNELS is missing; it has one list for each stage");
  EXPECT_EQ(refused_config(with(kMbconv, "[8, 24, 16]", "[8, 25, 16]")),
            "3 x.yaml:15: ANYNET.ORIGINAL_WIDTHS, stage 2, is 25, which 2 branches do not share evenly");
  EXPECT_EQ(refused_config(with(kMbconv, "[\"relu\", \"silu\"]", "[relu]")),
            "3 x.yaml:17: ANYNET.ACTIVATION_FUN has 1 entries, DEVICES has 2");
  EXPECT_EQ(refused_config(with(kMbconv, "\"silu\"]", "gelu]")),
            "4 x.yaml:17: ANYNET.ACTIVATION_FUN is gelu; known are relu, silu, swish");
  EXPECT_EQ(refused_config(with(kMbconv, "MB_VER: 1", "MB_VER: 1\n  MB_DOWNSAMPLE: False")),
            "4 x.yaml:17: MB_DOWNSAMPLE: False with MB_VER: 1 was never defined; use MB_VER: 2");
  EXPECT_EQ(refused_config(with(kShuffle, "[8, 12]", "[8, 13]")).substr(0, 40),
            "4 x.yaml: s1_dsp_b1: inverted_residual o");
  EXPECT_EQ(refused_config(with(kBottleneck, "[8, 4]", "[8, 16]")),
            "4 x.yaml: s2_gpu_b1: a bottleneck of 8 channels in groups of 16");
}

TEST(BranchConfig, YamlIsHeldToWhatConfigurationsHave) {
  EXPECT_EQ(refused_config(""), "3 x.yaml:1: the file holds no YAML");
  EXPECT_EQ(refused_config("- 1\n- 2\n"), "3 x.yaml:1: a configuration is a map of sections, MODEL, ANYNET and so on");
  EXPECT_EQ(refused_config("MODEL: [1, 2\n"), "3 x.yaml:2: did not find expected ',' or ']'");
  EXPECT_EQ(refused_config("A: &x 1\nB: *x\n"), "4 x.yaml:1: an anchor (&NAME); write the value where it is used");
  EXPECT_EQ(refused_config("A: !!python/object:os.system x\n"), "4 x.yaml:1: a tag (!NAME); leave it out");
  EXPECT_EQ(refused_config("a: 1\n---\nb: 2\n"), "3 x.yaml:2: a second document; a configuration is one");
  EXPECT_EQ(refused_config(std::string(40, '[')), "3 x.yaml:1: nested more than 16 levels deep");
  EXPECT_EQ(refused_config(std::string((1 << 20) + 1, 'a')), "3 x.yaml: more than 1 MiB; a configuration is a page");
}

TEST(BranchConfig, WidthsThatDisagreeAreSaid) {
  std::vector<std::string> warnings;
  const Config config = parsed(with(kBasic, "[24, 32]", "[24, 40]"), &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "x.yaml:10: stage 2 is 32 wide by WIDTHS and 40 by ORIGINAL_WIDTHS; the network has 32 channels there, and "
            "is counted with 40, "
            "as pycls counts it");
  EXPECT_EQ(count_network(config).params - count_network(config).weights, 8 * 5);
}

struct Published {
  const char* config;
  int64_t params, flops, acts;
};

// What mbm-pycls 34c182f counts for them.
const Published kPublished[] = {
    {"mi/EN-B5-C", 30369239, 10257621239, 98831791},    {"mi/EN-B5-CD", 31167414, 10735999342, 131228454},
    {"mi/EN-B5-CG", 30224700, 10812758332, 140040308},  {"mi/EN-B5-D", 30369239, 10257621239, 98831791},
    {"mi/EN-B5-DG", 30224700, 10812758332, 140040308},  {"mi/EN-B5-G", 30369239, 10257621239, 98831791},
    {"mi/EN-L4-C", 13006568, 2553035336, 28839304},     {"mi/EN-L4-CD", 12013320, 2527641080, 36942320},
    {"mi/EN-L4-CG", 12388408, 2696799848, 39041856},    {"mi/EN-L4-D", 13006568, 2553035336, 28839304},
    {"mi/EN-L4-DG", 12388408, 2696799848, 39041856},    {"mi/EN-L4-G", 13006568, 2553035336, 28839304},
    {"mi/R-34-C", 21797672, 3663762408, 3939816},       {"mi/R-34-CD", 13457320, 2528795112, 4178152},
    {"mi/R-34-CDG", 11975512, 2210107112, 4347888},     {"mi/R-34-CG", 14392264, 2545252840, 4388264},
    {"mi/R-34-D", 21797672, 3663762408, 3939816},       {"mi/R-34-DG", 14392264, 2545252840, 4388264},
    {"mi/R-34-G", 21797672, 3663762408, 3939816},       {"mi/R-50-C", 25557032, 4089185256, 11315688},
    {"mi/R-50-CD", 21887816, 3617483496, 13009128},     {"mi/R-50-CDG", 21706984, 3551258856, 13581448},
    {"mi/R-50-CG", 21190984, 3611961576, 13148680},     {"mi/R-50-D", 25557032, 4089185256, 11315688},
    {"mi/R-50-DG", 21190984, 3611961576, 13148680},     {"mi/R-50-G", 25557032, 4089185256, 11315688},
    {"mi/RX-1.6-C", 9190136, 1602850792, 7933512},      {"mi/RX-1.6-CD", 9938888, 1568541928, 8288664},
    {"mi/RX-1.6-CDG", 10685144, 1542616936, 8136960},   {"mi/RX-1.6-CG", 9615176, 1445263720, 7864128},
    {"mi/RX-1.6-D", 9190136, 1602850792, 7933512},      {"mi/RX-1.6-DG", 9748520, 1484353960, 7959384},
    {"mi/RX-1.6-G", 9190136, 1602850792, 7933512},      {"mi/RX-4-C", 22118248, 3964499816, 12201608},
    {"mi/RX-4-CD", 21117688, 3716138216, 13730408},     {"mi/RX-4-CDG", 21317368, 3623675816, 14365448},
    {"mi/RX-4-CG", 19182968, 3633818216, 13687288},     {"mi/RX-4-D", 22118248, 3964499816, 12201608},
    {"mi/RX-4-DG", 19182968, 3633818216, 13687288},     {"mi/RX-4-G", 22118248, 3964499816, 12201608},
    {"pixel/EN-B5-C", 30369239, 10257621239, 98831791}, {"pixel/EN-B5-CG", 26560798, 9317728606, 116090382},
    {"pixel/EN-B5-G", 30369239, 10257621239, 98831791}, {"pixel/EN-L4-C", 13006568, 2553035336, 28839304},
    {"pixel/EN-L4-CG", 12390664, 2743599848, 41021856}, {"pixel/EN-L4-G", 13006568, 2553035336, 28839304},
    {"pixel/R-34-C", 21797672, 3663762408, 3939816},    {"pixel/R-34-CG", 14392264, 2545252840, 4388264},
    {"pixel/R-34-G", 21797672, 3663762408, 3939816},    {"pixel/R-50-C", 25557032, 4089185256, 11315688},
    {"pixel/R-50-CG", 20438088, 3274117864, 12042456},  {"pixel/R-50-G", 25557032, 4089185256, 11315688},
};

std::string published(const std::string& config) {
  return cat(std::getenv("DNN_TEST_DATA"), "/branching/configs/", config, ".yaml");
}

TEST(BranchConfig, PublishedOnesCountAsTheyDoThere) {
  if (std::getenv("DNN_TEST_DATA") == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  for (const Published& row : kPublished) {
    const Counts c = count_network(read_config(published(row.config), [](const std::string&) {}));
    EXPECT_EQ(cat(c.params, " ", c.flops, " ", c.acts), cat(row.params, " ", row.flops, " ", row.acts)) << row.config;
  }
}

TEST(BranchNetwork, PublishedOnesBuild) {
  if (std::getenv("DNN_TEST_DATA") == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  for (const Published& row : kPublished) {
    const Config config = read_config(published(row.config), [](const std::string&) {});
    const Graph graph = build_network(config, 1);
    EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[batch,1000]") << row.config;
  }
}

// Those with branches, on a device for each letter: the bits of the network as a whole.
TEST(BranchNetwork, PublishedOnesRunInParts) {
  if (std::getenv("DNN_TEST_DATA") == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  int branched = 0;
  for (const Published& row : kPublished) {
    const Config config = read_config(published(row.config), [](const std::string&) {});
    if (!config.branched()) continue;
    ++branched;
    const Graph graph = place::with_one_sample(build_network(config, 1, 32));
    std::vector<std::string> devices;
    for (const char letter : letters_named(graph)) devices.push_back(cat(letter, "=reference"));
    EXPECT_GT(devices.size(), 1u) << row.config;
    CompileOptions options;
    options.opt = 0;
    const auto session = open_parallel(graph, parse_parts(join(devices, ",")), options);
    EXPECT_GT(session->plan().merges(), 0) << row.config;
    const std::vector<Tensor> inputs = place::inputs_for(graph);
    EXPECT_TRUE(session->run(inputs)[0].identical(interpret(graph, inputs)[0])) << row.config;
  }
  EXPECT_EQ(branched, 26);
}

}  // namespace
}  // namespace dnn::branch
