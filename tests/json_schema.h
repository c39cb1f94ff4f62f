// JSON Schema (draft 2020-12) as the files of schemas/ use it: whether a value is what a schema describes, and what of a schema no
// value has shown. A keyword that is not known here is an error, so that nothing stands in a schema unchecked.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json_text.h"
#include "base/text.h"

namespace dnn {

class JsonSchema {
 public:
  using Json = nlohmann::ordered_json;

  explicit JsonSchema(const std::filesystem::path& file) : file_(file.lexically_normal().string()) {}

  const Json& root() { return document(file_); }

  // A line for each breach. Stricter than the standard: a key is a breach where `properties` does not have it, unless
  // `additionalProperties` says otherwise.
  std::vector<std::string> errors(const Json& value) {
    Found found;
    check(value, "$", {file_, ""}, &found);
    seen_.insert(found.seen.begin(), found.seen.end());
    return found.errors;
  }

  // Properties of this file that no value so far had, as JSON pointers without "/properties".
  std::set<std::string> unseen() {
    std::set<std::string> all, left;
    properties_of(root(), "", &all);
    for (const std::string& pointer : all) {
      if (seen_.count(file_ + "#" + pointer) != 0) continue;
      std::string shown = pointer;
      for (size_t at = 0; (at = shown.find("/properties")) != std::string::npos;) shown.erase(at, 11);
      left.insert(shown);
    }
    return left;
  }

 private:
  struct Place {
    std::string file, pointer;
  };
  struct Found {
    std::vector<std::string> errors;
    std::set<std::string> seen;
  };

  const Json& document(const std::string& file) {
    const auto known = documents_.find(file);
    return known != documents_.end() ? known->second : documents_[file] = parse_ordered_json(read_file(file));
  }

  static std::string below(const std::string& pointer, const std::string& key) {
    return pointer + "/" + key;  // no key of ours holds '/' or '~'
  }

  void properties_of(const Json& schema, const std::string& pointer, std::set<std::string>* all) const {
    if (!schema.is_structured()) return;
    size_t i = 0;
    for (const auto& [key, part] : schema.items()) {
      const std::string at = below(pointer, schema.is_array() ? cat(i++) : key);
      if (key == "examples") continue;
      if (key == "properties" && schema.is_object()) {
        for (const auto& [name, described] : part.items()) all->insert(below(at, name));
      }
      properties_of(part, at, all);
    }
  }

  Place resolved(const std::string& ref, const Place& from) const {
    const size_t hash = ref.find('#');
    const std::string file = ref.substr(0, hash);
    return {
        file.empty() ? from.file : (std::filesystem::path(from.file).parent_path() / file).lexically_normal().string(),
        hash == std::string::npos ? "" : ref.substr(hash + 1)};
  }

  static bool is_of(const Json& value, const std::string& type) {
    return type == "null"      ? value.is_null()
           : type == "boolean" ? value.is_boolean()
           : type == "integer" ? value.is_number_integer()
           : type == "number"  ? value.is_number()
           : type == "string"  ? value.is_string()
           : type == "array"   ? value.is_array()
                               : type == "object" && value.is_object();
  }

  void check(const Json& value, const std::string& at, const Place& place, Found* found) {
    const Json& schema = document(place.file).at(Json::json_pointer(place.pointer));
    const auto breach = [&](const std::string& what) { found->errors.push_back(cat(at, ": ", what)); };
    for (const auto& [key, rule] : schema.items()) {
      const Place inside = {place.file, below(place.pointer, key)};
      if (key == "type") {
        bool fits = false;
        for (const Json& type : rule.is_array() ? rule : Json::array({rule}))
          fits = fits || is_of(value, type.get<std::string>());
        if (!fits) breach(cat("is ", json_text(value), ", not of type ", json_text(rule)));
      } else if (key == "const") {
        if (value != rule) breach(cat("is ", json_text(value), ", not ", json_text(rule)));
      } else if (key == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end())
          breach(cat("is ", json_text(value), ", none of ", json_text(rule)));
      } else if (key == "$ref") {
        check(value, at, resolved(rule.get<std::string>(), place), found);
      } else if (key == "anyOf") {
        any_of(value, at, inside, rule.size(), found);
      } else if (key == "minimum" || key == "maximum") {
        const bool fits = !value.is_number() || (key == "minimum" ? value >= rule : value <= rule);
        if (!fits) breach(cat("is ", json_text(value), ", ", key, " ", json_text(rule)));
      } else if (key == "minItems" || key == "maxItems") {
        const bool fits = !value.is_array() || (key == "minItems" ? value.size() >= rule : value.size() <= rule);
        if (!fits) breach(cat("has ", value.size(), " items, ", key, " ", json_text(rule)));
      } else if (key == "items") {
        for (size_t i = 0; value.is_array() && i < value.size(); ++i)
          check(value[i], cat(at, "[", i, "]"), inside, found);
      } else if (key == "required") {
        for (const Json& name : rule) {
          if (value.is_object() && !value.contains(name.get<std::string>())) breach(cat("lacks ", json_text(name)));
        }
      } else if (key == "dependentRequired") {
        for (const auto& [name, others] : rule.items()) {
          for (const Json& other : others) {
            if (value.is_object() && value.contains(name) && !value.contains(other.get<std::string>()))
              breach(cat("has \"", name, "\" and lacks ", json_text(other)));
          }
        }
      } else if (key == "properties" || key == "additionalProperties") {
        if (key == "additionalProperties" && schema.contains("properties")) continue;  // with those
        keys(value, at, place, schema, found);
      } else if (std::set<std::string>{"$schema", "$defs", "title", "description", "examples", "contentEncoding"}.count(
                     key) == 0) {
        breach(cat("'", key, "' of ", place.file, "#", place.pointer, " is a keyword that is not known here"));
      }
    }
  }

  void keys(const Json& value, const std::string& at, const Place& place, const Json& schema, Found* found) {
    if (!value.is_object()) return;
    const Json known = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(false));
    for (const auto& [key, element] : value.items()) {
      const std::string where = cat(at, ".", key);
      if (known.contains(key)) {
        const Place inside = {place.file, below(below(place.pointer, "properties"), key)};
        found->seen.insert(inside.file + "#" + inside.pointer);
        check(element, where, inside, found);
      } else if (others.is_object()) {
        check(element, where, {place.file, below(place.pointer, "additionalProperties")}, found);
      } else if (others != true) {
        found->errors.push_back(cat(where, ": is not described"));
      }
    }
  }

  // The breaches of the alternative that has the fewest.
  void any_of(const Json& value, const std::string& at, const Place& place, size_t n, Found* found) {
    std::optional<Found> best;
    for (size_t i = 0; i < n; ++i) {
      Found tried;
      check(value, at, {place.file, below(place.pointer, cat(i))}, &tried);
      if (!best || tried.errors.size() < best->errors.size()) best = std::move(tried);
    }
    found->errors.insert(found->errors.end(), best->errors.begin(), best->errors.end());
    if (best->errors.empty()) found->seen.insert(best->seen.begin(), best->seen.end());
  }

  std::string file_;
  std::map<std::string, Json> documents_;
  std::set<std::string> seen_;
};

}  // namespace dnn
