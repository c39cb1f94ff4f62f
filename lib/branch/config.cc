// parse_config(): the settings of a configuration, checked one by one, each refusal with its line.
#include "branch/config.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "branch/yaml.h"

namespace dnn::branch {
namespace {

enum class SettingType { Text, Integer, Number, Flag, List };

struct Setting {
  const char* section;
  const char* key;
  SettingType type;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> rows = {
#define DNN_SETTING(section, key, type) {section, key, SettingType::type},
#include "branch/settings.def"
  };
  return rows;
}

constexpr int64_t kMostWidth = 1 << 14, kMostClasses = 1 << 20, kMostDepth = 1000, kMostExtent = 1 << 12;
constexpr size_t kMostStages = 64;

std::optional<bool> flag_of(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? c + 32 : c; });
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

class ConfigReader {
 public:
  ConfigReader(Yaml tree, std::string path, const std::function<void(const std::string&)>& warn)
      : tree_(std::move(tree)), path_(std::move(path)), warn_(warn) {}

  Config read() {
    check_keys();
    Config c;
    c.path = path_;
    const Yaml& type = required("MODEL", "TYPE");
    if (type.text != "mbanynet") unsupported(type, "MODEL.TYPE is ", type.shown(), "; branched networks are mbanynet");
    c.classes = integer("MODEL", "NUM_CLASSES", c.classes, 1, kMostClasses);
    c.activation = activation("MODEL", Activation::Relu);
    c.stem = choice<Stem>(
        "STEM_TYPE",
        {{"res_stem_in", Stem::Residual}, {"simple_stem_in", Stem::Simple}, {"res_stem_cifar", Stem::Cifar}},
        Stem::Simple);
    c.stem_width = integer("ANYNET", "STEM_W", c.stem_width, 1, kMostWidth);
    c.stem_kernel = c.stem == Stem::Cifar ? 3 : odd("STEM_K", integer("ANYNET", "STEM_K", c.stem_kernel, 1, 63));
    c.block = choice<Block>("BLOCK_TYPE",
                            {{"res_basic_block", Block::Basic},
                             {"res_bottleneck_block", Block::Bottleneck},
                             {"inverted_residual", Block::Shuffle},
                             {"mbconv", Block::InvertedBottleneck}},
                            Block::Bottleneck);
    c.head_width = integer("ANYNET", "HEAD_W", 0, 0, kMostWidth);
    if (flag("ANYNET", "SE_ON", false)) c.squeeze = number("ANYNET", "SE_R", 0.25, 0, 4);
    c.version = static_cast<int>(integer("ANYNET", "MB_VER", 2, 1, 2));
    c.branches_stride = flag("ANYNET", "MB_DOWNSAMPLE", true);
    c.epsilon = static_cast<float>(number("BN", "EPS", 1e-5, 0, 1));
    c.image_size = integer("TRAIN", "IM_SIZE", 224, 1, kMostExtent);
    read_devices(c);
    read_stages(c);
    return c;
  }

 private:
  template <class... T>
  [[noreturn]] void malformed(const Yaml& at, const T&... parts) const {
    fail_malformed(path_, ":", at.line, ": ", parts...);
  }
  template <class... T>
  [[noreturn]] void unsupported(const Yaml& at, const T&... parts) const {
    fail_unsupported(path_, ":", at.line, ": ", parts...);
  }

  void check_keys() const {
    if (tree_.kind != Yaml::Kind::Map)
      malformed(tree_, "a configuration is a map of sections, MODEL, ANYNET and so on");
    for (const Yaml::Entry& entry : tree_.entries) {
      const bool is_section =
          std::any_of(settings().begin(), settings().end(), [&](const Setting& s) { return entry.key == s.section; });
      if (!is_section) {
        check_key("", entry);
        continue;
      }
      if (entry.value.kind == Yaml::Kind::Scalar && entry.value.text.empty()) continue;
      if (entry.value.kind != Yaml::Kind::Map) malformed(entry.value, entry.key, " is a section and holds keys");
      for (const Yaml::Entry& inner : entry.value.entries) check_key(entry.key, inner);
    }
  }

  void check_key(const std::string& section, const Yaml::Entry& entry) const {
    std::vector<std::string> known;
    for (const Setting& setting : settings()) {
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

  void check_type(const Yaml& value, const std::string& name, SettingType type) const {
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

  const Yaml* find(std::string_view section, std::string_view key) const {
    const Yaml* inner = section.empty() ? &tree_ : tree_.find(section);
    return inner == nullptr ? nullptr : inner->find(key);
  }
  const Yaml& required(const std::string& section, const std::string& key) const {
    const Yaml* there = find(section, key);
    if (there == nullptr) malformed(tree_, section, ".", key, " is missing");
    return *there;
  }

  // A whole number of a scalar, within bounds.
  int64_t whole(const Yaml& value, const std::string& name, int64_t least, int64_t most) const {
    int64_t number = 0;
    if (value.kind != Yaml::Kind::Scalar || !parse_int(value.text, &number) || number < least || number > most)
      malformed(value, name, " is ", value.shown(), ", not an integer from ", least, " to ", most);
    return number;
  }
  double real(const Yaml& value, const std::string& name, double least, double most) const {
    double number = 0;
    if (value.kind != Yaml::Kind::Scalar || !parse_double(value.text, &number) || !(number >= least && number <= most))
      malformed(value, name, " is ", value.shown(), ", not a number from ", least, " to ", most);
    return number;
  }
  int64_t integer(const std::string& section, const std::string& key, int64_t fallback, int64_t least,
                  int64_t most) const {
    const Yaml* there = find(section, key);
    return there == nullptr ? fallback : whole(*there, section + "." + key, least, most);
  }
  double number(const std::string& section, const std::string& key, double fallback, double least, double most) const {
    const Yaml* there = find(section, key);
    return there == nullptr ? fallback : real(*there, section + "." + key, least, most);
  }
  bool flag(const std::string& section, const std::string& key, bool fallback) const {
    const Yaml* there = find(section, key);
    return there == nullptr ? fallback : *flag_of(there->text);
  }
  int64_t odd(const std::string& key, int64_t value) const {
    if (value % 2 == 0) malformed(*find("ANYNET", key), "ANYNET.", key, " is ", value, "; kernels are of odd size");
    return value;
  }

  template <class T>
  T choice(const std::string& key, const std::vector<std::pair<std::string, T>>& names, T fallback) const {
    const Yaml* there = find("ANYNET", key);
    if (there == nullptr) return fallback;
    std::vector<std::string> known;
    for (const auto& [name, value] : names) {
      if (there->text == name) return value;
      known.push_back(name);
    }
    unsupported(*there, "ANYNET.", key, " is ", there->shown(), "; known are ", join(known));
  }

  Activation activation_of(const Yaml& value, const std::string& name) const {
    if (value.text == "relu") return Activation::Relu;
    if (value.text == "silu" || value.text == "swish") return Activation::Silu;
    unsupported(value, name, " is ", value.shown(), "; known are relu, silu, swish");
  }
  Activation activation(const std::string& section, Activation fallback) const {
    const Yaml* there = find(section, "ACTIVATION_FUN");
    return there == nullptr ? fallback : activation_of(*there, section + ".ACTIVATION_FUN");
  }

  // A device by its name, its letter or its index: in DEVICES among cpu, dsp, gpu, elsewhere among DEVICES.
  std::string device(const Yaml& value, const std::string& name, const std::vector<std::string>& indexed) const {
    if (const ProcessorName* row = find_processor(value.text); value.kind == Yaml::Kind::Scalar && row != nullptr)
      return row->name;
    int64_t index = 0;
    if (value.kind == Yaml::Kind::Scalar && !value.is_quoted && parse_int(value.text, &index)) {
      if (index >= 0 && index < static_cast<int64_t>(indexed.size())) return indexed[index];
      malformed(value, name, " is ", index, ", and there are ", indexed.size(), " devices, counted from 0");
    }
    std::vector<std::string> known;
    for (const ProcessorName& row : processor_names()) known.push_back(cat(row.name, " (", row.letter, ")"));
    unsupported(value, name, " is ", value.shown(), "; devices are ", join(known), ", or an index");
  }

  void read_devices(Config& c) {
    std::vector<std::string> all;
    for (const ProcessorName& row : processor_names()) all.emplace_back(row.name);
    const Yaml& list = required("ANYNET", "DEVICES");
    for (const Yaml& item : list.items) {
      devices_.push_back(device(item, "ANYNET.DEVICES", all));
      if (std::count(devices_.begin(), devices_.end(), devices_.back()) > 1)
        malformed(item, "ANYNET.DEVICES names ", devices_.back(), " twice");
    }
    if (devices_.empty()) malformed(list, "ANYNET.DEVICES is empty; name a device for each branch");
    const auto one = [&](const std::string& key) {
      const Yaml* there = find("ANYNET", key);
      return there == nullptr ? all[0] : device(*there, "ANYNET." + key, devices_);
    };
    c.stem_device = one("STEM_DEVICE");
    c.head_device = one("HEAD_DEVICE");
    c.merge_device = one("MERGE_DEVICE");
  }

  // The list of a key, which has one entry for each stage.
  const Yaml* by_stage(const std::string& key, size_t stages) const {
    const Yaml* list = find("ANYNET", key);
    if (list == nullptr || list->items.empty()) return nullptr;
    if (list->items.size() != stages)
      malformed(*list, "ANYNET.", key, " has ", list->items.size(), " stages, DEPTHS has ", stages);
    return list;
  }
  const Yaml& required_by_stage(const std::string& key, size_t stages) const {
    const Yaml* list = by_stage(key, stages);
    if (list == nullptr)
      malformed(required("ANYNET", "DEPTHS"), "ANYNET.", key, " is missing; it has one list for each stage");
    return *list;
  }

  // One entry for each branch of a stage.
  const Yaml& branch_list(const Yaml& stages, const std::string& key, size_t stage, size_t branches) const {
    const Yaml& list = stages.items[stage];
    if (list.kind != Yaml::Kind::List)
      malformed(list, "ANYNET.", key, ", stage ", stage + 1, ", is ", list.shown(), ", not a list of branches");
    if (list.items.size() != branches)
      malformed(list, "ANYNET.", key, ", stage ", stage + 1, ", has ", list.items.size(), " branches, DEPTHS has ",
                branches);
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

  void read_stages(Config& c) {
    const Yaml& depths = required("ANYNET", "DEPTHS");
    const size_t n = depths.items.size();
    if (n == 0) malformed(depths, "ANYNET.DEPTHS is empty; a network without stages has no branches");
    if (n > kMostStages) malformed(depths, "ANYNET.DEPTHS has ", n, " stages, more than ", kMostStages);
    const Yaml& widths = required_by_stage("WIDTHS", n);
    const Yaml& strides = required_by_stage("STRIDES", n);
    const Yaml *bottlenecks = by_stage("BOT_MULS", n), *groups = by_stage("GROUP_WS", n),
               *kernels = by_stage("KERNELS", n), *merged = by_stage("ORIGINAL_WIDTHS", n);
    const bool bottleneck = c.block == Block::Bottleneck, inverted = c.block == Block::InvertedBottleneck;
    if (bottleneck) required_by_stage("GROUP_WS", n);
    if (bottleneck || inverted) required_by_stage("BOT_MULS", n);
    if (inverted) required_by_stage("KERNELS", n);
    if (c.version == 1) required_by_stage("ORIGINAL_WIDTHS", n);
    const std::vector<Activation> activations = read_activations(c);
    for (size_t s = 0; s < n; ++s) {
      const Yaml& ds = depths.items[s];
      if (ds.kind != Yaml::Kind::List || ds.items.empty())
        malformed(ds, "ANYNET.DEPTHS, stage ", s + 1, ", is ", ds.shown(), ", not a list of branches");
      const size_t branches = ds.items.size();
      if (branches > devices_.size())
        malformed(ds, "stage ", s + 1, " has ", branches, " branches, and ANYNET.DEVICES names ", devices_.size(),
                  " devices");
      const Yaml& ws = branch_list(widths, "WIDTHS", s, branches);
      const Yaml& ss = stride_list(strides, s, branches);
      const bool each = bottlenecks != nullptr && bottlenecks->items[s].kind == Yaml::Kind::List;
      const Yaml* bs = each ? &branch_list(*bottlenecks, "BOT_MULS", s, branches) : nullptr;
      const Yaml* gs = groups == nullptr ? nullptr : &branch_list(*groups, "GROUP_WS", s, branches);
      const auto name = [&](const char* key) { return cat("ANYNET.", key, ", stage ", s + 1, ","); };
      Stage stage;
      if (kernels != nullptr) stage.kernel = odd("KERNELS", whole(kernels->items[s], name("KERNELS"), 1, 63));
      int64_t sum = 0;
      for (size_t b = 0; b < branches; ++b) {
        Branch branch;
        branch.device = devices_[b];
        branch.depth = whole(ds.items[b], name("DEPTHS"), 1, kMostDepth);
        branch.width = whole(ws.items[b], name("WIDTHS"), 1, kMostWidth);
        branch.stride = whole(ss.items[b], name("STRIDES"), 1, 8);
        if (branch.stride != whole(ss.items[0], name("STRIDES"), 1, 8))
          malformed(ss, name("STRIDES"),
                    " differ between branches; their outputs would differ in size and cannot be merged");
        if (bottlenecks != nullptr)
          branch.bottleneck = real(bs != nullptr ? bs->items[b] : bottlenecks->items[s], name("BOT_MULS"), 1e-3, 16);
        if (gs != nullptr) branch.group_width = whole(gs->items[b], name("GROUP_WS"), 1, kMostWidth);
        branch.activation = activations[b];
        sum += branch.width;
        stage.branches.push_back(std::move(branch));
      }
      stage.width = merged == nullptr ? sum : whole(merged->items[s], name("ORIGINAL_WIDTHS"), 1, kMostWidth);
      check_merged(c, stage, s, sum, merged);
      c.stages.push_back(std::move(stage));
    }
  }

  void check_merged(const Config& c, const Stage& stage, size_t s, int64_t sum, const Yaml* merged) const {
    const auto n = static_cast<int64_t>(stage.branches.size());
    if (c.version == 1 && stage.width % n != 0)
      malformed(*merged, "ANYNET.ORIGINAL_WIDTHS, stage ", s + 1, ", is ", stage.width, ", which ", n,
                " branches do not share evenly");
    if (c.version == 1 && n > 1 && !c.branches_stride)
      unsupported(*find("ANYNET", "MB_DOWNSAMPLE"),
                  "MB_DOWNSAMPLE: False with MB_VER: 1 was never defined; use MB_VER: 2");
    if (c.version == 1 || stage.width == sum) return;
    // Published configurations have such stages: pycls counts them and TensorFlow runs them, while PyTorch cannot.
    warn_(cat(path_, ":", merged->line, ": stage ", s + 1, " is ", sum, " wide by WIDTHS and ", stage.width,
              " by ORIGINAL_WIDTHS; the network has ", sum, " channels there, and is counted with ", stage.width,
              ", as pycls counts it"));
  }

  std::vector<Activation> read_activations(const Config& c) const {
    const Yaml* list = find("ANYNET", "ACTIVATION_FUN");
    std::vector<Activation> activations(devices_.size(), c.activation);
    if (list == nullptr || list->items.empty()) return activations;
    if (list->items.size() != devices_.size())
      malformed(*list, "ANYNET.ACTIVATION_FUN has ", list->items.size(), " entries, DEVICES has ", devices_.size());
    for (size_t i = 0; i < activations.size(); ++i)
      activations[i] = activation_of(list->items[i], "ANYNET.ACTIVATION_FUN");
    return activations;
  }

  const Yaml tree_;
  const std::string path_;
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
  return ConfigReader(read_yaml(text, path), path, warn).read();
}

Config read_config(const std::string& path, const std::function<void(const std::string&)>& warn) {
  return parse_config(read_file(path), path, warn);
}

}  // namespace dnn::branch
