// Searching preprocessings: stand-in networks whose outputs are weighted sums of their input, so that each pixel counts.
#include "localize/preprocess_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "localize/preprocess_candidates.h"
#include "localize/preprocess_scores.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

constexpr int kSize = 24;

Image noise(int width, int height, uint32_t seed) {
  std::mt19937 engine(seed);
  Image image;
  image.width = width;
  image.height = height;
  // Blobs, so that a resize does not average all away.
  std::vector<uint8_t> cells(64 * 3);
  for (uint8_t& cell : cells) cell = static_cast<uint8_t>(engine() % 256);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int cell = (y * 8 / height * 8 + x * 8 / width) * 3 + c;
        image.rgb.push_back(cells[static_cast<size_t>(cell)]);
      }
    }
  }
  return image;
}

// Logits of `n` classes of a [1, 3, S, S] input.
Tensor logits(const Tensor& input, size_t n) {
  const auto x = input.values<float>();
  std::vector<float> out;
  for (size_t c = 0; c < n; ++c) {
    std::mt19937 engine(static_cast<uint32_t>(c + 1));
    double sum = 0;
    for (const float v : x) sum += static_cast<double>(v) * (static_cast<double>(engine() % 2001) / 1000 - 1);
    out.push_back(static_cast<float>(sum / 40));
  }
  return Tensor::of<float>({1, static_cast<int64_t>(n)}, out);
}

Preprocess preset_named(const char* name) { return named_preprocess(name, kSize, kSize, Layout::Nchw); }

// A search in which the target wants `wanted` and is given `assumed`.
PreprocessReport searched(const Preprocess& wanted, const Preprocess& assumed, Handling handling = Handling::AsIs,
                          const std::function<Tensor(const Tensor&)>& relabel = {}, size_t n_images = 12,
                          const Deadline& deadline = {}) {
  PreprocessSearch search;
  for (uint32_t i = 0; i < n_images; ++i) search.images.push_back(noise(30 + static_cast<int>(i) * 3, 40, i + 1));
  search.assumed = assumed;
  search.source_preprocess = assumed;
  search.deadline = deadline;
  // The source computes what the target would, were it given what it wants.
  search.source = [=](const Image& image) {
    return logits(handled(to_tensor(image, wanted), Layout::Nchw, handling), 10);
  };
  search.target = [=](const Tensor& input) {
    const Tensor out = logits(input, 10);
    return relabel ? relabel(out) : out;
  };
  return search_preprocess(search);
}

std::string factors(const PreprocessReport& report) {
  std::string text;
  for (const PreprocessChange& change : report.changes) text += change.factor + " ";
  return text;
}

using Verdict = PreprocessReport::Verdict;

TEST(PreprocessSearch, ArithmeticAndChannels) {
  const PreprocessReport report = searched(preset_named("imagenet-caffe"), preset_named("imagenet-torch"));
  EXPECT_EQ(report.verdict, Verdict::Explained);
  EXPECT_EQ(factors(report), "arithmetic channels ");
  EXPECT_EQ(preprocess_spec(report.found.preprocess), "imagenet-caffe");
  EXPECT_EQ(report.after.n_relabelled, 0u);
  EXPECT_LT(report.after.distance, 1e-6);
  EXPECT_GT(report.explained, 0.999);
  EXPECT_EQ(report.n_searched + report.n_unseen, 12u);
  for (const PreprocessChange& change : report.changes) EXPECT_GT(change.without.distance, 0.1) << change.factor;
}

TEST(PreprocessSearch, GeometryAndFilterTogether) {
  Preprocess wanted = preset_named("imagenet-tf");
  wanted.resize = ResizeMode::Stretch;
  wanted.short_side = 0;
  wanted.filter = ResizeFilter::Bicubic;
  const PreprocessReport report = searched(wanted, preset_named("imagenet-tf"));
  EXPECT_EQ(report.verdict, Verdict::Explained);
  EXPECT_EQ(factors(report), "resize filter ");
  EXPECT_EQ(preprocess_spec(report.found.preprocess), "imagenet-tf resize=stretch filter=bicubic");
}

TEST(PreprocessSearch, EveryHandling) {
  for (const Handling handling :
       {Handling::OtherLayout, Handling::Transposed, Handling::UpsideDown, Handling::Mirrored}) {
    const PreprocessReport report = searched(preset_named("imagenet-torch"), preset_named("imagenet-torch"), handling);
    EXPECT_EQ(report.verdict, Verdict::Explained);
    EXPECT_EQ(report.found.handling, handling) << handling_name(handling);
    EXPECT_EQ(factors(report), "handling ");
  }
}

TEST(PreprocessSearch, LabelOffsetWithABackgroundClass) {
  const PreprocessReport report =
      searched(preset_named("imagenet-tf"), preset_named("imagenet-torch"), Handling::AsIs, [](const Tensor& out) {
        std::vector<float> values = {-5};
        for (const float v : out.values<float>()) values.push_back(v);
        return Tensor::of<float>({1, 11}, values);
      });
  EXPECT_EQ(report.verdict, Verdict::Explained);
  EXPECT_EQ(report.found.labels.offset, 1);
  EXPECT_EQ(factors(report), "arithmetic labels ");
}

TEST(PreprocessSearch, PermutedLabelsUnderAnotherArithmetic) {
  const PreprocessReport report =
      searched(preset_named("imagenet-tf"), preset_named("imagenet-torch"), Handling::AsIs, [](const Tensor& out) {
        std::vector<float> values;
        for (int64_t c = 0; c < 10; ++c) values.push_back(out.data<float>()[c * 7 % 10]);
        return Tensor::of<float>({1, 10}, values);
      });
  EXPECT_EQ(report.verdict, Verdict::Explained);
  ASSERT_EQ(report.found.labels.listed.size(), 10u);
  for (int64_t c = 0; c < 10; ++c) EXPECT_EQ(report.found.labels.at(c * 7 % 10), c);
}

TEST(PreprocessSearch, ProbabilitiesAreComparedWithProbabilities) {
  const PreprocessReport report =
      searched(preset_named("imagenet-tf"), preset_named("imagenet-caffe"), Handling::AsIs, [](const Tensor& out) {
        std::vector<double> values = to_doubles(out);
        const double largest = *std::max_element(values.begin(), values.end());
        double sum = 0;
        for (double& v : values) sum += v = std::exp(v - largest);
        std::vector<float> result;
        for (const double v : values) result.push_back(static_cast<float>(v / sum));
        return Tensor::of<float>({1, 10}, result);
      });
  EXPECT_TRUE(report.target_softmax);
  EXPECT_FALSE(report.source_softmax);
  EXPECT_EQ(report.verdict, Verdict::Explained);
  EXPECT_EQ(preprocess_spec(report.found.preprocess), "imagenet-tf");
}

TEST(PreprocessSearch, AgreementAndNone) {
  const PreprocessReport same = searched(preset_named("imagenet-torch"), preset_named("imagenet-torch"));
  EXPECT_EQ(same.verdict, Verdict::Agree);
  EXPECT_TRUE(same.changes.empty());
  // A target whose weights are wrong: no preprocessing makes up for it.
  const PreprocessReport broken =
      searched(preset_named("imagenet-torch"), preset_named("imagenet-torch"), Handling::AsIs, [](const Tensor& out) {
        std::vector<float> values;
        for (const float v : out.values<float>()) values.push_back(std::sin(v * 9));
        return Tensor::of<float>({1, 10}, values);
      });
  EXPECT_EQ(broken.verdict, Verdict::None);
  EXPECT_THROW(searched(preset_named("none"), preset_named("imagenet-torch"), Handling::AsIs,
                        [](const Tensor&) {
                          return Tensor::of<float>({1, 20}, std::vector<float>(20, 1));
                        }),
               Error);
}

// A class that is NaN on one side is a difference that nothing explains; on both it is none.
TEST(PreprocessSearch, NanIsFarFromNumbers) {
  const auto with = [](Tensor out, float third) {
    out.mutable_data<float>()[3] = third;
    return out;
  };
  for (const float source : {NAN, INFINITY, -INFINITY}) {
    for (const float target : {NAN, INFINITY, -INFINITY, -100.0F}) {
      SCOPED_TRACE(cat(source, " ", target));
      PreprocessSearch search;
      for (uint32_t i = 0; i < 6; ++i) search.images.push_back(noise(30, 40, i + 1));
      search.assumed = preset_named("imagenet-torch");
      search.source = [&](const Image& image) { return with(logits(to_tensor(image, search.assumed), 10), source); };
      search.target = [&](const Tensor& input) { return with(logits(input, 10), target); };
      const bool same = source == target || (std::isnan(source) && std::isnan(target));
      const PreprocessReport report = search_preprocess(search);
      EXPECT_EQ(report.verdict, same ? Verdict::Agree : Verdict::None);
      EXPECT_EQ(report.before.distance, same ? 0 : INFINITY);
    }
  }
}

TEST(PreprocessSearch, OutputsHaveTheSameClassesOnEveryImage) {
  int n = 9;
  EXPECT_THROW(
      searched(preset_named("none"), preset_named("imagenet-torch"), Handling::AsIs,
               [&](const Tensor& out) {
                 n = n == 9 ? 10 : 9;
                 return Tensor::of<float>({1, n}, std::vector<float>(out.data<float>(), out.data<float>() + n));
               }),
      Error);
}

TEST(LabelMaps, NoClassIsNone) {
  EXPECT_EQ((LabelMap{0, {1, 0}}).at(-1), -1);
  EXPECT_EQ((LabelMap{1, {}}).at(-1), -1);
  EXPECT_EQ((LabelMap{0, {1, 0}}).at(0), 1);
}

TEST(PreprocessScores, NearnessGoesThroughTheMap) {
  const std::vector<ScorePair> images = {{{1, 0, 2}, {0, 2, 1}}, {{3, 4, 0}, {4, 0, 3}}};
  const LabelMap rotated = {0, {2, 0, 1}};
  EXPECT_EQ(nearness(images, rotated).distance, 0);
  EXPECT_EQ(nearness(images, rotated).n_relabelled, 0u);
  const Nearness as_they_are = nearness(images, {});
  EXPECT_EQ(as_they_are.n_images, 2u);
  EXPECT_EQ(as_they_are.n_relabelled, 2u);
  EXPECT_DOUBLE_EQ(as_they_are.distance, std::sqrt((1.0 + 4 + 1 + 1 + 16 + 9) / (5 + 25)));
  EXPECT_EQ(sorted_distance(images), 0);  // whatever the order of classes
  EXPECT_EQ(nearest_classes(images), rotated);
}

TEST(PreprocessScores, NanIsNearNothingButNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ScorePair> images = {{{nan, 1}, {1.5, nan}}};
  EXPECT_EQ(nearness(images, {}).distance, std::numeric_limits<double>::infinity());
  EXPECT_EQ(nearest_classes(images), (LabelMap{0, {1, 0}}));
}

TEST(PreprocessScores, ProbabilitiesAreDistributions) {
  EXPECT_TRUE(are_probabilities({{0.25, 0.75}, {0, 1}}));
  EXPECT_FALSE(are_probabilities({{0.25, 0.75}, {0.5, 0.75}}));
  EXPECT_FALSE(are_probabilities({{-0.25, 1.25}}));
  EXPECT_FALSE(are_probabilities({}));
}

TEST(PreprocessFactors, AllOfThemMakeOneHypothesisTheOther) {
  Hypothesis from, to;
  from.preprocess = preset_named("imagenet-caffe");
  to.preprocess = preset_named("imagenet-torch");
  from.preprocess.filter = ResizeFilter::Lanczos;
  from.handling = Handling::Mirrored;
  from.labels.offset = 1;
  to.preprocess.name = from.preprocess.name;
  for (const PreprocessFactor& factor : preprocess_factors()) factor.copy(&to, from);
  EXPECT_EQ(to, from);
}

TEST(PreprocessSpec, ReadsBackWhatItWrites) {
  Preprocess p = preset_named("imagenet-torch");
  p.resize = ResizeMode::ShortCrop;
  p.short_side = 30;
  p.channels = Channels::Bgr;
  p.filter = ResizeFilter::Lanczos;
  p.name = "custom";
  std::string name;
  PreprocessOptions options;
  parse_preprocess_spec(preprocess_spec(p), &name, &options);
  Preprocess again = preset_named(name.c_str());
  apply_options(options, &again);
  EXPECT_EQ(again, p);
  name = "";
  EXPECT_THROW(parse_preprocess_spec("a b", &name, &options), Error);
  EXPECT_THROW(parse_preprocess_spec("size=3", &name, &options), Error);
}

// A model that leaves its extents open has no preprocessing that crops to them.
TEST(PreprocessSpec, OfOpenExtentsStartsFromNone) {
  Preprocess p = named_preprocess("none", 0, 0, Layout::Nhwc);
  p.divisor = 255;
  EXPECT_EQ(preprocess_spec(p), "none scale=1/255");
}

TEST(PreprocessSearch, EndsWithTheTime) {
  const PreprocessReport whole = searched(preset_named("imagenet-caffe"), preset_named("imagenet-torch"));
  EXPECT_EQ(whole.ran_out, std::nullopt);
  bool explained = false;
  for (const int n : {0, 1, 8, 40, 80, 160, 320, 640, 1280, 1 << 20}) {
    SCOPED_TRACE(n);
    const Deadline deadline = after_questions(n);
    const PreprocessReport report =
        searched(preset_named("imagenet-caffe"), preset_named("imagenet-torch"), Handling::AsIs, {}, 12, deadline);
    EXPECT_LE(report.n_runs, whole.n_runs);
    EXPECT_GE(report.before.n_images, 1u);
    EXPECT_EQ(report.before.n_images, report.after.n_images);
    EXPECT_EQ(report.ran_out, deadline.ran_out());
    if (n == 0) {
      EXPECT_LE(report.n_runs, 4);
    }
    if (n < 100) {
      EXPECT_EQ(report.ran_out, true);
    }
    // What is found in part is no worse than what was assumed.
    EXPECT_LE(report.after.distance, report.before.distance + 1e-9);
    explained = report.verdict == Verdict::Explained;
  }
  EXPECT_TRUE(explained);
  const Deadline ample(1 << 20, [] { return 0.0; });
  const PreprocessReport timed =
      searched(preset_named("imagenet-caffe"), preset_named("imagenet-torch"), Handling::AsIs, {}, 12, ample);
  EXPECT_EQ(timed.ran_out, false);
  EXPECT_EQ(timed.n_runs, whole.n_runs);
  EXPECT_EQ(timed.found, whole.found);
}

}  // namespace
}  // namespace dnn
