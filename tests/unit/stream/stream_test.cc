// Streams survive writing, reading, JSON, cutting and joining; damage gets the documented error.
#include "stream/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "stream/msgpack.h"
#include "stream/text.h"
#include "unit/stream/example_records.h"

namespace dnn::stream {
namespace {

std::string written(const std::vector<Record>& records, size_t chunk_bytes = kTensorChunkBytes) {
  StringSink sink;
  Writer writer(sink, chunk_bytes);
  for (const Record& record : records) writer.write(record);
  return sink.text();
}

struct Reading {
  std::vector<std::string> lines;
  bool truncated = false;
  std::string error;
  int exit_code = 0;
};

Reading reading_of(const std::string& bytes) {
  Reading result;
  MemorySource source(as_bytes(bytes));
  Reader reader(source, "test");
  try {
    while (std::optional<Record> record = reader.next()) result.lines.push_back(record_to_json(*record));
    result.truncated = reader.truncated();
    if (result.truncated) result.error = reader.truncation().what();
  } catch (const Error& e) {
    result.error = e.what();
    result.exit_code = e.exit_code();
  }
  return result;
}

std::string packed(const Json& map) {
  std::string bytes;
  msgpack_encode(map, &bytes);
  return bytes;
}

const Json kHeaderMap = {{"type", "header"}, {"stream", 1}, {"tool", "t"}, {"command", Json::array()}};

TEST(Stream, EveryKindOfRecordSurvives) {
  const std::vector<Record> records = example_run();
  const Reading reading = reading_of(written(records));
  EXPECT_EQ(reading.error, "");
  ASSERT_EQ(reading.lines.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(reading.lines[i], record_to_json(records[i]));
}

TEST(Stream, JsonLinesPackToTheSameBytes) {
  const std::string bytes = written(example_run());
  std::vector<Record> again;
  for (const std::string& line : reading_of(bytes).lines) again.push_back(*record_from_json(line));
  EXPECT_EQ(written(again), bytes);
}

TEST(Stream, FloatsKeepTheirBitsThroughJson) {
  for (double score : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, static_cast<double>(0.1f), -0.0}) {
    Prediction p;
    p.top_k = {{1, score, ""}};
    const auto back = std::get<Prediction>(*record_from_json(record_to_json(p)));
    EXPECT_EQ(std::memcmp(&back.top_k[0].score, &score, sizeof score), 0) << score;
  }
  Prediction p;
  p.top_k = {{1, std::nan(""), ""},
             {2, std::numeric_limits<double>::infinity(), ""},
             {3, -std::numeric_limits<double>::infinity(), ""}};
  const std::string line = record_to_json(p);
  EXPECT_NE(line.find(R"("score":"nan")"), std::string::npos) << line;
  const auto back = std::get<Prediction>(*record_from_json(line));
  EXPECT_TRUE(std::isnan(back.top_k[0].score));
  EXPECT_EQ(back.top_k[1].score, std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.top_k[2].score, -std::numeric_limits<double>::infinity());
}

TEST(Stream, CutAnywhereItHandsOutEveryWholeRecordAndReportsTruncation) {
  const std::string bytes = written(example_run());
  std::vector<size_t> ends;  // of the records
  for (size_t begin = 0; begin < bytes.size();) {
    MsgpackScanner scanner;
    ASSERT_TRUE(scanner.complete(as_bytes(bytes).subspan(begin)));
    ends.push_back(begin += scanner.size());
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Reading reading = reading_of(bytes.substr(0, n));
    EXPECT_EQ(reading.exit_code, 0) << n << ": " << reading.error;
    EXPECT_TRUE(reading.truncated) << n;
    EXPECT_EQ(reading.lines.size(), static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), n) - ends.begin()))
        << n;
  }
  EXPECT_FALSE(reading_of(bytes).truncated);
}

// Names in a stream begin no line of the text, and steer no terminal, wherever that text goes.
TEST(Stream, TextShowsWhatIsUnseen) {
  const std::string hostile = "\n::error::\x1b[2J\xe2\x80\xae";
  std::vector<Record> records = example_run();
  for (Record& record : records) {
    const auto lines = [&] {
      const std::string text = record_to_text(record);
      return std::count(text.begin(), text.end(), '\n');
    };
    const auto before = lines();
    if (auto* h = std::get_if<Header>(&record)) {
      for (std::string* text :
           {&h->tool, &h->command[0], &h->model.path, &h->model.sha256, &h->model.format, &h->passes, &h->device,
            &h->isa, &h->dtype, &h->label_set, &h->preprocess, &h->affinity, &h->shard, &h->latency_contains,
            &h->topology->caches[0].name, &h->topology->core_classes[0], &h->host["cpu"]})
        *text += hostile;
    } else if (auto* sample = std::get_if<Sample>(&record)) {
      sample->path += hostile;
    } else if (auto* prediction = std::get_if<Prediction>(&record)) {
      prediction->top_k[0].label += hostile;
      prediction->outputs[0].first += hostile;
    } else if (auto* tensor = std::get_if<TensorRecord>(&record)) {
      for (std::string* text : {&tensor->node, &tensor->name, &tensor->axes}) *text += hostile;
    } else if (auto* end = std::get_if<End>(&record)) {
      end->records["sample" + hostile] = 1;
    }
    EXPECT_EQ(lines(), before) << record_to_text(record);
    std::string text = record_to_text(record);
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    EXPECT_EQ(clean(text), text);
  }
}

TEST(Stream, RunsConcatenate) {
  const std::string one = written(example_run());
  const Reading both = reading_of(one + one);
  EXPECT_EQ(both.lines.size(), 2 * example_run().size());
  EXPECT_FALSE(both.truncated);

  std::vector<Record> open = example_run();
  open.pop_back();
  const Reading cut_first = reading_of(written(open) + one);
  EXPECT_EQ(cut_first.lines.size(), 2 * example_run().size() - 1);
  EXPECT_TRUE(cut_first.truncated);
}

TEST(Stream, LargeTensorsTravelInPartsAndReturnToTheirRecords) {
  const std::vector<Record> records = example_run();
  const std::string split = written(records, 4);
  EXPECT_GT(split.size(), written(records).size());
  const Reading reading = reading_of(split);
  EXPECT_EQ(reading.error, "");
  ASSERT_EQ(reading.lines.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(reading.lines[i], record_to_json(records[i]));
}

TEST(Stream, PartsOfARunThatWasCutOffStayOutOfTheNext) {
  Sample bare{1, "b", {}, {}};
  const std::string next = written({Header{}, bare, End{}});
  Sample with_tensor{0, "a", {}, Tensor::of<uint8_t>({8}, std::vector<uint8_t>(8))};
  const std::string split = written({Header{}, with_tensor}, 4);  // header, two parts, sample
  size_t begin = 0;
  for (int n_records = 1; n_records <= 3; ++n_records) {
    MsgpackScanner scanner;
    ASSERT_TRUE(scanner.complete(as_bytes(split).subspan(begin)));
    begin += scanner.size();
    const Reading reading = reading_of(split.substr(0, begin) + next);
    EXPECT_EQ(reading.exit_code, 0) << reading.error;
    EXPECT_TRUE(reading.truncated);
    ASSERT_EQ(reading.lines.size(), 4u);
    EXPECT_EQ(reading.lines[2], record_to_json(bare));
  }
}

TEST(Stream, PartsOutOfOrderAreDamage) {
  auto part = [](uint64_t offset, uint64_t total, size_t n) {
    return packed({{"type", "tensor"},
                   {"name", "x"},
                   {"role", "output"},
                   {"dtype", "uint8"},
                   {"shape", {8}},
                   {"offset", offset},
                   {"total", total},
                   {"data", Json::binary(std::vector<uint8_t>(n))}});
  };
  const std::string header = packed(kHeaderMap);
  EXPECT_EQ(reading_of(header + part(0, 8, 4) + part(4, 8, 4)).lines.size(), 2u);
  EXPECT_EQ(reading_of(header + part(4, 8, 4)).exit_code, 3);
  EXPECT_EQ(reading_of(header + part(0, 8, 4) + part(0, 8, 4)).exit_code, 3);
  EXPECT_EQ(reading_of(header + part(0, 8, 4) + part(4, 9, 4)).exit_code, 3);
  EXPECT_EQ(reading_of(header + part(0, 8, 4) + part(4, 8, 5)).exit_code, 3);
  EXPECT_EQ(reading_of(header + part(0, 8, 0)).exit_code, 3);
  EXPECT_EQ(reading_of(header + part(0, 9, 4) + part(4, 9, 5)).exit_code, 3);  // 9 bytes for shape [8]
  EXPECT_EQ(reading_of(header + part(0, 8, 4) + packed({{"type", "usage"}, {"time_ns", 1}})).exit_code, 3);
}

TEST(Stream, UnknownTypesAndKeysAreSkipped) {
  Json header = kHeaderMap;
  header["moon_phase"] = "full";
  const Reading reading = reading_of(packed(header) + packed({{"type", "weather"}, {"sun", true}}) +
                                     packed({{"type", "end"}, {"records", {{"weather", 1}}}}));
  EXPECT_EQ(reading.error, "");
  EXPECT_EQ(reading.lines.size(), 2u);
  EXPECT_FALSE(reading.truncated);
}

TEST(Stream, ANewerVersionIsRefused) {
  Json header = kHeaderMap;
  header["stream"] = 2;
  EXPECT_EQ(reading_of(packed(header)).exit_code, 4);
}

TEST(Stream, DamageIsMalformed) {
  const std::string header = packed(kHeaderMap);
  EXPECT_EQ(reading_of("hello").exit_code, 3);
  EXPECT_EQ(reading_of(packed({{"type", "sample"}, {"id", 1}})).exit_code, 3);  // no header before it
  EXPECT_EQ(reading_of(header + packed({{"type", "sample"}})).exit_code, 3);
  EXPECT_EQ(reading_of(header + packed({{"type", "sample"}, {"id", "one"}})).exit_code, 3);
  EXPECT_EQ(reading_of(header + packed({{"kind", "sample"}})).exit_code, 3);
  EXPECT_EQ(reading_of(header + packed({{"type", "end"}, {"records", {{"sample", 1}}}})).exit_code, 3);  // none arrived
  EXPECT_EQ(reading_of(header + packed({{"type", "tensor"},
                                        {"name", "x"},
                                        {"role", "output"},
                                        {"dtype", "float32"},
                                        {"shape", {1LL << 40, 1LL << 20}},
                                        {"data", Json::binary({})}}))
                .exit_code,
            3);
  EXPECT_EQ(reading_of("").exit_code, 0);
  EXPECT_TRUE(reading_of("").truncated);
}

// Shards are joined and counted by these numbers.
TEST(Stream, AShardIsOneOfSoMany) {
  const auto exit_code_of = [](const std::string& shard) {
    Json header = kHeaderMap;
    header["shard"] = shard;
    return reading_of(packed(header)).exit_code;
  };
  for (const char* shard : {"0/1", "2/8", ""}) EXPECT_EQ(exit_code_of(shard), 0) << shard;
  for (const char* shard : {"5/3", "3/3", "-1/3", "1", "1/", "/2", "1/2/3", "a/b"})
    EXPECT_EQ(exit_code_of(shard), 3) << shard;
}

TEST(Stream, IsRecognisedByItsFirstBytes) {
  const std::string bytes = written(example_run());
  EXPECT_TRUE(looks_like_stream(as_bytes(bytes.substr(0, 16))));
  EXPECT_FALSE(looks_like_stream(as_bytes(std::string_view("\x08\x07\x12\x04onnx"))));
  EXPECT_FALSE(looks_like_stream({}));
}

TEST(Base64, RefusesWhatIsNoBase64) {
  auto decode = [](const std::string& data) {
    return record_from_json(R"({"type":"tensor","name":"x","role":"output","dtype":"uint8","shape":[1],"data":")" +
                            data + "\"}");
  };
  EXPECT_EQ(std::get<TensorRecord>(*decode("/w==")).tensor.data<uint8_t>()[0], 255);
  EXPECT_THROW(decode("/w="), Error);
  EXPECT_THROW(decode("/w=="
                      "===="),
               Error);
  EXPECT_THROW(decode("/w-="), Error);
}

}  // namespace
}  // namespace dnn::stream
