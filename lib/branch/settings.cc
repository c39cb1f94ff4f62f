// Settings; see settings.h.
#include "branch/settings.h"

#include <algorithm>
#include <optional>

namespace dnn::branch {
namespace {

struct Setting {
  const char* section;
  const char* key;
  SettingType type;
};

const std::vector<Setting>& setting_rows() {
  static const std::vector<Setting> rows = {
#define DNN_SETTING(section, key, type) {section, key, SettingType::type},
#include "branch/settings.def"
  };
  return rows;
}

std::optional<bool> flag_of(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? c + 32 : c; });
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

}  // namespace

void Settings::check_keys() const {
  if (tree_.kind != Yaml::Kind::Map) malformed(tree_, "a configuration is a map of sections, MODEL, ANYNET and so on");
  for (const Yaml::Entry& entry : tree_.entries) {
    const bool is_section = std::any_of(setting_rows().begin(), setting_rows().end(),
                                        [&](const Setting& s) { return entry.key == s.section; });
    if (!is_section) {
      check_key("", entry);
      continue;
    }
    if (entry.value.kind == Yaml::Kind::Scalar && entry.value.text.empty()) continue;
    if (entry.value.kind != Yaml::Kind::Map) malformed(entry.value, entry.key, " is a section and holds keys");
    for (const Yaml::Entry& inner : entry.value.entries) check_key(entry.key, inner);
  }
}

void Settings::check_key(const std::string& section, const Yaml::Entry& entry) const {
  std::vector<std::string> known;
  for (const Setting& setting : setting_rows()) {
    if (section.empty()) known.emplace_back(*setting.section == 0 ? setting.key : setting.section);
    if (section != setting.section) continue;
    if (entry.key == setting.key)
      return check_type(entry.value, section.empty() ? entry.key : section + "." + entry.key, setting.type);
    known.emplace_back(setting.key);
  }
  const std::string nearest = nearest_word(entry.key, known);
  fail_unsupported(path_, ":", entry.line, ": ", section.empty() ? "" : section + ".", entry.key,
                   " is no setting of a branched network",
                   nearest.empty() ? "; remove it" : "; did you mean " + nearest + "?");
}

void Settings::check_type(const Yaml& value, const std::string& name, SettingType type) const {
  double number = 0;
  int64_t integer = 0;
  const bool scalar = value.kind == Yaml::Kind::Scalar;
  const char* wanted = nullptr;
  if (type == SettingType::List && value.kind != Yaml::Kind::List) wanted = "a list";
  if (type == SettingType::Text && !scalar) wanted = "a text";
  if (type == SettingType::Integer && (!scalar || !parse_int(value.text, &integer))) wanted = "an integer";
  if (type == SettingType::Number && (!scalar || !parse_double(value.text, &number))) wanted = "a number";
  if (type == SettingType::Flag && (!scalar || !flag_of(value.text))) wanted = "True or False";
  if (wanted != nullptr) malformed(value, name, " is ", value.shown(), ", not ", wanted);
}

const Yaml* Settings::find(std::string_view section, std::string_view key) const {
  const Yaml* inner = section.empty() ? &tree_ : tree_.find(section);
  return inner == nullptr ? nullptr : inner->find(key);
}
const Yaml& Settings::required(const std::string& section, const std::string& key) const {
  const Yaml* there = find(section, key);
  if (there == nullptr) malformed(tree_, section, ".", key, " is missing");
  return *there;
}

int64_t Settings::whole(const Yaml& value, const std::string& name, int64_t least, int64_t most) const {
  int64_t number = 0;
  if (value.kind != Yaml::Kind::Scalar || !parse_int(value.text, &number) || number < least || number > most)
    malformed(value, name, " is ", value.shown(), ", not an integer from ", least, " to ", most);
  return number;
}
double Settings::real(const Yaml& value, const std::string& name, double least, double most) const {
  double number = 0;
  if (value.kind != Yaml::Kind::Scalar || !parse_double(value.text, &number) || !(number >= least && number <= most))
    malformed(value, name, " is ", value.shown(), ", not a number from ", least, " to ", most);
  return number;
}
int64_t Settings::integer(const std::string& section, const std::string& key, int64_t fallback, int64_t least,
                          int64_t most) const {
  const Yaml* there = find(section, key);
  return there == nullptr ? fallback : whole(*there, section + "." + key, least, most);
}
double Settings::number(const std::string& section, const std::string& key, double fallback, double least,
                        double most) const {
  const Yaml* there = find(section, key);
  return there == nullptr ? fallback : real(*there, section + "." + key, least, most);
}
bool Settings::flag(const std::string& section, const std::string& key, bool fallback) const {
  const Yaml* there = find(section, key);
  return there == nullptr ? fallback : *flag_of(there->text);
}
int64_t Settings::odd(const std::string& key, int64_t value) const {
  if (value % 2 == 0) malformed(*find("ANYNET", key), "ANYNET.", key, " is ", value, "; kernels are of odd size");
  return value;
}

}  // namespace dnn::branch
