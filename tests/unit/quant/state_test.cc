// Calibration states: exact sums, shards that add up to the whole, files that go on, and what is refused.
#include "quant/state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "base/file.h"
#include "cases.h"
#include "quant/storage.h"
#include "refused.h"

namespace dnn::quant {
namespace {

TEST(ExactSum, OrderDoesNotMatter) {
  const std::vector<double> numbers = {1e300, 1, 1e-300, -1e300, 3.5e-17, 0.1, 0.2, -0.3, 1e16, 1, -1e16};
  std::vector<double> order = numbers;
  std::sort(order.begin(), order.end());
  const double expected = ExactSum(numbers).value();
  EXPECT_EQ(expected, 2.0);  // as math.fsum of Python 3.11
  do {
    EXPECT_EQ(ExactSum(order).value(), expected);
    std::rotate(order.begin(), order.begin() + 3, order.end());
  } while (!std::is_sorted(order.begin(), order.end()));
  // Halfway cases: the parts below decide (math.fsum([1e16, 1, 1e-16]) is 10000000000000002).
  EXPECT_EQ(ExactSum({1e16, 1, 1e-16}).value(), 10000000000000002.0);
  EXPECT_EQ(ExactSum({1e16, 1, -1e-16}).value(), 1e16);
  ExactSum a({1e16, 1}), b({-1e16});
  EXPECT_EQ((a += b).value(), 1);
  EXPECT_EQ((a += a).value(), 2);
}

TEST(Ranges, JoinWhatTouches) {
  Ranges ranges;
  for (const int64_t p : {5, 3, 9, 4, 0, 10}) add_position(&ranges, p);
  EXPECT_EQ(ranges, (Ranges{{0, 1}, {3, 6}, {9, 11}}));
  for (const int64_t p : {0, 3, 4, 5, 9, 10}) EXPECT_TRUE(holds_position(ranges, p));
  for (const int64_t p : {1, 2, 6, 8, 11}) EXPECT_FALSE(holds_position(ranges, p));
}

// A third of the samples, as --shard has it.
class Third : public SampleSource {
 public:
  Third(const std::vector<Tensor>& samples, int64_t index) : samples_(samples), at_(index) {}
  std::optional<int64_t> count() const override { return (static_cast<int64_t>(samples_.size()) - at_ + 2) / 3; }
  std::optional<Load> next() override {
    if (at_ >= static_cast<int64_t>(samples_.size())) return std::nullopt;
    LoadedSample sample;
    sample.inputs = {samples_[static_cast<size_t>(at_)]};
    at_ += 3;
    return [sample] { return sample; };
  }

 private:
  const std::vector<Tensor>& samples_;
  int64_t at_;
};

struct Network {
  Network() : graph(prepare(parsed(kResidual))), bound(bound_graph(graph)), samples(random_samples({1, 3, 8, 8}, 70)) {}
  State run(SampleSource& source, const CalibrateOptions& how, const Ranges& done = {}) const {
    Calibration calibration = whole_watch_list(bound, options());
    calibration.done = done;
    calibrate(bound, source, how, &calibration);
    State state = state_of(bound, calibration);
    state.network = fingerprint(bound);
    state.sources = {{{"photos"}, calibration.done}};
    return state;
  }
  Graph graph, bound;
  std::vector<Tensor> samples;
};

TEST(State, ShardsAddUpToTheWhole) {
  const Network n;
  Given all(n.samples);
  const State whole = n.run(all, options(2).calibrate);
  State sum;
  for (const int64_t index : {2, 0, 1}) {
    Third third(n.samples, index);
    CalibrateOptions how = options(1).calibrate;
    how.shard = {index, 3};
    how.seed = static_cast<uint64_t>(index);
    merge(&sum, parse_state(state_json(n.run(third, how))));
  }
  EXPECT_EQ(state_json(sum), state_json(whole));
  EXPECT_EQ(whole.sources[0].done, (Ranges{{0, 70}}));
  Third again(n.samples, 0);
  CalibrateOptions how = options(1).calibrate;
  how.shard = {0, 3};
  const State part = n.run(again, how);
  EXPECT_THROW(merge(&sum, part), Error);  // seen already
  State spelt = part;
  spelt.sources[0].inputs = {"./photos"};  // the same files
  EXPECT_THROW(merge(&sum, spelt), Error);
  State other = part;
  other.network = "another";
  State fresh = whole;
  EXPECT_THROW(merge(&fresh, other), Error);
}

// The same images as a folder, as lists of some of them, by absolute paths, through links and from another folder.
TEST(State, KnowsSamplesByWhateverPath) {
  const Network n;
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  const std::string at = folder.path() + "/";
  std::filesystem::create_directories(at + "photos/deep");
  std::filesystem::create_directories(at + "other/photos");
  for (const char* name : {"photos/a.png", "photos/b.png", "photos/deep/c.png", "other/photos/d.png"})
    write_file(at + name, "\x89PNG\r\n\x1a\n");
  std::filesystem::create_symlink("photos", at + "linked");
  std::filesystem::create_symlink("photos/b.png", at + "one.png");
  const auto state_of_inputs = [&](const SeenInputs& seen) {
    State state;
    state.network = "network";
    state.sources = {seen};
    return state;
  };
  const std::string& here = folder.path();
  const State whole = state_of_inputs({{"photos"}, {{0, 2}}, here});
  const auto done = [&](const SeenInputs& inputs) { return whole.done(inputs); };
  EXPECT_EQ(done({{"photos"}, {}, here}), (Ranges{{0, 2}}));
  EXPECT_EQ(done({{at + "photos"}, {}, "/"}), (Ranges{{0, 2}}));
  EXPECT_EQ(done({{"../photos"}, {}, at + "other"}), (Ranges{{0, 2}}));
  EXPECT_EQ(done({{"linked"}, {}, here}), (Ranges{{0, 2}}));
  EXPECT_EQ(done({{"photos/deep", "one.png", "./photos/a.png"}, {}, here}), (Ranges{{1, 3}}));
  EXPECT_EQ(done({{"photos/deep"}, {}, here}), (Ranges{}));
  EXPECT_EQ(done({{"photos"}, {}, at + "other"}), (Ranges{}));       // others of that name
  EXPECT_EQ(done({{"photos"}, {}, "/not/here"}), (Ranges{{0, 2}}));  // of another machine
  EXPECT_EQ(done({{"photos", "photos"}, {}, "/not/here"}), (Ranges{}));
  const auto merged = [&](const SeenInputs& part) {
    State sum = whole;
    return refused([&] { merge(&sum, state_of_inputs(part)); });
  };
  EXPECT_EQ(merged({{"photos"}, {{2, 3}}, here}), "accepted");
  EXPECT_EQ(
      merged({{"one.png"}, {{0, 1}}, here}),
      "2 1 sample of one.png was seen by another state, too, as photos: no sample may be in two; give each state a "
      "--shard of its own, as 0/2 and 1/2");
  EXPECT_EQ(merged({{"photos"}, {{0, 3}}, here}).substr(0, 26), "2 2 samples of photos were");
  EXPECT_EQ(merged({{"photos/deep"}, {{0, 1}}, here}), "accepted");
  // A file may claim any number of positions; none is looked at by itself.
  State claims = state_of_inputs({{"photos"}, {{0, int64_t{1} << 50}}, here});
  claims.sources.push_back({{"photos"}, {{int64_t{1} << 49, (int64_t{1} << 50) + 1}}, here});
  EXPECT_EQ(claims.done({{"photos"}, {}, here}), (Ranges{{0, (int64_t{1} << 50) + 1}}));
  std::filesystem::remove_all(at + "photos");  // other inputs go on where an earlier folder was emptied
  std::filesystem::create_directories(at + "photos");
  EXPECT_EQ(done({{"other/photos"}, {}, here}), (Ranges{}));
}

TEST(State, GoesOnWhereItStopped) {
  const Network n;
  Given all(n.samples);
  const State whole = n.run(all, options().calibrate);
  // Stopped after 33 samples.
  CalibrateOptions how = options().calibrate;
  Given half(std::vector<Tensor>(n.samples.begin(), n.samples.begin() + 33));
  const State first = parse_state(state_json(n.run(half, how)));
  Calibration calibration = whole_watch_list(n.bound, options());
  take_state(n.bound, first, &calibration);
  calibration.done = first.done({{"photos"}});
  EXPECT_EQ(calibration.done, (Ranges{{0, 33}}));
  Given rest(n.samples);
  how.seed = 9;
  calibrate(n.bound, rest, how, &calibration);
  State state = state_of(n.bound, calibration);
  state.network = whole.network;
  state.sources = {{{"photos"}, calibration.done}};
  EXPECT_EQ(state_json(state), state_json(whole));
}

TEST(State, HoldsWhatEverySchemeNeeds) {
  const Network n;
  Given all(n.samples);
  const State state = n.run(all, options().calibrate);
  for (const auto& fuses : {fuses_in_onnx, fuses_in_tflite, fuses_in_qoperator}) {
    for (const Method& method : methods()) {
      QuantizeOptions o = options();
      o.method = method;
      o.fuses = fuses;
      o.real_results = fuses == fuses_in_onnx;
      o.integer_outputs = method.name == methods().front().name;
      Calibration calibration = watch_list(n.bound, o);
      take_state(n.bound, state, &calibration);
      QuantizeReport a, b;
      const Graph from_state = insert_rounding(n.graph, round_network(n.bound, calibration, o, {}, &a));
      Given given(n.samples);
      const Graph direct = quantize(n.graph, given, o, &b);
      EXPECT_EQ(to_text(from_state, {.inline_all = true}), to_text(direct, {.inline_all = true})) << method.name;
    }
  }
}

// Integers may be asked for later of an output that an operator in float32 makes.
TEST(State, HoldsOutputsOfAnyOperator) {
  const Graph bound = bound_graph(prepare(parsed(R"(
  input x: float32[1,4]
  const w: float32[4,4] = random(1)
  m = MatMul(x, w)
  y = Softmax(m)
  output y
)")));
  EXPECT_EQ(watch_list(bound, options()).seen.count(bound.find_value("y")), 0U);
  EXPECT_EQ(whole_watch_list(bound, options()).seen.count(bound.find_value("y")), 1U);
}

TEST(State, RefusesWhatIsNone) {
  const Network n;
  Given few(std::vector<Tensor>(n.samples.begin(), n.samples.begin() + 2));
  const std::string good = state_json(n.run(few, options().calibrate));
  EXPECT_NO_THROW(parse_state(good));
  for (const char* bad : {"", "{}", "[]", "null", R"({"format":"dnn-quantize state 1"})"}) {
    try {
      parse_state(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Malformed);
    }
  }
  // Every cut of the text, and numbers that cannot be.
  for (size_t end = 0; end + 2 < good.size(); end += good.size() / 50)
    EXPECT_THROW(parse_state(good.substr(0, end)), Error);
  for (const auto& [from, to] : {std::pair("\"samples\":2", "\"samples\":-2"),
                                 {"\"first\":", "\"first\":99999"},
                                 {"\"done\":[[0,2]]", "\"done\":[[2,0]]"},
                                 {"\"exponent\":", "\"exponent\":77777"}}) {
    std::string text = good;
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    EXPECT_THROW(parse_state(text), Error) << to;
  }
}

// Numbers that no run can have added up: they would choose any range, or overflow where states are merged.
TEST(State, IsHeldToItsExtremesAndCounts) {
  const Network n;
  Given few(std::vector<Tensor>(n.samples.begin(), n.samples.begin() + 2));
  const nlohmann::json good = nlohmann::json::parse(state_json(n.run(few, options().calibrate)));
  const auto refusal = [&](const char* list, const nlohmann::json& change) {
    nlohmann::json state = good;
    nlohmann::json& place = *list == 0 ? state : state[list][0];
    place.update(change);
    return refused([&] { parse_state(state.dump()); });
  };
  EXPECT_EQ(refusal("", nlohmann::json::object()), "accepted");
  const auto counts = static_cast<int64_t>(good["values"][0]["counts"].size());
  ASSERT_GT(counts, 2);
  const double high = good["values"][0]["high"];
  for (const char* change :
       {R"({"low_sum": [1e30], "high_sum": [-1e30]})", R"({"low_sum": [0.5], "high_sum": [0.25]})",
        R"({"low_sum": [-1.7e308], "high_sum": [1.7e308]})", R"({"low_sum": [-1e9]})", R"({"high_sum": [1e9]})",
        R"({"samples": 9223372036854775807})", R"({"samples": 3})", R"({"not_finite": 9223372036854775807})",
        R"({"exponent": -128})", R"({"exponent": 120})", R"({"exponent": 128, "low": -3.5e38})", R"({"low": -1e-300})",
        R"({"first": 0})", R"({"low_sum": [1, 1e60]})", R"({"zeros": -1})", R"({"at_low": 9007199254740991})",
        R"({"at_high": 9007199254740993})"})
    EXPECT_EQ(refusal("values", nlohmann::json::parse(change)).substr(0, 2), "3 ") << change;
  EXPECT_EQ(refusal("values", {{"high", high * 4}}), "3 a histogram's extremes do not fit its bins");
  EXPECT_EQ(refusal("values", {{"counts", std::vector<int64_t>(counts, INT64_MAX / 8192)}}),
            "3 a count is out of range");
  EXPECT_EQ(refusal("values", {{"low_sum", std::vector<double>(100, 1e-9)}}), "3 a sum is no list of at most 64 parts");
  EXPECT_EQ(refusal("", {{"samples", INT64_MAX}}), "3 'samples' is out of range");
  nlohmann::json sums = good["means"][0]["sums"];
  sums[0] = {1e9};
  EXPECT_EQ(refusal("means", {{"sums", sums}}).substr(0, 23), "3 a channel's sum is no");
}

TEST(State, KeepsNumbersOfAnySize) {
  for (const float largest : {3e-39F, 0.0001F, 0.3F, 0.7F, 5.0F, 3e38F}) {
    Histogram histogram;
    histogram.add(std::vector<float>{largest, -largest / 3, largest / 2});
    const Histogram read = Histogram::of(histogram.parts());
    EXPECT_EQ(read.highest(), histogram.highest());
    EXPECT_EQ(read.width(), histogram.width()) << largest;
    EXPECT_EQ(read.parts().counts, histogram.parts().counts) << largest;
  }
}

TEST(State, CountsThatAreMergedDoNotOverflow) {
  const Network n;
  Given few(std::vector<Tensor>(n.samples.begin(), n.samples.begin() + 2));
  State a = n.run(few, options().calibrate), b = a;
  b.sources[0].inputs = {"others"};
  a.samples = b.samples = kMostCount;
  EXPECT_EQ(refused([&] { merge(&a, b); }), "3 a count is out of range");
  Seen seen = a.seen.begin()->second;
  seen.samples = kMostCount;
  EXPECT_THROW(Seen(seen).append(seen), Error);
  Histogram::Parts parts = seen.histogram.parts();
  parts.counts.front() = kMostCount - seen.histogram.count();
  Histogram large = Histogram::of(parts);
  EXPECT_THROW(large.add(Histogram(large)), Error);
  EXPECT_EQ(large.count(), Histogram::of(parts).count());
}

TEST(Calibrate, SaysThatSortedInputsAreSorted) {
  const Network n;
  std::vector<int64_t> sorted, mixed;
  for (int64_t i = 0; i < 70; ++i) {
    sorted.push_back(i / 35);
    mixed.push_back(i % 2);
  }
  const auto warned = [&](const std::vector<int64_t>& truths, bool counted) {
    Given source(n.samples, truths, counted);
    std::string said;
    CalibrateOptions how = options().calibrate;
    how.warn = [&](const std::string& text) { said += text; };
    n.run(source, how);
    return said.find("class by class") != std::string::npos;
  };
  EXPECT_TRUE(warned(sorted, false));
  EXPECT_FALSE(warned(mixed, false));
  EXPECT_FALSE(warned(sorted, true));  // goes in random order
}

TEST(Calibrate, CountsRangesThatStillMove) {
  const Network n;
  QuantizeOptions o = options();
  o.method = method_named("minmax");
  const auto movement = [&](double factor) {
    Calibration calibration = watch_list(n.bound, o);
    Given first(std::vector<Tensor>(n.samples.begin(), n.samples.begin() + 50));
    calibrate(n.bound, first, o.calibrate, &calibration);
    const std::map<ValueId, Seen> early = calibration.seen;
    std::vector<Tensor> more(n.samples.begin() + 50, n.samples.end());
    for (Tensor& sample : more) {
      float* numbers = sample.mutable_data<float>();
      for (int64_t k = 0; k < sample.size(); ++k) numbers[k] *= static_cast<float>(factor);
    }
    Given rest(std::move(more));
    calibration.done.clear();
    calibrate(n.bound, rest, o.calibrate, &calibration);
    calibration.early = early;
    return range_movement(n.bound, calibration, o);
  };
  EXPECT_EQ(movement(0.1).moved, 0U);
  const Movement large = movement(3);
  EXPECT_GT(large.ranges, 4U);
  EXPECT_EQ(large.moved, large.ranges);
}

TEST(Storage, WeightsAreRoundedAndBiasesStay) {
  Graph graph = parsed(kResidual);
  EXPECT_EQ(store_weights(graph, DType::BFloat16), 3);
  infer_types(graph);
  verify(graph);
  int64_t halves = 0, casts = 0;
  for (NodeId id : graph.order()) casts += graph.node(id).op == "Cast" ? 1 : 0;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (const Tensor* constant = graph.constant(v)) halves += constant->dtype() == DType::BFloat16 ? 1 : 0;
  }
  EXPECT_EQ(casts, 3);
  EXPECT_EQ(halves, 3);
  EXPECT_EQ(graph.constant(graph.find_value("b"))->dtype(), DType::Float32);
}

}  // namespace
}  // namespace dnn::quant
