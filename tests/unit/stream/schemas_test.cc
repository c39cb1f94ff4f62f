// schemas/records says what the code does: examples survive, and the keys written are the keys described.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_text.h"
#include "json_schema.h"
#include "stream/stream.h"
#include "stream/text.h"
#include "unit/stream/example_records.h"

namespace dnn::stream {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kSchemas = "../schemas/records";  // tests run in tests/

JsonSchema schema_of(std::string_view type) { return JsonSchema(kSchemas / (std::string(type) + ".schema.json")); }

TEST(Schemas, EveryRecordHasOne) {
  size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas))
    n_files += entry.path().extension() == ".json";
  EXPECT_EQ(n_files, std::variant_size_v<Record>);
}

TEST(Schemas, ExamplesSurviveMsgpackAndJson) {
  for (const Record& kind : example_run()) {
    JsonSchema schema = schema_of(record_type(kind));
    for (const Json& example : schema.root()["examples"]) {
      const std::optional<Record> record = record_from_json(json_text(example));
      ASSERT_TRUE(record.has_value());
      EXPECT_EQ(record->index(), kind.index());
      EXPECT_EQ(record_to_json(*record), json_text(example));

      StringSink sink;
      Writer writer(sink);
      if (!std::holds_alternative<Header>(*record)) writer.write(Header{});
      writer.write(*record);
      MemorySource source(as_bytes(sink.text()));
      Reader reader(source, "example");
      std::optional<Record> read = reader.next();
      if (!std::holds_alternative<Header>(*record)) read = reader.next();
      if (!std::holds_alternative<End>(*record)) {
        EXPECT_EQ(record_to_json(*read), json_text(example));
      }
    }
  }
}

TEST(Schemas, DescribeExactlyTheKeysThatAreWritten) {
  std::map<std::string, JsonSchema> schemas;
  for (const Record& record : example_run()) {
    const std::string type(record_type(record));
    JsonSchema& schema = schemas.try_emplace(type, schema_of(type)).first->second;
    EXPECT_EQ(join(schema.errors(parse_ordered_json(record_to_json(record))), "\n"), "");
    for (const Json& example : schema.root()["examples"]) EXPECT_EQ(join(schema.errors(example), "\n"), "");
  }
  for (auto& [type, schema] : schemas) {
    std::set<std::string> left;
    if (type == "tensor") left = {"/attach", "/offset", "/total"};  // within the codec only
    if (type == "sample") left = {"/tensor/strings"};
    if (type == "prediction") left = {"/outputs/additionalProperties/strings"};
    EXPECT_EQ(schema.unseen(), left) << type;
  }
}

}  // namespace
}  // namespace dnn::stream
