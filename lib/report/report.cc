// Documents of reports; see report.h.
#include "report/report.h"

#include <algorithm>

#include "base/error.h"
#include "base/version.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

struct SectionRow {
  Type type;
  std::string_view name, title, text;
  Blocks (*make)(const Data&, const Options&);
};

const std::vector<SectionRow>& section_rows() {
  static const std::vector<SectionRow> kRows = {
#define DNN_SECTION(type, name, title, text) {Type::type, #name, title, text, section_##name},
#include "report/sections.def"
  };
  return kRows;
}

std::string_view type_title(Type type) {
  constexpr std::string_view kTitles[] = {"Performance", "Classification", "Comparison", "Localization"};
  return kTitles[static_cast<size_t>(type)];
}

}  // namespace

std::string_view type_name(Type type) {
  constexpr std::string_view kNames[] = {"performance", "classification", "comparison", "localization"};
  return kNames[static_cast<size_t>(type)];
}

const std::vector<Type>& all_types() {
  static const std::vector<Type> kTypes = {Type::Performance, Type::Classification, Type::Comparison,
                                           Type::Localization};
  return kTypes;
}

std::set<Type> types_from_text(const std::string& names) {
  std::set<Type> types;
  std::vector<std::string> known;
  for (const Type type : all_types()) known.emplace_back(type_name(type));
  for (const std::string& name : split(names, ',')) {
    const auto it = std::find(known.begin(), known.end(), name);
    if (it == known.end()) fail_usage("--types ", quoted(name), ": choose from ", join(known));
    types.insert(all_types()[it - known.begin()]);
  }
  return types;
}

std::string types_list() {
  std::string out;
  for (const SectionRow& row : section_rows()) out += cat(type_name(row.type), "\t", row.name, "\t", row.text, "\n");
  return out;
}

Document make_document(const Data& data, const Options& options) {
  Document document;
  document.title = options.title.empty() ? Options().title : options.title;
  document.made_by = cat("dnn-report ", version());
  document.sections.push_back(summary(data, options));
  for (const Type type : all_types()) {
    if (!options.types.contains(type)) continue;
    Section section{std::string(type_name(type)), std::string(type_title(type)), {}, {}};
    for (const SectionRow& row : section_rows()) {
      if (row.type != type) continue;
      Blocks blocks = row.make(data, options);
      if (blocks.empty()) continue;
      section.sections.push_back({std::string(row.name), std::string(row.title), std::move(blocks), {}});
    }
    if (!section.sections.empty()) document.sections.push_back(std::move(section));
  }
  document.sections.push_back(provenance(data));
  return document;
}

}  // namespace dnn::report
