// Accounting for fields; see fields.h.
#include "formats/keras/fields.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

namespace dnn::keras {
namespace {

std::string printed(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

const char* kind_name(FieldKind kind) {
  static constexpr std::array<const char*, 3> names = {"entry", "option", "argument"};
  return names[static_cast<size_t>(kind)];
}

// Modules of Keras itself, under its names of the past ten years.
bool is_keras_module(const std::string& module) {
  const std::array<std::string, 6> roots = {
      "keras", "keras_core", "tf_keras", "tensorflow.keras", "tensorflow.python.keras", "tensorflow.compat.v1.keras"};
  return std::any_of(roots.begin(), roots.end(),
                     [&](const std::string& root) { return module == root || starts_with(module, root + "."); });
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// A Python object of any kind, as Keras serialises it.
void refuse_program(const Json& object) {
  const std::string class_name = text_in(object, "class_name"), module = text_in(object, "module"),
                    registered = text_in(object, "registered_name");
  if (class_name == "Lambda" || class_name == "__lambda__") {
    const auto config = object.find("config");
    const std::string name = config != object.end() && config->is_object() ? text_in(*config, "name") : "";
    fail_unsupported(name.empty() ? "" : cat("layer '", name, "' "), "(", class_name,
                     "): holds Python code, which is not run");
  }
  if (registered.find('>') != std::string::npos)
    fail_unsupported("class ", quoted(registered), " is registered by a program, which is not run");
  if (!module.empty() && module != "builtins" && !is_keras_module(module))
    fail_unsupported("class ", quoted(class_name), " is of the module ", quoted(module),
                     ", a program, which is not run");
  if (class_name == "function" && module == "builtins")
    fail_unsupported("the function ", quoted(text_in(object, "config")), " is a program's own, which is not run");
}

}  // namespace

Fields::Fields(Json object, const std::string& label) {
  if (!object.is_object()) fail_malformed(label, ": its configuration is no object");
  object_ = std::make_shared<const Json>(std::move(object));
  *this = fresh();
}

Fields Fields::fresh() const {
  Fields result;
  result.object_ = object_;
  for (const auto& [key, value] : object_->items()) result.leftovers_.add(key);
  return result;
}

const Json& Fields::take(const char* key) const {
  static const Json none;
  leftovers_.use(key);
  const auto found = object_->find(key);
  return found == object_->end() ? none : *found;
}

bool Fields::has(const char* key) const {
  const auto found = object_->find(key);
  const bool there = found != object_->end() && !found->is_null();
  if (!there) leftovers_.use(key);
  return there;
}

std::string Fields::text(const char* key, const std::string& fallback) const {
  const Json& v = take(key);
  return v.is_string() ? v.get<std::string>() : fallback;
}

void Fields::finish(const std::string& label, const std::string& owner, FieldKind kind,
                    const IgnoredFields& ignored) const {
  if (leftovers_.left().empty()) return;
  const auto value = [&](const std::string& name) { return printed((*object_)[name]); };
  Leftovers left = leftovers_;
  left.irrelevant(owner, irrelevant_fields(kind), value);
  left.ignore(owner, ignored);
  left.finish(label, kind_name(kind), value);
}

const IrrelevantFields& irrelevant_fields(FieldKind kind) {
  static const std::array<IrrelevantFields, 3> tables = {{
      {
#define DNN_KERAS_ENTRY(owners, name, values, reason) {owners, name, values, reason},
#define DNN_KERAS_OPTION(owners, name, values, reason)
#define DNN_KERAS_ARGUMENT(owners, name, values, reason)
#include "formats/keras/irrelevant.def"
      },
      {
#define DNN_KERAS_ENTRY(owners, name, values, reason)
#define DNN_KERAS_OPTION(owners, name, values, reason) {owners, name, values, reason},
#define DNN_KERAS_ARGUMENT(owners, name, values, reason)
#include "formats/keras/irrelevant.def"
      },
      {
#define DNN_KERAS_ENTRY(owners, name, values, reason)
#define DNN_KERAS_OPTION(owners, name, values, reason)
#define DNN_KERAS_ARGUMENT(owners, name, values, reason) {owners, name, values, reason},
#include "formats/keras/irrelevant.def"
      },
  }};
  return tables[static_cast<size_t>(kind)];
}

void refuse_programs(const Json& config, const IgnoredFields& ignored) {
  if (config.is_object() && config.contains("class_name")) refuse_program(config);
  if (!config.is_structured()) return;
  for (const auto& [key, value] : config.items()) {
    const bool aside = config.is_object() && (key == "compile_config" || ignored.holds("", key));
    if (!aside && value.is_structured()) refuse_programs(value, ignored);
  }
}

}  // namespace dnn::keras
