// LabelSet: the classes of a network in the order of its outputs, with their ImageNet synset ids where known.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dnn {

// An offset between two label sets (ImageNet's 1000 classes, and the 1001 of networks with "background" first) is never
// arithmetic of its own: truth is looked up in the label set of the network at hand, by synset or by name.
class LabelSet {
 public:
  LabelSet() = default;
  // One class per line: "name", or "n01440764 name" (synset id first), in the order of the outputs; blank lines only at
  // the end. Throws Malformed when empty or when a synset id comes twice.
  static LabelSet parse(std::string_view text, std::string name);
  static LabelSet read(const std::string& path);  // name = the file's stem; errors start with the path
  // Classes with exactly these names, as folders have them; one that begins with a synset id has it. Throws Malformed for a name
  // that no line of a list can be: with a control character, or blank.
  static LabelSet of(const std::vector<std::string>& names, std::string name);

  // This set's classes with a "background" class in front, where it has none: 1000 -> 1001.
  LabelSet with_background() const;
  // This set fitted to a network of `n_outputs`: itself, with background, or without; throws Usage for other counts.
  LabelSet for_outputs(int64_t n_outputs) const;
  // Synset ids taken over from `other` for a set that has none; it must have the same count, background aside.
  LabelSet with_synsets_of(const LabelSet& other) const;

  const std::string& name() const { return name_; }
  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  const std::string& label(int64_t index) const { return labels_[index]; }
  std::string line(int64_t index) const;                                      // of a list, as parse() reads it
  const std::string& synset(int64_t index) const { return synsets_[index]; }  // "" when unknown
  bool has_synsets() const { return !by_synset_.empty(); }
  bool has_background() const;

  // The class index, or -1. Of a folder's name or the like: the label that is exactly so, else by its synset id, else by name.
  int64_t index_of(std::string_view text) const;
  int64_t index_of_synset(std::string_view synset) const;
  // By the whole label, or by its part before the first comma, letter case and '_' aside ("tench" finds "tench, Tinca
  // tinca"); -1 when none or when several match ("crane" names two classes of ImageNet).
  int64_t index_of_name(std::string_view name) const;

 private:
  void build_index();

  std::string name_;
  std::vector<std::string> labels_, synsets_;
  std::unordered_map<std::string, int64_t> by_label_, by_synset_, by_name_;
};

// "n01440764" at the beginning of `text`, followed by no further digit; "" when there is none.
std::string_view synset_prefix(std::string_view text);

}  // namespace dnn
