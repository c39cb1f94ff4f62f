// Branches run at once: device lists, segments, the same bits as one after another, and parts that fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/affinity.h"
#include "branch/network.h"
#include "branch/placement.h"
#include "cache.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "refused.h"

namespace dnn::branch {
namespace {

using place::cut_into_segments;
using place::open_alone;
using place::options_for;
using place::Plan;
using place::Segment;
using place::SegmentTime;
using place::with_one_sample;

const char* const kNet = R"(MODEL: {TYPE: mbanynet, NUM_CLASSES: 5}
ANYNET:
  STEM_TYPE: res_stem_in
  STEM_W: 8
  BLOCK_TYPE: res_basic_block
  STRIDES: [[1, 1], [2, 2]]
  DEPTHS: [[1, 2], [1, 1]]
  WIDTHS: [[8, 16], [16, 8]]
  DEVICES: ["cpu", "dsp"]
  ORIGINAL_WIDTHS: [24, 24]
TRAIN: {IM_SIZE: 32}
)";

Graph network() {
  return with_one_sample(build_network(parse_config(kNet, "net.yaml", [](const std::string&) {}), 1));
}

std::vector<Tensor> parallel_image() {
  Tensor x(DType::Float32, {1, 3, 32, 32});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 17) / 8 - 1;
  return {x};
}

// At level 0 the reference computes what the network says, however it is cut; above, batch norms are folded first.
CompileOptions options(int opt = 0) {
  CompileOptions o;
  o.opt = opt;
  o.build.cache_folder = test_cache();
  return o;
}

std::string refused_list(const std::string& list) {
  return refused([&] { parse_parts(list); });
}

TEST(BranchParts, AreReadFromAList) {
  const int core = allowed_processors().at(0);
  const std::vector<Part> parts = parse_parts(cat("D=cpu@", core, ":f32,G=reference"));
  EXPECT_EQ(parts[0].label(), cat("D (cpu@", core, ":f32)"));
  EXPECT_EQ(parts[0].device.text(), "cpu");
  EXPECT_EQ(parts[0].options().threads, 1);
  EXPECT_EQ(parts[0].options().processors, std::vector<int>{core});
  EXPECT_EQ(parts[1].label(), "G (reference)");
  EXPECT_TRUE(parts[1].cores.empty());
  EXPECT_EQ(parse_parts("cpu,reference")[1].letter, 'D');
  EXPECT_EQ(parse_parts("D=ssh://me@board:22/cpu")[0].device.text(), "ssh://me@board:22/cpu");
}

TEST(BranchParts, AreRefusedWithTheWayOut) {
  EXPECT_EQ(refused_list("X=cpu"), "2 --devices: \"X=cpu\": the letter is not one of CDG");
  EXPECT_EQ(refused_list("C=cpu,,D=cpu"), "2 --devices: \"C=cpu,,D=cpu\" has an empty entry");
  EXPECT_EQ(refused_list("C=cpu,C=reference"), "2 --devices: the letter C comes twice");
  EXPECT_EQ(refused_list("C=cpu@"), "2 --devices: \"C=cpu@\": no processors after @; write @0 or @0+2-3");
  EXPECT_EQ(refused_list("C=cpu@60000").substr(0, 69),
            "2 --devices: C (cpu@60000): this process may not use processor 60000;");
  const int core = allowed_processors().at(0);
  EXPECT_EQ(refused_list(cat("C=cpu@", core, ",D=cpu@", core)),
            cat("2 --devices: processor ", core, " is listed twice; give each part processors of its own"));
  EXPECT_EQ(refused_list(cat("C=cpu@", core, ":f16")),
            cat("4 --devices: \"C=cpu@", core, ":f16\": no part computes in f16; choose from f32, int8, int16"));
  EXPECT_EQ(refused_list(cat("C=cpu@", core, ":foo")),
            cat("2 --devices: \"C=cpu@", core, ":foo\": \"foo\" is no precision; choose from f32, int8, int16"));
  EXPECT_EQ(refused_list("C=cpu:f64").substr(0, 52), "4 --devices: \"C=cpu:f64\": parts run on devices for p");
  EXPECT_EQ(refused_list("C=cqu").substr(0, 2), "2 ");
}

TEST(BranchParts, HaveTheProcessorsThatOthersLeave) {
  std::string all = processors_text(allowed_processors());
  std::replace(all.begin(), all.end(), ',', '+');
  EXPECT_EQ(refused_list(cat("C=cpu@", all, ",D=cpu")),
            "2 --devices: D (cpu): no processor is left for it; give each part processors of its own");
  EXPECT_TRUE(parse_parts(cat("C=cpu@", all, ",G=reference"))[1].cores.empty());
  EXPECT_TRUE(parse_parts("C=cpu,D=cpu")[1].cores.empty()) << "nobody names any";
  std::vector<int> rest = allowed_processors();
  if (rest.size() < 2) GTEST_SKIP() << "a second processor is wanted";
  const int first = rest.front();
  rest.erase(rest.begin());
  EXPECT_EQ(parse_parts(cat("C=cpu@", first, ",D=cpu"))[1].cores, rest);
}

TEST(BranchPlan, SegmentsEndWhereAnotherPartWaits) {
  const Graph graph = network();
  const Plan plan = cut_into_segments(graph, place_by_names(graph, "CD"));
  std::vector<std::string> lines;
  for (const Segment& s : plan.segments) lines.push_back(cat("CD"[s.part], " ", s.name, s.merges ? " merges" : ""));
  EXPECT_EQ(join(lines, "\n"),
            "C st_cpu_conv .. st_cpu_mp_start_pool\n"
            "C s1_cpu_b1_0_conv .. s1_cpu_b1_relu\n"
            "D s1_dsp_b1_proj_conv .. s1_dsp_b2_relu\n"
            "C s1_cpu_mp_start_mp_end_concat merges\n"
            "C s2_cpu_b1_proj_conv .. s2_cpu_b1_relu\n"
            "D s2_dsp_b1_proj_conv .. s2_dsp_b1_relu\n"
            "C s2_cpu_mp_end_concat .. head_cpu_dense merges");
  EXPECT_EQ(plan.merges(), 2);
  EXPECT_EQ(plan.copies, 4);
  EXPECT_EQ(plan.copied_bytes, 4 * (8 * 64 + 16 * 64 + 24 * 64 + 8 * 16));
}

TEST(BranchPlan, OnePartIsOneSegment) {
  const Graph graph = network();
  const Plan plan = cut_into_segments(graph, std::vector<size_t>(static_cast<size_t>(graph.node_slots()), 0));
  ASSERT_EQ(plan.segments.size(), 1u);
  EXPECT_EQ(plan.copies, 0);
  EXPECT_EQ(plan.segments[0].graph.order().size(), graph.order().size());
}

// A subgraph that reads a value of another part.
TEST(BranchPlan, SubgraphsGetWhatTheyRead) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input cond: bool[]
  input x: float32[2]
  y: float32[2] = Relu(x) @st_cpu_y
  z: float32[2] = If(cond) @s1_dsp_z {then_branch = graph "t" {
    capture y: float32[2]
    t: float32[2] = Abs(y)
    output t
  }, else_branch = graph "e" {
    capture y: float32[2]
    e: float32[2] = Neg(y)
    output e
  }}
  output z
})");
  infer_types(graph);
  const std::vector<Part> parts = parse_parts("C=reference,D=reference");
  const auto session = open_parallel(graph, parts, options());
  const std::vector<Tensor> out = session->run({Tensor::scalar(false), Tensor::of<float>({2}, {-1, 3})});
  EXPECT_TRUE(out[0].identical(Tensor::of<float>({2}, {-0.0f, -3})));
}

TEST(BranchPlan, APartThatIsNotGivenIsRefused) {
  const Graph graph = network();
  try {
    place_by_names(graph, "C");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    EXPECT_EQ(
        std::string(e.what()),
        "node 's1_dsp_b1_proj_conv' (Conv) is for D (dsp), which no device is given for; add D=DEVICE to --devices");
  }
}

// What the segments give one after another, on sessions of their own.
std::vector<Tensor> one_after_another(const Graph& graph, const std::vector<Part>& parts, int opt) {
  const Plan plan = cut_into_segments(graph, place_by_names(graph, "CD"));
  std::vector<Tensor> values(plan.values);
  values[static_cast<size_t>(plan.inputs[0])] = parallel_image()[0];
  for (const Segment& s : plan.segments) {
    const CompileOptions own = options_for(parts[s.part], options(opt));
    const auto session = open_alone(std::make_shared<Package>(compile(s.graph, own)), parts[s.part]);
    std::vector<Tensor> inputs;
    for (ValueId v : s.inputs) inputs.push_back(values[static_cast<size_t>(v)]);
    const std::vector<Tensor> outputs = session->run(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) values[static_cast<size_t>(s.outputs[i])] = outputs[i];
  }
  return {values[static_cast<size_t>(plan.outputs[0])]};
}

TEST(ParallelSession, GivesTheBitsOfTheSegmentsAlone) {
  const Graph graph = network();
  for (const char* list : {"C=reference,D=reference", "C=cpu,D=cpu", "C=reference,D=cpu", "C=cpu,D=opencl:0"}) {
    if (ends_with(list, "opencl:0") && DeviceSpec("opencl").device().list({}).empty()) continue;
    const std::vector<Part> parts = parse_parts(list);
    const auto session = open_parallel(graph, parts, options(3));
    const std::vector<Tensor> wanted = one_after_another(graph, parts, 3);
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(session->run(parallel_image())[0].identical(wanted[0])) << list << ", run " << i;
  }
  // The reference gives the same bits however the network is cut.
  const auto session = open_parallel(graph, parse_parts("C=reference,D=reference"), options());
  EXPECT_TRUE(session->run(parallel_image())[0].identical(interpret(graph, parallel_image())[0]));
}

TEST(BranchParts, AreCompiledForAsDnnInferDoes) {
  const CompileOptions opencl = options_for(parse_parts("G=opencl:0")[0], options(2));
  EXPECT_EQ(opencl.device, "opencl");
  EXPECT_EQ(opencl.opt, 2);
  const CompileOptions cpu = options_for(parse_parts("C=cpu")[0], options(3));
  EXPECT_EQ(cpu.isas.size(), 1u);
  EXPECT_EQ(cpu.build.cache_folder, test_cache());
}

TEST(ParallelSession, SaysWhenSegmentsRan) {
  const auto session = open_parallel(network(), parse_parts("C=reference,D=reference"), options());
  session->run(parallel_image());
  const std::vector<SegmentTime>& times = session->times();
  for (size_t s = 0; s < times.size(); ++s) {
    EXPECT_LE(times[s].ready_ns, times[s].begin_ns) << s;
    EXPECT_LT(times[s].begin_ns, times[s].end_ns) << s;
  }
  EXPECT_GE(times[3].ready_ns, std::max(times[1].end_ns, times[2].end_ns));
}

// Runs another session, or fails, from the given run on or in one alone.
class FailingSession : public Session {
 public:
  FailingSession(std::unique_ptr<Session> inner, int run, std::chrono::milliseconds after)
      : Session(std::make_shared<Package>(inner->package())), inner_(std::move(inner)), run_(run), after_(after) {}
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    if (++runs_ == run_) {
      std::this_thread::sleep_for(after_);
      fail_environment("the device is gone");
    }
    return inner_->run(inputs);
  }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
    return inner_->trace(inputs, observe);
  }

 private:
  std::unique_ptr<Session> inner_;
  int run_, runs_ = 0;
  std::chrono::milliseconds after_;
};

// A session whose segments in `failing` fail in their second run.
std::unique_ptr<ParallelSession> failing_session(const Graph& graph, const std::vector<size_t>& failing) {
  const std::vector<Part> parts = parse_parts("C=reference,D=reference");
  Plan plan = cut_into_segments(graph, place_by_names(graph, "CD"));
  std::vector<std::unique_ptr<Session>> sessions;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    CompileOptions own = options();
    own.device = "reference";
    auto session =
        open_alone(std::make_shared<Package>(compile(plan.segments[s].graph, own)), parts[plan.segments[s].part]);
    const bool fails = std::find(failing.begin(), failing.end(), s) != failing.end();
    sessions.push_back(
        std::make_unique<FailingSession>(std::move(session), fails ? 2 : -1, std::chrono::milliseconds(5 * s)));
  }
  return std::make_unique<ParallelSession>(std::move(plan), parts, std::move(sessions));
}

std::string failure_of(ParallelSession& session) {
  try {
    session.run(parallel_image());
  } catch (const Error& e) {
    return cat(e.exit_code(), " ", e.what());
  }
  return "";
}

TEST(ParallelSession, AFailureNamesItsPartAndEndsTheRun) {
  const Graph graph = network();
  const Tensor wanted = interpret(graph, parallel_image())[0];
  const std::vector<std::string> names = {
      "C (reference), st_cpu_conv .. st_cpu_mp_start_pool",   "C (reference), s1_cpu_b1_0_conv .. s1_cpu_b1_relu",
      "D (reference), s1_dsp_b1_proj_conv .. s1_dsp_b2_relu", "C (reference), s1_cpu_mp_start_mp_end_concat",
      "C (reference), s2_cpu_b1_proj_conv .. s2_cpu_b1_relu", "D (reference), s2_dsp_b1_proj_conv .. s2_dsp_b1_relu",
      "C (reference), s2_cpu_mp_end_concat .. head_cpu_dense"};
  for (size_t s = 0; s < names.size(); ++s) {
    const auto session = failing_session(graph, {s});
    EXPECT_EQ(failure_of(*session), "") << s;
    EXPECT_EQ(failure_of(*session), cat("5 part ", names[s], ": the device is gone"));
    EXPECT_TRUE(session->run(parallel_image())[0].identical(wanted)) << s;  // the next run begins anew
  }
  const auto both = failing_session(graph, {1, 2});
  EXPECT_EQ(failure_of(*both), "");
  EXPECT_NE(failure_of(*both).find("the device is gone"), std::string::npos);
  failure_of(*both);  // a part that had not begun when the other one failed fails now
  EXPECT_TRUE(both->run(parallel_image())[0].identical(wanted));
}

TEST(ParallelSession, RefusesOtherInputs) {
  const auto session = open_parallel(network(), parse_parts("C=reference,D=reference"), options());
  EXPECT_THROW(session->run({}), Error);
  EXPECT_THROW(session->run({Tensor(DType::Float32, {1, 3, 8, 8})}), Error);
  session->run(parallel_image());
}

}  // namespace
}  // namespace dnn::branch
