// The settings of a configuration: its tree, each key known and of its type, and each value read with a refusal that names its line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "branch/yaml.h"

namespace dnn::branch {

enum class SettingType { Text, Integer, Number, Flag, List };

class Settings {
 public:
  // Throws Malformed for values of another type than settings.def says, Unsupported for keys that it lacks.
  Settings(Yaml tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) { check_keys(); }

  const std::string& path() const { return path_; }

  // "PATH:LINE: " and the parts.
  template <class... T>
  [[noreturn]] void malformed(const Yaml& at, const T&... parts) const {
    fail_malformed(path_, ":", at.line, ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void unsupported(const Yaml& at, const T&... parts) const {
    fail_unsupported(path_, ":", at.line, ": ", parts...);
  }

  // Null where it is not given. A section "" is the top.
  const Yaml* find(std::string_view section, std::string_view key) const;
  const Yaml& required(const std::string& section, const std::string& key) const;

  // A scalar as a number within bounds; messages call it `name`.
  int64_t whole(const Yaml& value, const std::string& name, int64_t least, int64_t most) const;
  double real(const Yaml& value, const std::string& name, double least, double most) const;

  // The value of a key, or `fallback` where it is not given.
  int64_t integer(const std::string& section, const std::string& key, int64_t fallback, int64_t least,
                  int64_t most) const;
  double number(const std::string& section, const std::string& key, double fallback, double least, double most) const;
  bool flag(const std::string& section, const std::string& key, bool fallback) const;
  // `value`, which a key of ANYNET gave, unless it is even.
  int64_t odd(const std::string& key, int64_t value) const;

  // The value of a key of ANYNET by its name.
  template <class T>
  T choice(const std::string& key, const std::vector<std::pair<std::string, T>>& names, T fallback) const {
    const Yaml* there = find("ANYNET", key);
    if (there == nullptr) return fallback;
    std::vector<std::string> known;
    for (const auto& [name, value] : names) {
      if (there->text == name) return value;
      known.push_back(name);
    }
    unsupported(*there, "ANYNET.", key, " is ", there->shown(), "; known are ", join(known));
  }

 private:
  void check_keys() const;
  void check_key(const std::string& section, const Yaml::Entry& entry) const;
  void check_type(const Yaml& value, const std::string& name, SettingType type) const;

  Yaml tree_;
  std::string path_;
};

}  // namespace dnn::branch
