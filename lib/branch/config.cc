// parse_config(): a configuration from its settings, checked one by one, each refusal with its line.
#include "branch/config.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "branch/settings.h"

namespace dnn::branch {
namespace {

constexpr int64_t kMostWidth = 1 << 14, kMostClasses = 1 << 20, kMostDepth = 1000, kMostExtent = 1 << 12;
constexpr size_t kMostStages = 64;

class ConfigReader {
 public:
  ConfigReader(Settings settings, const std::function<void(const std::string&)>& warn)
      : settings_(std::move(settings)), warn_(warn) {}

  Config read() {
    Config c;
    c.path = settings_.path();
    const Yaml& type = settings_.required("MODEL", "TYPE");
    if (type.text != "mbanynet")
      settings_.unsupported(type, "MODEL.TYPE is ", type.shown(), "; branched networks are mbanynet");
    c.classes = settings_.integer("MODEL", "NUM_CLASSES", c.classes, 1, kMostClasses);
    c.activation = activation("MODEL", Activation::Relu);
    c.stem = settings_.choice<Stem>(
        "STEM_TYPE",
        {{"res_stem_in", Stem::Residual}, {"simple_stem_in", Stem::Simple}, {"res_stem_cifar", Stem::Cifar}},
        Stem::Simple);
    c.stem_width = settings_.integer("ANYNET", "STEM_W", c.stem_width, 1, kMostWidth);
    c.stem_kernel = c.stem == Stem::Cifar
                        ? 3
                        : settings_.odd("STEM_K", settings_.integer("ANYNET", "STEM_K", c.stem_kernel, 1, 63));
    c.block = settings_.choice<Block>("BLOCK_TYPE",
                                      {{"res_basic_block", Block::Basic},
                                       {"res_bottleneck_block", Block::Bottleneck},
                                       {"inverted_residual", Block::Shuffle},
                                       {"mbconv", Block::InvertedBottleneck}},
                                      Block::Bottleneck);
    c.head_width = settings_.integer("ANYNET", "HEAD_W", 0, 0, kMostWidth);
    if (settings_.flag("ANYNET", "SE_ON", false)) c.squeeze = settings_.number("ANYNET", "SE_R", 0.25, 0, 4);
    c.version = static_cast<int>(settings_.integer("ANYNET", "MB_VER", 2, 1, 2));
    c.branches_stride = settings_.flag("ANYNET", "MB_DOWNSAMPLE", true);
    c.epsilon = static_cast<float>(settings_.number("BN", "EPS", 1e-5, 0, 1));
    c.image_size = settings_.integer("TRAIN", "IM_SIZE", 224, 1, kMostExtent);
    read_devices(c);
    read_stages(c);
    return c;
  }

 private:
  Activation activation_of(const Yaml& value, const std::string& name) const {
    if (value.text == "relu") return Activation::Relu;
    if (value.text == "silu" || value.text == "swish") return Activation::Silu;
    settings_.unsupported(value, name, " is ", value.shown(), "; known are relu, silu, swish");
  }
  Activation activation(const std::string& section, Activation fallback) const {
    const Yaml* there = settings_.find(section, "ACTIVATION_FUN");
    return there == nullptr ? fallback : activation_of(*there, section + ".ACTIVATION_FUN");
  }

  // A device by its name, its letter or its index: in DEVICES among cpu, dsp, gpu, elsewhere among DEVICES.
  std::string device(const Yaml& value, const std::string& name, const std::vector<std::string>& indexed) const {
    if (const ProcessorName* row = find_processor(value.text); value.kind == Yaml::Kind::Scalar && row != nullptr)
      return row->name;
    int64_t index = 0;
    if (value.kind == Yaml::Kind::Scalar && !value.is_quoted && parse_int(value.text, &index)) {
      if (index >= 0 && index < static_cast<int64_t>(indexed.size())) return indexed[index];
      settings_.malformed(value, name, " is ", index, ", and there are ", indexed.size(), " devices, counted from 0");
    }
    std::vector<std::string> known;
    for (const ProcessorName& row : processor_names()) known.push_back(cat(row.name, " (", row.letter, ")"));
    settings_.unsupported(value, name, " is ", value.shown(), "; devices are ", join(known), ", or an index");
  }

  void read_devices(Config& c) {
    std::vector<std::string> all;
    for (const ProcessorName& row : processor_names()) all.emplace_back(row.name);
    const Yaml& list = settings_.required("ANYNET", "DEVICES");
    for (const Yaml& item : list.items) {
      devices_.push_back(device(item, "ANYNET.DEVICES", all));
      if (std::count(devices_.begin(), devices_.end(), devices_.back()) > 1)
        settings_.malformed(item, "ANYNET.DEVICES names ", devices_.back(), " twice");
    }
    if (devices_.empty()) settings_.malformed(list, "ANYNET.DEVICES is empty; name a device for each branch");
    const auto one = [&](const std::string& key) {
      const Yaml* there = settings_.find("ANYNET", key);
      return there == nullptr ? all[0] : device(*there, "ANYNET." + key, devices_);
    };
    c.stem_device = one("STEM_DEVICE");
    c.head_device = one("HEAD_DEVICE");
    c.merge_device = one("MERGE_DEVICE");
  }

  // The list of a key, which has one entry for each stage.
  const Yaml* by_stage(const std::string& key, size_t stages) const {
    const Yaml* list = settings_.find("ANYNET", key);
    if (list == nullptr || list->items.empty()) return nullptr;
    if (list->items.size() != stages)
      settings_.malformed(*list, "ANYNET.", key, " has ", list->items.size(), " stages, DEPTHS has ", stages);
    return list;
  }
  const Yaml& required_by_stage(const std::string& key, size_t stages) const {
    const Yaml* list = by_stage(key, stages);
    if (list == nullptr)
      settings_.malformed(settings_.required("ANYNET", "DEPTHS"), "ANYNET.", key,
                          " is missing; it has one list for each stage");
    return *list;
  }

  // One entry for each branch of a stage.
  const Yaml& branch_list(const Yaml& stages, const std::string& key, size_t stage, size_t branches) const {
    const Yaml& list = stages.items[stage];
    if (list.kind != Yaml::Kind::List)
      settings_.malformed(list, "ANYNET.", key, ", stage ", stage + 1, ", is ", list.shown(),
                          ", not a list of branches");
    if (list.items.size() != branches)
      settings_.malformed(list, "ANYNET.", key, ", stage ", stage + 1, ", has ", list.items.size(),
                          " branches, DEPTHS has ", branches);
    return list;
  }

  // STRIDES may say for branches that a stage lacks what it says for the others: published configurations do.
  const Yaml& stride_list(const Yaml& stages, size_t stage, size_t branches) const {
    const Yaml& list = stages.items[stage];
    const bool spare = list.kind == Yaml::Kind::List && list.items.size() > branches &&
                       list.items.size() <= devices_.size() &&
                       std::all_of(list.items.begin(), list.items.end(),
                                   [&](const Yaml& item) { return item.text == list.items[0].text; });
    return spare ? list : branch_list(stages, "STRIDES", stage, branches);
  }

  // The lists of all stages; null: not given.
  struct StageLists {
    const Yaml &depths, &widths, &strides;
    const Yaml *bottlenecks, *groups, *kernels, *merged;
  };

  StageLists stage_lists(const Config& c) const {
    const Yaml& depths = settings_.required("ANYNET", "DEPTHS");
    const size_t n = depths.items.size();
    if (n == 0) settings_.malformed(depths, "ANYNET.DEPTHS is empty; a network without stages has no branches");
    if (n > kMostStages) settings_.malformed(depths, "ANYNET.DEPTHS has ", n, " stages, more than ", kMostStages);
    const StageLists lists = {depths,
                              required_by_stage("WIDTHS", n),
                              required_by_stage("STRIDES", n),
                              by_stage("BOT_MULS", n),
                              by_stage("GROUP_WS", n),
                              by_stage("KERNELS", n),
                              by_stage("ORIGINAL_WIDTHS", n)};
    const bool bottleneck = c.block == Block::Bottleneck, inverted = c.block == Block::InvertedBottleneck;
    if (bottleneck) required_by_stage("GROUP_WS", n);
    if (bottleneck || inverted) required_by_stage("BOT_MULS", n);
    if (inverted) required_by_stage("KERNELS", n);
    if (c.version == 1) required_by_stage("ORIGINAL_WIDTHS", n);
    return lists;
  }

  void read_stages(Config& c) const {
    const StageLists lists = stage_lists(c);
    const std::vector<Activation> activations = read_activations(c);
    for (size_t s = 0; s < lists.depths.items.size(); ++s) {
      Stage stage = read_stage(lists, s, activations);
      int64_t sum = 0;
      for (const Branch& branch : stage.branches) sum += branch.width;
      stage.width = lists.merged == nullptr
                        ? sum
                        : settings_.whole(lists.merged->items[s], cat("ANYNET.ORIGINAL_WIDTHS, stage ", s + 1, ","), 1,
                                          kMostWidth);
      check_merged(c, stage, s, sum, lists.merged);
      c.stages.push_back(std::move(stage));
    }
  }

  Stage read_stage(const StageLists& lists, size_t s, const std::vector<Activation>& activations) const {
    const Yaml& ds = lists.depths.items[s];
    if (ds.kind != Yaml::Kind::List || ds.items.empty())
      settings_.malformed(ds, "ANYNET.DEPTHS, stage ", s + 1, ", is ", ds.shown(), ", not a list of branches");
    const size_t branches = ds.items.size();
    if (branches > devices_.size())
      settings_.malformed(ds, "stage ", s + 1, " has ", branches, " branches, and ANYNET.DEVICES names ",
                          devices_.size(), " devices");
    const Yaml& ws = branch_list(lists.widths, "WIDTHS", s, branches);
    const Yaml& ss = stride_list(lists.strides, s, branches);
    const bool each = lists.bottlenecks != nullptr && lists.bottlenecks->items[s].kind == Yaml::Kind::List;
    const Yaml* bs = each ? &branch_list(*lists.bottlenecks, "BOT_MULS", s, branches) : nullptr;
    const Yaml* gs = lists.groups == nullptr ? nullptr : &branch_list(*lists.groups, "GROUP_WS", s, branches);
    const auto name = [&](const char* key) { return cat("ANYNET.", key, ", stage ", s + 1, ","); };
    Stage stage;
    if (lists.kernels != nullptr)
      stage.kernel = settings_.odd("KERNELS", settings_.whole(lists.kernels->items[s], name("KERNELS"), 1, 63));
    for (size_t b = 0; b < branches; ++b) {
      Branch branch;
      branch.device = devices_[b];
      branch.depth = settings_.whole(ds.items[b], name("DEPTHS"), 1, kMostDepth);
      branch.width = settings_.whole(ws.items[b], name("WIDTHS"), 1, kMostWidth);
      branch.stride = settings_.whole(ss.items[b], name("STRIDES"), 1, 8);
      if (branch.stride != settings_.whole(ss.items[0], name("STRIDES"), 1, 8))
        settings_.malformed(ss, name("STRIDES"),
                            " differ between branches; their outputs would differ in size and cannot be merged");
      if (lists.bottlenecks != nullptr)
        branch.bottleneck =
            settings_.real(bs != nullptr ? bs->items[b] : lists.bottlenecks->items[s], name("BOT_MULS"), 1e-3, 16);
      if (gs != nullptr) branch.group_width = settings_.whole(gs->items[b], name("GROUP_WS"), 1, kMostWidth);
      branch.activation = activations[b];
      stage.branches.push_back(std::move(branch));
    }
    return stage;
  }

  void check_merged(const Config& c, const Stage& stage, size_t s, int64_t sum, const Yaml* merged) const {
    const auto n = static_cast<int64_t>(stage.branches.size());
    if (c.version == 1 && stage.width % n != 0)
      settings_.malformed(*merged, "ANYNET.ORIGINAL_WIDTHS, stage ", s + 1, ", is ", stage.width, ", which ", n,
                          " branches do not share evenly");
    if (c.version == 1 && n > 1 && !c.branches_stride)
      settings_.unsupported(*settings_.find("ANYNET", "MB_DOWNSAMPLE"),
                            "MB_DOWNSAMPLE: False with MB_VER: 1 was never defined; use MB_VER: 2");
    if (c.version == 1 || stage.width == sum) return;
    // Published configurations have such stages: pycls counts them and TensorFlow runs them, while PyTorch cannot.
    warn_(cat(settings_.path(), ":", merged->line, ": stage ", s + 1, " is ", sum, " wide by WIDTHS and ", stage.width,
              " by ORIGINAL_WIDTHS; the network has ", sum, " channels there, and is counted with ", stage.width,
              ", as pycls counts it"));
  }

  std::vector<Activation> read_activations(const Config& c) const {
    const Yaml* list = settings_.find("ANYNET", "ACTIVATION_FUN");
    std::vector<Activation> activations(devices_.size(), c.activation);
    if (list == nullptr || list->items.empty()) return activations;
    if (list->items.size() != devices_.size())
      settings_.malformed(*list, "ANYNET.ACTIVATION_FUN has ", list->items.size(), " entries, DEVICES has ",
                          devices_.size());
    for (size_t i = 0; i < activations.size(); ++i)
      activations[i] = activation_of(list->items[i], "ANYNET.ACTIVATION_FUN");
    return activations;
  }

  const Settings settings_;
  const std::function<void(const std::string&)>& warn_;
  std::vector<std::string> devices_;
};

}  // namespace

const std::vector<ProcessorName>& processor_names() {
  static const std::vector<ProcessorName> rows = {{"cpu", 'C'}, {"dsp", 'D'}, {"gpu", 'G'}};
  return rows;
}

bool is_config(const std::string& path) { return ends_with(path, ".yaml") || ends_with(path, ".yml"); }

const ProcessorName* find_processor(std::string_view name) {
  for (const ProcessorName& row : processor_names()) {
    if (name == row.name || (name.size() == 1 && name[0] == row.letter)) return &row;
  }
  return nullptr;
}

bool Config::branched() const {
  return std::any_of(stages.begin(), stages.end(), [](const Stage& stage) { return stage.branches.size() > 1; });
}

std::vector<std::string> Config::devices() const {
  std::set<std::string> named = {stem_device, head_device};
  for (const Stage& stage : stages) {
    if (stage.branches.size() > 1) named.insert(merge_device);
    for (const Branch& branch : stage.branches) named.insert(branch.device);
  }
  std::vector<std::string> ordered;
  for (const ProcessorName& row : processor_names()) {
    if (named.count(row.name) != 0) ordered.emplace_back(row.name);
  }
  return ordered;
}

Config parse_config(std::string_view text, const std::string& path,
                    const std::function<void(const std::string&)>& warn) {
  return ConfigReader({read_yaml(text, path), path}, warn).read();
}

Config read_config(const std::string& path, const std::function<void(const std::string&)>& warn) {
  return parse_config(read_regular_file(path), path, warn);
}

}  // namespace dnn::branch
