// Fields: a JSON object of a Keras file whose reader is held to account for each of its fields.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "formats/leftovers.h"

namespace dnn::keras {

using Json = nlohmann::json;

// Where fields stand; each kind has its own rows in irrelevant.def.
enum class FieldKind { Entry, Option, Argument };

class Fields {
 public:
  Fields() = default;
  // Malformed where `object` is none.
  Fields(Json object, const std::string& label);

  // Null where it is absent. Whoever asks has taken it.
  const Json& take(const char* key) const;
  // There, be it null. Takes nothing.
  bool states(const char* key) const { return object_->contains(key); }
  // There, and not null. A null is taken by the question, another value only by take().
  bool has(const char* key) const;
  // The text, or `fallback` where it is absent or no text.
  std::string text(const char* key, const std::string& fallback = "") const;
  // The same object, of which nothing is taken.
  Fields fresh() const;
  // Throws Unsupported where a field was not taken, is not irrelevant to `owner` and not ignored by a person.
  void finish(const std::string& label, const std::string& owner, FieldKind kind, const IgnoredFields& ignored) const;

 private:
  std::shared_ptr<const Json> object_ = std::make_shared<const Json>(Json::object());
  mutable Leftovers leftovers_;
};

// The rows of irrelevant.def.
const IrrelevantFields& irrelevant_fields(FieldKind kind);

// Refuses programs and classes of a person's own anywhere in a configuration, whether a layer that is called reads them or
// not; what stands below an ignored field or concerns training alone is not looked at.
void refuse_programs(const Json& config, const IgnoredFields& ignored);

}  // namespace dnn::keras
