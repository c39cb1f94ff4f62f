// Data sets; see dataset.h.
#include "image/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "image/pack.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kExtensions = {".jpg", ".jpeg", ".png", ".bmp",
                                                         ".ppm", ".pgm",  ".pbm", ".pnm"};

bool has_image_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

void list_folder(const std::string& folder, std::vector<Sample>* samples) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  if (error) fail_environment(folder, ": cannot list: ", error.message());
  std::vector<std::string> paths;
  std::string at = folder;  // what was looked at last: an error does not say
  for (const fs::recursive_directory_iterator end; entry != end; entry.increment(error)) {
    at = entry->path().string();
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(error) && has_image_extension(entry->path())) {
      paths.push_back(entry->path().string());
    }
    if (error) fail_environment(at, ": cannot list: ", error.message());
  }
  if (error) fail_environment(at, ": cannot list: ", error.message());
  if (paths.empty()) fail_usage(folder, ": no images (", join(kExtensions, " "), ") in this folder");
  std::sort(paths.begin(), paths.end());
  for (std::string& path : paths) samples->push_back({std::move(path), std::nullopt});
}

std::optional<int64_t> known(int64_t index) { return index < 0 ? std::nullopt : std::optional(index); }

// What `text` says about the class: a synset id, a label, or (where `labels` has that many) an index.
std::optional<int64_t> class_of(std::string_view text, const LabelSet& labels) {
  if (const int64_t index = labels.index_of(text); index >= 0) return index;
  int64_t index = 0;
  if (parse_int(text, &index) && index >= 0 && (index < labels.size() || labels.size() == 0)) return index;
  return std::nullopt;
}

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().filename().string(); }

}  // namespace

bool is_hidden(const std::filesystem::path& path) { return starts_with(path.filename().string(), "."); }

std::vector<Sample> list_images(const std::vector<std::string>& inputs) {
  std::vector<Sample> samples;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      list_folder(input, &samples);
    } else if (is_pack(input)) {
      for (Sample& sample : ImagePack(input).samples()) samples.push_back(std::move(sample));
    } else if (fs::exists(input, error)) {
      samples.push_back({input, std::nullopt});
    } else {
      fail_environment(input, ": ", error ? error.message() : "no such file or folder");
    }
  }
  return samples;
}

std::vector<Sample> read_image_list(const std::string& path, const LabelSet& labels) {
  const std::string text = read_file(path);
  const fs::path folder = fs::path(path).parent_path();
  std::vector<Sample> samples;
  int64_t line_number = 0;
  for (std::string line : split(text, '\n')) {
    ++line_number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    Sample sample;
    size_t cut = line.find('\t');
    // A space may belong to the path: what follows the last one is a class only when the rest looks like an image.
    if (cut == std::string::npos && !has_image_extension(line)) cut = line.rfind(' ');
    if (cut != std::string::npos) {
      const std::string name = line.substr(cut + 1);
      sample.truth = class_of(name, labels);
      if (!sample.truth && labels.size() == 0)
        fail_malformed(path, ":", line_number, ": no labels to know class ", quoted(name),
                       " by: give them with --labels");
      if (!sample.truth)
        fail_malformed(path, ":", line_number, ": label set '", labels.name(), "' has no class ", quoted(name));
      line.resize(cut);
    }
    const fs::path image(line);
    sample.path = image.is_absolute() ? line : (folder / image).string();
    samples.push_back(std::move(sample));
  }
  if (samples.empty()) fail_malformed(path, ": a list without images");
  return samples;
}

int64_t find_truth(std::vector<Sample>* samples, const LabelSet& labels, TruthSource source) {
  int64_t n_known = 0;
  for (Sample& sample : *samples) {
    if (!sample.truth && source != TruthSource::Folder) {
      const std::string file = fs::path(sample.path).filename().string();
      const std::string_view synset = synset_prefix(file);
      if (!synset.empty()) sample.truth = known(labels.index_of_synset(synset));
    }
    if (!sample.truth && source != TruthSource::FileSynset) sample.truth = class_of(folder_of(sample.path), labels);
    if (sample.truth) ++n_known;
  }
  return n_known;
}

std::optional<LabelSet> labels_of_folders(const std::vector<Sample>& samples, int64_t n_classes) {
  std::set<std::string> names;
  for (const Sample& sample : samples) names.insert(folder_of(sample.path));
  if (static_cast<int64_t>(names.size()) != n_classes) return std::nullopt;
  return LabelSet::of({names.begin(), names.end()}, "folders");
}

std::vector<Sample> shard(const std::vector<Sample>& samples, int64_t index, int64_t count) {
  if (count < 1 || index < 0 || index >= count)
    fail_usage("shard ", index, "/", count, "; wanted is i/n with 0 <= i < n");
  std::vector<Sample> part;
  for (size_t i = index; i < samples.size(); i += static_cast<size_t>(count)) part.push_back(samples[i]);
  return part;
}

}  // namespace dnn
