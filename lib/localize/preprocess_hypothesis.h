// Hypotheses of preprocessing: how a target may want its images, what it takes to say so, and the factors that two of them differ in.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "image/preprocess.h"

namespace dnn {

// A change to a preprocessed tensor before the network reads it.
enum class Handling : uint8_t {
  AsIs,
  OtherLayout,  // the bytes of the other layout, under this one's shape
  Transposed,   // height and width exchanged
  UpsideDown,
  Mirrored,
};
std::string_view handling_name(Handling handling);  // "as it is", "bytes of the other layout", ...

// Class c of the source is class to[c] of the target; -1: of none.
struct LabelMap {
  int64_t offset = 0;           // to[c] = c + offset
  std::vector<int64_t> listed;  // a permutation, where it is no offset
  int64_t at(int64_t c) const {
    if (c < 0) return -1;  // no class, as of outputs that are all NaN
    return listed.empty() ? c + offset : listed[c];
  }
  bool identity() const { return offset == 0 && listed.empty(); }
  bool operator==(const LabelMap&) const = default;
};

struct Hypothesis {
  Preprocess preprocess;
  Handling handling = Handling::AsIs;
  LabelMap labels;
  bool operator==(const Hypothesis&) const = default;
};

// How near a hypothesis comes, over some images.
struct Nearness {
  size_t n_images = 0;
  size_t n_relabelled = 0;  // labels unlike the source's, through the map
  double distance = 0;      // of the outputs, relative: ||source - target|| / ||source||
};

// One of the choices that make a hypothesis.
struct PreprocessFactor {
  const char* name;  // "arithmetic", "channels", "resize", "filter", "handling", "labels"
  std::function<void(Hypothesis* to, const Hypothesis& from)> copy;
  std::function<std::string(const Hypothesis& h)> text;  // the choice in words
};
// All of them: copying each from one hypothesis to another makes the two the same, but for extents, layout and name.
const std::vector<PreprocessFactor>& preprocess_factors();

// The preprocessing as --target-preprocess takes it.
std::string preprocess_spec(const Preprocess& preprocess);
// "NAME KEY=VALUE ...": a named preprocessing and what is spelled out over it. Throws Usage.
void parse_preprocess_spec(const std::string& spec, std::string* name, PreprocessOptions* options);

// In words: "x/255, less 0.485,0.456,0.406, by 0.229,0.224,0.225".
std::string arithmetic_text(const Preprocess& preprocess);
std::string resize_text(const Preprocess& preprocess);

}  // namespace dnn
