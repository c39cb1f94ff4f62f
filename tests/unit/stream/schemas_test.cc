// schemas/records says what the code does: examples survive, and the keys written are the keys described.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "stream/stream.h"
#include "stream/text.h"
#include "unit/stream/example_records.h"

namespace dnn::stream {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kSchemas = "../schemas/records";  // tests run in tests/

Json schema_of(std::string_view type) {
  return Json::parse(read_file((kSchemas / (std::string(type) + ".schema.json")).string()));
}

// Every key of `value` must be described by `schema`; the keys seen are put into `seen` as "outer.inner".
void check_keys(const Json& value, const Json& schema, const std::string& prefix, std::set<std::string>* seen) {
  if (!schema.contains("properties")) return;
  for (const auto& [key, element] : value.items()) {
    ASSERT_TRUE(schema["properties"].contains(key)) << prefix << key << " is not in the schema";
    const Json& described = schema["properties"][key];
    seen->insert(prefix + key);
    if (element.is_object()) {
      check_keys(element, described, prefix + key + ".", seen);
    } else if (element.is_array() && described.contains("items")) {
      for (const Json& item : element) {
        if (item.is_object()) check_keys(item, described["items"], prefix + key + ".", seen);
      }
    }
  }
}

void all_keys(const Json& schema, const std::string& prefix, std::set<std::string>* keys) {
  if (!schema.contains("properties")) return;
  for (const auto& [key, described] : schema["properties"].items()) {
    keys->insert(prefix + key);
    all_keys(described, prefix + key + ".", keys);
    if (described.contains("items")) all_keys(described["items"], prefix + key + ".", keys);
  }
}

TEST(Schemas, EveryRecordHasOne) {
  size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas))
    n_files += entry.path().extension() == ".json";
  EXPECT_EQ(n_files, std::variant_size_v<Record>);
}

TEST(Schemas, ExamplesSurviveMsgpackAndJson) {
  for (const Record& kind : example_run()) {
    const Json schema = schema_of(record_type(kind));
    for (const Json& example : schema["examples"]) {
      const std::optional<Record> record = record_from_json(example.dump());
      ASSERT_TRUE(record.has_value());
      EXPECT_EQ(record->index(), kind.index());
      EXPECT_EQ(record_to_json(*record), example.dump());

      StringSink sink;
      Writer writer(sink);
      if (!std::holds_alternative<Header>(*record)) writer.write(Header{});
      writer.write(*record);
      MemorySource source(as_bytes(sink.text()));
      Reader reader(source, "example");
      std::optional<Record> read = reader.next();
      if (!std::holds_alternative<Header>(*record)) read = reader.next();
      if (!std::holds_alternative<End>(*record)) {
        EXPECT_EQ(record_to_json(*read), example.dump());
      }
    }
  }
}

TEST(Schemas, DescribeExactlyTheKeysThatAreWritten) {
  std::map<std::string, std::set<std::string>> seen;
  for (const Record& record : example_run()) {
    const std::string type(record_type(record));
    const Json schema = schema_of(type);
    check_keys(Json::parse(record_to_json(record)), schema, "", &seen[type]);
    for (const Json& example : schema["examples"]) check_keys(example, schema, "", &seen[type]);
  }
  for (auto& [type, keys] : seen) {
    std::set<std::string> described;
    all_keys(schema_of(type), "", &described);
    if (type == "tensor") keys.insert({"offset", "total", "attach"});  // within the codec only
    if (type == "sample") keys.insert("tensor.strings");
    EXPECT_EQ(keys, described) << type;
  }
}

}  // namespace
}  // namespace dnn::stream
