// Elastic ranges as text, and children within them; see ranges.h.
#include "branch/ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/random.h"
#include "branch/config.h"
#include "branch/yaml.h"

namespace dnn::branch {
namespace {

constexpr int64_t kEighths = 8;
constexpr double kRounding = 1e-6;
constexpr uint64_t kUnbranchedIn = 4;

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
  fail_malformed(path, ":", line, ": ", what);
}

double share(const std::string& path, const Yaml& item) {
  double value = 0;
  if (item.kind != Yaml::Kind::Scalar || !parse_double(item.text, &value) || !(value > 0 && value <= 1))
    refuse(path, item.line, cat(item.shown(), " is no share above 0 and up to 1"));
  return value;
}

void read_range(const std::string& path, const Yaml& value, const std::string& key, double* least, double* most) {
  if (value.kind != Yaml::Kind::List || value.items.size() != 2)
    refuse(path, value.line, cat(key, " is ", value.shown(), ", not a list of a least and a largest share"));
  *least = share(path, value.items[0]);
  *most = share(path, value.items[1]);
  if (*least > *most) refuse(path, value.line, cat(key, " is ", value.shown(), ": the least is above the largest"));
}

void read_devices(const std::string& path, const Yaml& value, std::vector<std::string>* devices) {
  if (value.kind != Yaml::Kind::List) refuse(path, value.line, cat("DEVICES is ", value.shown(), ", not a list"));
  for (const Yaml& item : value.items) {
    const ProcessorName* row = item.kind == Yaml::Kind::Scalar ? find_processor(item.text) : nullptr;
    if (row == nullptr) refuse(path, item.line, cat(item.shown(), " is no device; it is cpu, dsp or gpu"));
    if (std::count(devices->begin(), devices->end(), row->name) != 0)
      refuse(path, item.line, cat("DEVICES names ", row->name, " twice"));
    devices->emplace_back(row->name);
  }
}

// Numbers of a seed, one after the other.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  // From 0 to count - 1.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(random_number(seed_, drawn_++) % static_cast<uint64_t>(count));
  }

 private:
  const uint64_t seed_;
  uint64_t drawn_ = 0;
};

int64_t least_eighths(const ElasticRanges& ranges) {
  return static_cast<int64_t>(std::ceil(ranges.least_width * kEighths - kRounding));
}

int64_t most_eighths(const ElasticRanges& ranges) {
  return std::max(least_eighths(ranges), static_cast<int64_t>(std::floor(ranges.most_width * kEighths + kRounding)));
}

}  // namespace

ElasticRanges parse_ranges(const std::string& text, const std::string& path) {
  const Yaml tree = read_yaml(text, path);
  if (tree.kind != Yaml::Kind::Map) refuse(path, tree.line, "no elastic ranges; they are DEVICES, DM_RANGE, WM_RANGE");
  ElasticRanges ranges;
  for (const Yaml::Entry& entry : tree.entries) {
    if (entry.key == "DEVICES") {
      read_devices(path, entry.value, &ranges.devices);
    } else if (entry.key == "DM_RANGE") {
      read_range(path, entry.value, entry.key, &ranges.least_depth, &ranges.most_depth);
    } else if (entry.key == "WM_RANGE") {
      read_range(path, entry.value, entry.key, &ranges.least_width, &ranges.most_width);
    } else if (entry.key == "ELASTIC_SIZE") {
      if (entry.value.kind != Yaml::Kind::Scalar || !parse_int(entry.value.text, &ranges.networks) ||
          ranges.networks < 2 || ranges.networks > 64)
        refuse(path, entry.line, cat("ELASTIC_SIZE is ", entry.value.shown(), ", not an integer from 2 to 64"));
    } else {
      refuse(
          path, entry.line,
          cat(quoted(entry.key), " is no key of elastic ranges; they are DEVICES, DM_RANGE, WM_RANGE, ELASTIC_SIZE"));
    }
  }
  if (ranges.devices.size() < 2)
    fail_usage(path, ": DEVICES names ", ranges.devices.size(), " devices; branches are for two or more");
  const double together = static_cast<double>(ranges.devices.size()) * ranges.least_width;
  if (together < 1 - kRounding)
    fail_usage(path, ": WM_RANGE begins at ", exact_text(ranges.least_width), ", and ", ranges.devices.size(),
               " branches of that width lack channels; begin at ",
               exact_text(1 / static_cast<double>(ranges.devices.size())), " or above");
  return ranges;
}

std::string ranges_text(const ElasticRanges& ranges) {
  return cat("DEVICES: [", join(ranges.devices, ", "), "]\nDM_RANGE: [", exact_text(ranges.least_depth), ", ",
             exact_text(ranges.most_depth), "]\nWM_RANGE: [", exact_text(ranges.least_width), ", ",
             exact_text(ranges.most_width), "]\nELASTIC_SIZE: ", ranges.networks, "\n");
}

Depths depths_of(const ElasticRanges& ranges, const SourceStage& stage) {
  const auto blocks = static_cast<double>(stage.blocks.size());
  const auto whole = static_cast<int64_t>(stage.blocks.size());
  Depths depths;
  depths.least =
      std::clamp(static_cast<int64_t>(std::ceil(ranges.least_depth * blocks - kRounding)), least_depth(stage), whole);
  depths.most =
      std::clamp(static_cast<int64_t>(std::floor(ranges.most_depth * blocks + kRounding)), depths.least, whole);
  return depths;
}

StretchPlan smallest_child(const ElasticRanges& ranges, const SourceStages& stages) {
  StretchPlan child;
  child.main_device = ranges.devices[0];
  for (const SourceStage& stage : stages.stages) {
    std::vector<BranchShape>& branches = child.stages.emplace_back();
    for (const std::string& device : ranges.devices)
      branches.push_back({device, depths_of(ranges, stage).least,
                          static_cast<double>(least_eighths(ranges)) / static_cast<double>(kEighths)});
  }
  return child;
}

StretchPlan random_child(const ElasticRanges& ranges, const SourceStages& stages, uint64_t seed) {
  Draws draws(seed);
  StretchPlan child;
  child.main_device = ranges.devices[0];
  for (const SourceStage& stage : stages.stages) {
    std::vector<BranchShape>& branches = child.stages.emplace_back();
    if (draws.below(kUnbranchedIn) == 0) {
      branches = {{child.main_device, static_cast<int64_t>(stage.blocks.size()), 1}};
      continue;
    }
    const Depths depths = depths_of(ranges, stage);
    for (const std::string& device : ranges.devices) {
      const int64_t depth = depths.least + draws.below(depths.most - depths.least + 1);
      const int64_t eighths = least_eighths(ranges) + draws.below(most_eighths(ranges) - least_eighths(ranges) + 1);
      branches.push_back({device, depth, static_cast<double>(eighths) / static_cast<double>(kEighths)});
    }
  }
  return child;
}

void check_child(const ElasticRanges& ranges, const SourceStages& stages, const StretchPlan& child) {
  if (child.stages.size() != stages.stages.size())
    fail_usage("the child has ", child.stages.size(), " stages, the supernet ", stages.stages.size());
  if (child.main_device != ranges.devices[0])
    fail_usage("the child's MAIN_DEVICE is ", child.main_device, ", the supernet's ", ranges.devices[0]);
  for (size_t s = 0; s < child.stages.size(); ++s) {
    const std::vector<BranchShape>& branches = child.stages[s];
    const auto whole = static_cast<int64_t>(stages.stages[s].blocks.size());
    const Depths depths = depths_of(ranges, stages.stages[s]);
    if (branches.size() == 1 && branches[0].device == child.main_device && branches[0].depth == whole &&
        branches[0].width == 1)
      continue;  // unbranched
    if (branches.size() != ranges.devices.size())
      fail_usage("stage ", s + 1, " of the child has ", branches.size(), " branches, the supernet ",
                 ranges.devices.size(), "; or one for ", child.main_device, " with all blocks and channels");
    for (size_t b = 0; b < branches.size(); ++b) {
      const BranchShape& branch = branches[b];
      if (branch.device != ranges.devices[b])
        fail_usage("stage ", s + 1, " of the child has a branch for ", branch.device, " where the supernet's is for ",
                   ranges.devices[b]);
      if (branch.depth < depths.least || branch.depth > depths.most)
        fail_usage("stage ", s + 1, ", ", branch.device, ": ", branch.depth, " blocks; the supernet's children have ",
                   depths.least, " to ", depths.most);
      if (branch.width < ranges.least_width - kRounding || branch.width > ranges.most_width + kRounding)
        fail_usage("stage ", s + 1, ", ", branch.device, ": width ", exact_text(branch.width),
                   "; the supernet's children have ", exact_text(ranges.least_width), " to ",
                   exact_text(ranges.most_width));
    }
  }
}

std::string child_text(const StretchPlan& child) {
  std::string text;
  for (const std::vector<BranchShape>& branches : child.stages) {
    if (!text.empty()) text += " | ";
    for (size_t b = 0; b < branches.size(); ++b) {
      text += cat(b == 0 ? "" : " + ", branches[b].device);
      if (branches.size() > 1) text += cat(" ", branches[b].depth, "x", exact_text(branches[b].width));
    }
  }
  return text;
}

}  // namespace dnn::branch
