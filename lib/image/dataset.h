// Data sets: the images that folders and lists name, in one fixed order, each with its true class where that is known.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "image/labels.h"

namespace dnn {

struct Sample {
  std::string path;
  std::optional<int64_t> truth;  // class index in the label set that was given
  bool operator==(const Sample&) const = default;
};

// The image files named or contained by `inputs`, folder by folder: a file is taken as it is, of a pack (pack.h) each image
// as of its folder; a folder is searched through all its levels for .jpg .jpeg .png .bmp .ppm .pgm .pbm .pnm (any case),
// entries sorted by the bytes of their path below it; hidden entries and links to folders are left out. Throws Environment
// for what cannot be read, Usage for a folder without images.
std::vector<Sample> list_images(const std::vector<std::string>& inputs);

// True for a name that begins with a dot.
bool is_hidden(const std::filesystem::path& path);

// A text file of lines "PATH" or "PATH<tab or last space>CLASS", CLASS an index, a synset id or a name of `labels`;
// relative paths start at the list's folder. Throws Malformed with the line number.
std::vector<Sample> read_image_list(const std::string& path, const LabelSet& labels);

enum class TruthSource {
  Auto,        // the first of the following that gives a class
  FileSynset,  // a synset id at the beginning of the file name, "n01440764_tench.JPEG"
  Folder,      // the name of the file's folder: a synset id, a label, or an index
};

// Fills in `truth` where `labels` knows the class; samples that have one already keep it. Returns how many have one.
int64_t find_truth(std::vector<Sample>* samples, const LabelSet& labels, TruthSource source = TruthSource::Auto);

// Class indices for folders that no label set names: the sorted folder names themselves become the classes. None where they are not
// `n_classes`. Throws Malformed for a name that no class can have.
std::optional<LabelSet> labels_of_folders(const std::vector<Sample>& samples, int64_t n_classes);

// Part `index` of `count` (dnn-infer --shard i/n): every count-th sample from `index` on. Throws Usage.
std::vector<Sample> shard(const std::vector<Sample>& samples, int64_t index, int64_t count);

}  // namespace dnn
