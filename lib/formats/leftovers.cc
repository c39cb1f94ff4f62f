// Leftovers of readers; see leftovers.h.
#include "formats/leftovers.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"

namespace dnn {
namespace {

constexpr size_t kMostShown = 80;

std::string shown(const std::string& text) {
  return quoted(text.size() <= kMostShown ? text : text.substr(0, kMostShown) + "...");
}

bool lists(const char* words, const std::string& word) {
  const std::vector<std::string> all = split(words, ' ');
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

IgnoredFields::IgnoredFields(const std::vector<std::string>& names) : names_(std::make_shared<std::vector<Name>>()) {
  for (const std::string& name : names) names_->push_back({name});
}

bool IgnoredFields::holds(const std::string& owner, const std::string& name) const {
  bool found = false;
  for (Name& given : *names_) {
    const bool equal =
        given.text == name || (given.text.size() == owner.size() + name.size() + 1 && given.text == owner + "." + name);
    given.met = given.met || equal;
    found = found || equal;
  }
  return found;
}

std::vector<std::string> IgnoredFields::not_met() const {
  std::vector<std::string> result;
  for (const Name& name : *names_) {
    if (!name.met) result.push_back(name.text);
  }
  return result;
}

bool is_ignored(const IgnoredFields& ignored, const std::string& owner, const std::string& name) {
  return ignored.holds(owner, name);
}

void Leftovers::use(std::string_view name) {
  for (auto& [field, used] : fields_) used = used || field == name;
}

void Leftovers::irrelevant(const std::string& owner, const IrrelevantFields& table, const Show& value) {
  for (auto& [field, used] : fields_) {
    for (const IrrelevantField& row : table) {
      if (used) break;
      if (field != row.name || (row.owners != std::string_view("*") && !lists(row.owners, owner))) continue;
      used = *row.values == '\0' || (value && lists(row.values, value(field)));
    }
  }
}

void Leftovers::ignore(const std::string& owner, const IgnoredFields& names) {
  for (auto& [field, used] : fields_) used = used || is_ignored(names, owner, field);
}

std::vector<std::string> Leftovers::left() const {
  std::vector<std::string> result;
  for (const auto& [field, used] : fields_) {
    if (!used) result.push_back(field);
  }
  return result;
}

void Leftovers::finish(const std::string& label, const char* kind, const Show& value) const {
  const std::vector<std::string> names = left();
  if (names.empty()) return;
  std::vector<std::string> fields;
  for (const std::string& name : names) {
    if (fields.size() == 3) {
      fields.emplace_back("...");
      break;
    }
    const std::string text = value ? value(name) : "";
    fields.push_back(cat(kind, " ", shown(name), text.empty() ? "" : cat(" = ", plain(text.substr(0, kMostShown)))));
  }
  fail_unsupported(label, label.empty() ? "" : ": ", join(fields), names.size() == 1 ? " is" : " are",
                   " not read; dnn-convert --ignore-attribute NAME reads the model without it");
}

}  // namespace dnn
