// Where samples come from: arrays cut into samples, names, shards, streams.
#include "infer/sample_source.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "stream/stream.h"
#include "tensor/npy.h"

namespace dnn {
namespace {

const InputSlot kSlot{"x", DType::Float32, {1, 2}};

BatchPlan plan_of(std::vector<InputSlot> slots) {
  BatchPlan plan;
  plan.batched = true;
  plan.slots = std::move(slots);
  return plan;
}

std::vector<LoadedSample> all(SampleSource& source) {
  std::vector<LoadedSample> samples;
  while (const std::optional<SampleSource::Load> load = source.next()) samples.push_back((*load)());
  return samples;
}

ErrorKind kind_of_failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::Internal;
}

class Folder : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::string path = folder_.path() + "/" + name;
    write_file(path, content);
    return path;
  }
  std::string array(const std::string& name, const Tensor& tensor) { return file(name, format_npy(tensor)); }

 private:
  TemporaryFolder folder_{testing::TempDir()};
};

// A model of halves that computes in float64 is given the numbers that it gets as it is.
TEST(InputSlot, KeepsWhatAModelOfHalvesReads) {
  InputSlot slot{"x", DType::Float64, {1, 2}};
  const Tensor given = Tensor::of<float>({1, 2}, {0.1F, -2.0F / 3}), wide = convert(given, DType::Float64);
  for (DType half : {DType::Float16, DType::BFloat16}) {
    slot.stated = half;
    const std::vector<double> expected = to_doubles(convert(given, half));
    EXPECT_NE(expected, to_doubles(given));
    for (const Tensor& array : {given, wide}) {
      EXPECT_EQ(to_doubles(fit(array, slot)), expected);
      EXPECT_EQ(to_doubles(cut_samples(array, slot, "x")[0]), expected);
    }
  }
  slot.stated = DType::Undefined;
  EXPECT_EQ(to_doubles(fit(wide, slot)), to_doubles(wide));
}

TEST(CutSamples, TakesOneSampleWithOrWithoutItsBatchExtent) {
  for (const Shape& shape : {Shape{1, 2}, Shape{2}}) {
    const std::vector<Tensor> cut = cut_samples(Tensor::of<float>(shape, {3, 4}), kSlot, "x.npy");
    ASSERT_EQ(cut.size(), 1u);
    EXPECT_TRUE(cut[0].identical(Tensor::of<float>({1, 2}, {3, 4})));
  }
}

TEST(CutSamples, CutsAStackAndConvertsIt) {
  const std::vector<Tensor> cut = cut_samples(Tensor::of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6}), kSlot, "x.npy");
  ASSERT_EQ(cut.size(), 3u);
  EXPECT_TRUE(cut[1].identical(Tensor::of<float>({1, 2}, {3, 4})));
}

TEST(CutSamples, RefusesWhatDoesNotFit) {
  for (const Shape& shape : {Shape{1, 3}, Shape{3}, Shape{1, 1, 2}, Shape{}}) {
    const Tensor tensor(DType::Float32, shape);
    EXPECT_EQ(kind_of_failure([&] { cut_samples(tensor, kSlot, "x.npy"); }), ErrorKind::Malformed) << shape_text(shape);
  }
  const InputSlot whole{"x", DType::Float32, {2, 2}};  // of a network that is not batched
  EXPECT_EQ(kind_of_failure([&] { cut_samples(Tensor(DType::Float32, {4, 2}), whole, "x"); }), ErrorKind::Malformed);
}

// An array may hold far more samples than there is room for at once: they are cut off as they are asked for.
TEST_F(Folder, SamplesOfAnArrayComeOneByOne) {
  constexpr int64_t kMany = 20'000'000;  // as objects 2 GB and more
  SourceOptions options;
  options.inputs = {array("many.npy", Tensor(DType::UInt8, {kMany, 1}))};
  const std::unique_ptr<SampleSource> source = open_samples(options, plan_of({{"x", DType::UInt8, {1, 1}}}));
  EXPECT_EQ(source->count(), kMany);
  for (int64_t i = 0; i < 3; ++i) {
    const LoadedSample sample = (*source->next())();
    EXPECT_EQ(sample.id, i);
    EXPECT_EQ(sample.inputs.at(0).shape(), (Shape{1, 1}));
  }
}

TEST(ShardText, CountsFromNull) {
  EXPECT_EQ(Shard::parse("2/8").index, 2);
  EXPECT_EQ(Shard::parse("2/8").text(), "2/8");
  EXPECT_EQ(Shard().text(), "");
  for (const char* bad : {"8/8", "-1/8", "1", "1/", "1/0", "a/b", "1/2/3"}) {
    EXPECT_EQ(kind_of_failure([&] { Shard::parse(bad); }), ErrorKind::Usage) << bad;
  }
}

TEST(Fill, IsTheSameForOneSeedAndDiffersBetweenSamples) {
  SourceOptions options;
  options.fill = "random";
  options.fill_count = 2;
  const BatchPlan plan = plan_of({kSlot, kSlot});
  const std::vector<LoadedSample> a = all(*open_samples(options, plan)), b = all(*open_samples(options, plan));
  ASSERT_EQ(a.size(), 2u);
  EXPECT_TRUE(a[1].inputs[1].identical(b[1].inputs[1]));
  EXPECT_FALSE(a[0].inputs[0].identical(a[0].inputs[1]));
  EXPECT_FALSE(a[0].inputs[0].identical(a[1].inputs[0]));
  options.seed = 1;
  EXPECT_FALSE(all(*open_samples(options, plan))[0].inputs[0].identical(a[0].inputs[0]));
}

// A pattern brings what others named.
TEST_F(Folder, AnInputIsNotRun) {
  SourceOptions options;
  options.inputs = {"exec:touch ran"};
  EXPECT_EQ(kind_of_failure([&] { open_samples(options, plan_of({kSlot})); }), ErrorKind::Usage);
  EXPECT_EQ(kind_of_failure([&] { names_images(options.inputs); }), ErrorKind::Usage);
  EXPECT_FALSE(std::filesystem::exists("ran"));
  options.inputs = {"exec:touch ran=x.npy"};
  EXPECT_EQ(kind_of_failure([&] { open_samples(options, plan_of({kSlot})); }), ErrorKind::Usage);
  EXPECT_FALSE(std::filesystem::exists("ran"));
}

TEST_F(Folder, NamedArraysBelongTogether) {
  const InputSlot flag{"flag", DType::Int64, {1}};
  SourceOptions options;
  options.inputs = {"flag=" + array("f.npy", Tensor::of<int64_t>({2}, {7, 8})),
                    "x=" + array("x.npy", Tensor::of<float>({2, 2}, {1, 2, 3, 4}))};
  const std::vector<LoadedSample> samples = all(*open_samples(options, plan_of({kSlot, flag})));
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_TRUE(samples[1].inputs[0].identical(Tensor::of<float>({1, 2}, {3, 4})));
  EXPECT_TRUE(samples[1].inputs[1].identical(Tensor::of<int64_t>({1}, {8})));
  options.inputs.pop_back();
  EXPECT_EQ(kind_of_failure([&] { open_samples(options, plan_of({kSlot, flag})); }), ErrorKind::Usage);
}

TEST_F(Folder, NamedArraysMustStackEquallyMany) {
  SourceOptions options;
  options.inputs = {"x=" + array("x.npy", Tensor(DType::Float32, {2, 2})),
                    "y=" + array("y.npy", Tensor(DType::Float32, {3, 2}))};
  const BatchPlan plan = plan_of({kSlot, {"y", DType::Float32, {1, 2}}});
  EXPECT_EQ(kind_of_failure([&] { open_samples(options, plan); }), ErrorKind::Malformed);
}

TEST_F(Folder, ShardsPartTheSamplesAndKeepTheirIds) {
  SourceOptions options;
  options.inputs = {array("a.npy", Tensor(DType::Float32, {4, 2})), array("b.npy", Tensor(DType::Float32, {3, 2}))};
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 3; ++i) {
    options.shard = {i, 3};
    const std::unique_ptr<SampleSource> source = open_samples(options, plan_of({kSlot}));
    const std::vector<LoadedSample> samples = all(*source);
    EXPECT_EQ(source->count(), static_cast<int64_t>(samples.size()));
    for (const LoadedSample& sample : samples) ids.push_back(sample.id);
  }
  EXPECT_EQ(ids, (std::vector<int64_t>{0, 3, 6, 1, 4, 2, 5}));
}

TEST_F(Folder, AStreamGivesItsTensorsTruthAndHeader) {
  StringSink sink;
  stream::Writer writer(sink);
  stream::Header header;
  header.label_set = "set";
  writer.write(header);
  for (int64_t id : {5, 6}) {
    stream::Sample sample;
    sample.id = id;
    sample.path = cat("p", id);
    sample.truth = id + 10;
    writer.write(sample);
    for (const char* name : {"x", "y"}) {
      stream::TensorRecord record;
      record.name = name;
      record.sample = id;
      record.role = stream::Role::Input;
      record.tensor = Tensor::of<float>({1, 2}, {static_cast<float>(id), name[0] == 'x' ? 0.0f : 1.0f});
      writer.write(record);
    }
  }
  writer.end();
  SourceOptions options;
  options.inputs = {file("in.dnns", sink.text())};
  const BatchPlan plan = plan_of({kSlot, {"y", DType::Float32, {1, 2}}});
  const std::unique_ptr<SampleSource> source = open_samples(options, plan);
  EXPECT_EQ(source->count(), std::nullopt);
  EXPECT_EQ(source->provenance().at(0).label_set, "set");
  const std::vector<LoadedSample> samples = all(*source);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].path, "p6");
  EXPECT_EQ(samples[1].truth, 16);
  EXPECT_TRUE(samples[1].inputs[1].identical(Tensor::of<float>({1, 2}, {6, 1})));

  options.inputs = {file("cut.dnns", sink.text().substr(0, sink.text().size() - 3))};
  EXPECT_EQ(kind_of_failure([&] { all(*open_samples(options, plan)); }), ErrorKind::Malformed);
}

TEST_F(Folder, ImagesWantAPreprocessing) {
  SourceOptions options;
  options.inputs = {file("a.ppm", "P6 1 1 255\nabc")};
  EXPECT_TRUE(names_images(options.inputs));
  EXPECT_EQ(kind_of_failure([&] { open_samples(options, plan_of({kSlot})); }), ErrorKind::Usage);
}

}  // namespace
}  // namespace dnn
