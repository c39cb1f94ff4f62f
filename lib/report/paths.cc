// Paths as a report shows them; see paths.h.
#include "report/paths.h"

#include <algorithm>

#include "base/text.h"
#include "metrics/common_folder.h"

namespace dnn::report {
namespace {

bool leaves_here(std::string_view path) {
  return path.starts_with('/') || path.starts_with("../") || path.starts_with("~/");
}

// "" for a path that has no last part.
std::string base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::string(name == "." || name == ".." ? "" : name);
}

}  // namespace

std::string with_base_names(std::string_view text) {
  constexpr std::string_view kEnds = " \t\n'\"`,;:|<>()[]{}";
  std::string out;
  bool at_start = true;  // of what could be a path
  for (size_t at = 0; at < text.size();) {
    if (at_start && leaves_here(text.substr(at))) {
      const size_t end = std::min(text.find_first_of(kEnds, at), text.size());
      out += base_name(text.substr(at, end - at));
      at = end;
      at_start = false;
      continue;
    }
    at_start = text[at] == '=' || kEnds.find(text[at]) != std::string_view::npos;
    out += text[at++];
  }
  return out;
}

std::string word_with_base_names(const std::string& word) {
  if (leaves_here(word)) return base_name(word);
  const size_t equals = word.find('=');
  if (equals != std::string::npos && leaves_here(std::string_view(word).substr(equals + 1)))
    return word.substr(0, equals + 1) + base_name(std::string_view(word).substr(equals + 1));
  return with_base_names(word);
}

void use_base_names(stream::Header* header) {
  for (std::string& word : header->command) word = word_with_base_names(word);
  header->model.path = word_with_base_names(header->model.path);
  header->device = with_base_names(header->device);
  header->preprocess = with_base_names(header->preprocess);
  for (auto& [key, value] : header->host) value = with_base_names(value);
  for (stream::Header& input : header->inputs) use_base_names(&input);
}

void use_base_names(Localization* localization) {
  localization->source = word_with_base_names(localization->source);
  localization->target = word_with_base_names(localization->target);
  for (Localization::Sample& sample : localization->samples) sample.name = word_with_base_names(sample.name);
  for (Localization::Maps& maps : localization->maps) maps.sample = word_with_base_names(maps.sample);
}

void use_base_names(Branched* network) {
  network->name = word_with_base_names(network->name);
  for (std::string* text : {&network->at_once.device, &network->best}) *text = with_base_names(*text);
  for (Branched::Way& way : network->alone) way.device = with_base_names(way.device);
  for (Branched::Segment& segment : network->segments) segment.part = with_base_names(segment.part);
}

std::vector<std::string> shown_paths(const std::vector<std::string>& paths) {
  metrics::CommonFolder folder;
  for (const std::string& path : paths) {
    if (leaves_here(path)) folder.add(path);
  }
  std::vector<std::string> shown;
  for (const std::string& path : paths) {
    const std::string_view below = leaves_here(path) ? folder.below(path) : path;
    const size_t slash = below.rfind('/');
    const size_t two = slash == std::string_view::npos || slash == 0 ? 0 : below.rfind('/', slash - 1) + 1;
    shown.emplace_back(leaves_here(path) ? below.substr(two) : below);
  }
  return shown;
}

}  // namespace dnn::report
