// Where samples come from; see sample_source.h.
#include "infer/sample_source.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/random.h"
#include "base/read_limit.h"
#include "graph/tensor_text.h"
#include "image/image.h"
#include "image/pack.h"
#include "stream/dialogue.h"
#include "tensor/npy.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

// Samples whose arrays are in memory already.
class ReadySource : public SampleSource {
 public:
  explicit ReadySource(std::vector<LoadedSample> samples) : samples_(std::move(samples)) {}
  std::optional<int64_t> count() const override { return static_cast<int64_t>(samples_.size()); }
  std::optional<Load> next() override {
    if (next_ == samples_.size()) return std::nullopt;
    return [sample = std::move(samples_[next_++])] { return sample; };
  }

 private:
  std::vector<LoadedSample> samples_;
  size_t next_ = 0;
};

// Samples of arrays, cut off one by one: an array may hold more of them than there is room for at once.
class ArraySource : public SampleSource {
 public:
  ArraySource(std::vector<SampleCutter> slots, std::string path, int64_t count, int64_t first_id, Shard shard)
      : slots_(std::move(slots)), path_(std::move(path)), count_(count), first_id_(first_id), shard_(shard) {}
  std::optional<int64_t> count() const override {
    const int64_t before = (first_id_ + shard_.count - 1 - shard_.index) / shard_.count;
    return (first_id_ + count_ + shard_.count - 1 - shard_.index) / shard_.count - before;
  }
  std::optional<Load> next() override {
    while (next_ < count_ && (first_id_ + next_) % shard_.count != shard_.index) ++next_;
    if (next_ == count_) return std::nullopt;
    LoadedSample sample;
    sample.id = first_id_ + next_;
    sample.path = count_ == 1 ? path_ : cat(path_, "[", next_, "]");
    for (const SampleCutter& slot : slots_) sample.inputs.push_back(slot.at(next_));
    ++next_;
    return [s = std::move(sample)] { return s; };
  }

 private:
  const std::vector<SampleCutter> slots_;
  const std::string path_;
  const int64_t count_, first_id_;
  const Shard shard_;
  int64_t next_ = 0;
};

using Preprocessor = std::function<Tensor(const stream::Sample&)>;

// The network's input, as a user's program makes it.
Tensor ask_for_input(const Preprocessor& preprocessor, const LoadedSample& loaded, Image image, const InputSlot& slot) {
  stream::Sample sample{loaded.id, loaded.path, loaded.truth, Tensor(DType::UInt8, {image.height, image.width, 3})};
  if (!image.rgb.empty()) std::memcpy(sample.tensor.mutable_bytes(), image.rgb.data(), image.rgb.size());
  std::vector<Tensor> cut = cut_samples(preprocessor(sample), slot, "what its preprocessing gives");
  if (cut.size() != 1) fail_malformed("what its preprocessing gives holds ", cut.size(), " samples");
  return std::move(cut[0]);
}

// An image of a folder or a list, or one of a pack.
struct ImageEntry {
  int64_t id = 0;
  Sample sample;
  size_t packed = 0;  // its place in the pack
};

LoadedSample load_image(const ImageEntry& image_entry, const ImagePack* pack, const SourceOptions& options,
                        const InputSlot& slot) {
  const Sample& entry = image_entry.sample;
  LoadedSample sample;
  sample.id = image_entry.id;
  sample.path = entry.path;
  sample.truth = entry.truth;
  Image image;
  const bool upright = options.preprocess ? options.preprocess->apply_orientation : options.apply_orientation;
  try {
    DecodeOptions decode = {.apply_orientation = upright};
    if (options.preprocess) decode.grey16 = options.preprocess->grey16;
    if (!options.preprocessor) decode.reads = [&](ImageSize size) { return fit_reads(size, *options.preprocess); };
    image = pack == nullptr ? read_image(entry.path, decode) : pack->read(image_entry.packed, decode);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Internal) throw;
    sample.error = e;
    return sample;
  }
  if (!image.warning.empty()) sample.warning = entry.path + ": " + image.warning;
  try {
    sample.inputs = {options.preprocessor ? ask_for_input(options.preprocessor, sample, std::move(image), slot)
                                          : fit(to_tensor(image, *options.preprocess), slot)};
  } catch (Error& e) {
    e.within(entry.path);
    throw;
  }
  return sample;
}

class ImageSource : public SampleSource {
 public:
  ImageSource(std::vector<ImageEntry> entries, std::shared_ptr<const ImagePack> pack, SourceOptions options,
              InputSlot slot)
      : entries_(std::move(entries)), pack_(std::move(pack)), options_(std::move(options)), slot_(std::move(slot)) {}
  std::optional<int64_t> count() const override { return static_cast<int64_t>(entries_.size()); }
  std::optional<Load> next() override {
    if (next_ == entries_.size()) return std::nullopt;
    return [this, &entry = entries_[next_++]] { return load_image(entry, pack_.get(), options_, slot_); };
  }

 private:
  const std::vector<ImageEntry> entries_;
  const std::shared_ptr<const ImagePack> pack_;
  const SourceOptions options_;
  const InputSlot slot_;
  size_t next_ = 0;
};

// The samples of a stream as they arrive. A sample is complete when the next one begins.
class StreamSource : public SampleSource {
 public:
  StreamSource(std::unique_ptr<ByteSource> bytes, const std::string& name, const BatchPlan& plan, int64_t first_id,
               Shard shard)
      : bytes_(std::move(bytes)),
        name_(name),
        reader_(*bytes_, name),
        slots_(plan.slots),
        next_id_(first_id),
        shard_(shard) {
    while (std::optional<stream::Record> record = reader_.next()) {
      if (auto* header = std::get_if<stream::Header>(&*record)) {
        headers_.push_back(std::move(*header));
      } else {
        ahead_ = std::move(record);
        break;
      }
    }
  }
  std::vector<stream::Header> provenance() const override { return headers_; }

  std::optional<Load> next() override {
    while (std::optional<LoadedSample> sample = read_one()) {
      if (sample->id % shard_.count == shard_.index) return [s = std::move(*sample)] { return s; };
    }
    return std::nullopt;
  }

 private:
  std::optional<stream::Record> take() {
    if (!ahead_) return reader_.next();
    std::optional<stream::Record> record = std::move(ahead_);
    ahead_.reset();
    return record;
  }

  std::optional<LoadedSample> read_one() {
    std::optional<stream::Sample> current;
    std::vector<Tensor> inputs(slots_.size());
    while (std::optional<stream::Record> record = take()) {
      if (auto* sample = std::get_if<stream::Sample>(&*record)) {
        if (current) {
          ahead_ = std::move(record);
          break;
        }
        current = std::move(*sample);
      } else if (auto* tensor = std::get_if<stream::TensorRecord>(&*record)) {
        if (tensor->role != stream::Role::Input || !current || tensor->sample != current->id) continue;
        for (size_t i = 0; i < slots_.size(); ++i) {
          if (slots_[i].name == tensor->name) inputs[i] = std::move(tensor->tensor);
        }
      }
    }
    if (!current) {
      if (reader_.truncated()) throw reader_.truncation();
      return std::nullopt;
    }
    if (current->tensor.defined() && slots_.size() == 1 && !inputs[0].defined()) inputs[0] = std::move(current->tensor);
    LoadedSample sample;
    sample.id = next_id_++;
    sample.path = current->path;
    sample.truth = current->truth;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const std::string what = cat(name_, ": sample ", current->id);
      if (!inputs[i].defined()) {
        fail_malformed(what, ": no tensor for input '", slots_[i].name, "'; write the stream with --sample-tensors");
      }
      std::vector<Tensor> cut = cut_samples(inputs[i], slots_[i], what);
      if (cut.size() != 1) fail_malformed(what, ": holds ", cut.size(), " samples");
      sample.inputs.push_back(std::move(cut[0]));
    }
    return sample;
  }

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  stream::Reader reader_;
  std::vector<InputSlot> slots_;
  int64_t next_id_;
  Shard shard_;
  std::vector<stream::Header> headers_;
  std::optional<stream::Record> ahead_;
};

class Chain : public SampleSource {
 public:
  explicit Chain(std::vector<std::unique_ptr<SampleSource>> parts) : parts_(std::move(parts)) {}
  std::optional<int64_t> count() const override {
    int64_t total = 0;
    for (const auto& part : parts_) {
      const std::optional<int64_t> n = part->count();
      if (!n) return std::nullopt;
      total += *n;
    }
    return total;
  }
  std::vector<stream::Header> provenance() const override {
    std::vector<stream::Header> all;
    for (const auto& part : parts_) {
      for (stream::Header& header : part->provenance()) all.push_back(std::move(header));
    }
    return all;
  }
  std::optional<Load> next() override {
    for (; at_ < parts_.size(); ++at_) {
      if (std::optional<Load> load = parts_[at_]->next()) return load;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<SampleSource>> parts_;
  size_t at_ = 0;
};

enum class Kind { Images, ImageList, Pack, Array, Archive, Stream };

bool has_extension(const std::string& path, std::initializer_list<const char*> extensions) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

// What a file is by its first bytes; a text file is a list of images.
Kind kind_of(const std::string& path) {
  if (path == "-") return Kind::Stream;
  std::error_code ignored;
  if (stream::is_command(path) && !fs::exists(path, ignored))
    fail_usage("INPUT ", quoted(path),
               ": no such file, and an INPUT is not run; dnn-infer --fill exec:COMMAND runs a program");
  if (fs::is_directory(path, ignored)) return Kind::Images;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return Kind::Stream;  // a pipe is read but once
  PeekSource file(open_source(path));
  const Bytes head = file.peek(64);
  if (looks_like_pack(head)) return Kind::Pack;
  if (is_npy(head)) return Kind::Array;
  if (is_npz(head)) return Kind::Archive;
  if (stream::looks_like_stream(head)) return Kind::Stream;
  if (sniff_image(head) != ImageFormat::Unknown) return Kind::Images;
  return has_extension(path, {".txt", ".lst", ".list", ".tsv"}) ? Kind::ImageList : Kind::Images;
}

struct Named {
  std::string name, path;  // name "": a plain input
};

// "x=a.npy" names an input unless a file of that whole name exists.
Named parse_input(const std::string& text) {
  const size_t equals = text.find('=');
  std::error_code ignored;
  if (stream::is_command(text) || equals == std::string::npos || equals == 0 || fs::exists(text, ignored))
    return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

class Builder {
 public:
  Builder(const SourceOptions& options, const BatchPlan& plan) : o_(options), plan_(plan) {}

  std::unique_ptr<SampleSource> build() {
    std::vector<std::pair<std::string, Tensor>> named;
    std::vector<std::string> named_paths;
    for (const std::string& text : o_.inputs) {
      const Named input = parse_input(text);
      if (!input.name.empty()) {
        slot_of(input.name, input.path);
        named.emplace_back(input.name, read_array(input.path));
        named_paths.push_back(input.path);
        continue;
      }
      add(input.path);
    }
    if (!named.empty() && stream_) fail_usage(named_paths[0], ": a stream must be the last input");
    if (!named.empty()) add_arrays(named, join(named_paths, ","));
    return std::make_unique<Chain>(std::move(parts_));
  }

 private:
  void add(const std::string& path) {
    if (stream_) fail_usage(path, ": a stream must be the last input");
    switch (kind_of(path)) {
      case Kind::Images: return add_images(list_images({path}));
      case Kind::ImageList: return add_images(read_image_list(path, o_.labels ? *o_.labels : LabelSet()));
      case Kind::Pack: {
        auto pack = std::make_shared<const ImagePack>(path);
        std::vector<Sample> samples = pack->samples();
        return add_images(std::move(samples), std::move(pack));
      }
      case Kind::Array:
        if (plan_.slots.size() != 1) {
          fail_usage(path, ": the model has ", plan_.slots.size(), " inputs: say which this is, NAME=", path);
        }
        return add_arrays({{plan_.slots[0].name, read_array(path)}}, path);
      case Kind::Archive: return add_archive(path);
      case Kind::Stream:
        stream_ = true;
        parts_.push_back(
            std::make_unique<StreamSource>(open_source(path), source_name(path), plan_, next_id_, o_.shard));
        return;
    }
  }

  bool has_slot(const std::string& name) const {
    return std::any_of(plan_.slots.begin(), plan_.slots.end(),
                       [&](const InputSlot& slot) { return slot.name == name; });
  }

  size_t slot_of(const std::string& name, const std::string& path) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      if (plan_.slots[i].name == name) return i;
      names.push_back(plan_.slots[i].name);
    }
    fail_usage(path, ": the model has no input '", name, "'; it has ", join(names));
  }

  static Tensor read_array(const std::string& path) {
    const std::string file = read_file(path);
    try {
      return parse_npy(as_bytes(file));
    } catch (Error& e) {
      e.within(path);
      throw;
    }
  }

  void add_archive(const std::string& path) {
    std::vector<std::pair<std::string, Tensor>> arrays;
    const std::string file = read_file(path);
    const auto wants = [&](const std::string& name, DType dtype, const Shape& shape) {
      if (o_.of_others && !has_slot(name)) return false;
      const bool only = plan_.slots.size() == 1 && !has_slot(name);  // whatever an archive's only array is called
      count_samples(dtype, shape, plan_.slots[only ? 0 : slot_of(name, path)], path);
      return true;
    };
    try {
      arrays = parse_npz(as_bytes(file), wants,
                         o_.most_expanded != 0 ? static_cast<uint64_t>(o_.most_expanded) : read_memory_limit());
    } catch (Error& e) {
      if (std::string_view(e.what()).find(path) == std::string_view::npos) e.within(path);
      throw;
    }
    if (arrays.size() == 1 && plan_.slots.size() == 1) arrays[0].first = plan_.slots[0].name;
    add_arrays(arrays, path);
  }

  void add_arrays(const std::vector<std::pair<std::string, Tensor>>& arrays, const std::string& path) {
    std::vector<std::optional<SampleCutter>> by_slot(plan_.slots.size());
    for (const auto& [name, array] : arrays) {
      const size_t i = slot_of(name, path);
      if (by_slot[i])
        fail_usage(path, ": input '", name,
                   "' is given twice; further samples go into one array, or an .npz of their own");
      by_slot[i].emplace(array, plan_.slots[i], path);
    }
    const int64_t n = by_slot.empty() || !by_slot[0] ? 0 : by_slot[0]->count();
    std::vector<SampleCutter> slots;
    for (size_t i = 0; i < by_slot.size(); ++i) {
      if (!by_slot[i]) fail_usage(path, ": no array for input '", plan_.slots[i].name, "'");
      if (by_slot[i]->count() == 0)
        fail_usage(path, ": the array for input '", plan_.slots[i].name, "' holds no sample");
      if (by_slot[i]->count() != n) {
        fail_malformed(path, ": ", n, " samples for input '", plan_.slots[0].name, "', ", by_slot[i]->count(), " for '",
                       plan_.slots[i].name, "'");
      }
      slots.push_back(std::move(*by_slot[i]));
    }
    parts_.push_back(std::make_unique<ArraySource>(std::move(slots), path, n, next_id_, o_.shard));
    next_id_ += n;
  }

  void add_images(std::vector<Sample> images, std::shared_ptr<const ImagePack> pack = nullptr) {
    if (!o_.preprocess && !o_.preprocessor) {
      fail_usage("images want a preprocessing: --preprocess ", join(preprocess_names(), "|"), ", or spell it out");
    }
    if (plan_.slots.size() != 1) fail_usage("images are for models with one input; this one has ", plan_.slots.size());
    const InputSlot& slot = plan_.slots[0];
    if (o_.preprocess && o_.preprocess->shape() != slot.shape) {
      fail_usage("the preprocessing makes ", shape_text(o_.preprocess->shape()), ", input '", slot.name, "' wants ",
                 shape_text(slot.shape));
    }
    if (o_.labels) find_truth(&images, *o_.labels, o_.truth);
    std::vector<ImageEntry> entries;
    for (size_t i = 0; i < images.size(); ++i) {
      Sample& image = images[i];
      if (image.truth) *image.truth -= o_.label_offset;
      const int64_t id = next_id_++;
      if (in_shard(id)) entries.push_back({id, std::move(image), i});
    }
    parts_.push_back(std::make_unique<ImageSource>(std::move(entries), std::move(pack), o_, slot));
  }

  bool in_shard(int64_t id) const { return id % o_.shard.count == o_.shard.index; }

  const SourceOptions& o_;
  const BatchPlan& plan_;
  std::vector<std::unique_ptr<SampleSource>> parts_;
  int64_t next_id_ = 0;
  bool stream_ = false;  // how many samples it holds is not known, so nothing can be numbered behind it
};

constexpr uint64_t kMostGenerated = uint64_t{64} << 20;

// How large --fill makes inputs is what the model's file says.
void check_generated_size(const SourceOptions& o, const BatchPlan& plan) {
  const uint64_t most = std::max(read_memory_limit(), kMostGenerated);
  uint64_t bytes = 0;
  for (const InputSlot& slot : plan.slots) {
    const uint64_t one = static_cast<uint64_t>(element_count(slot.shape)) * dtype_size(slot.dtype);
    bytes = one > most ? one : bytes + one;
    if (reading_is_limited() && bytes > most)
      fail_unsupported("input '", slot.name, "' is ", dtype_name(slot.dtype), shape_text(slot.shape), "; --fill ",
                       o.fill, " makes samples of up to ", most / 1'000'000, " MB; --max-memory BYTES allows more");
  }
}

std::unique_ptr<SampleSource> generated(const SourceOptions& o, const BatchPlan& plan) {
  check_generated_size(o, plan);
  std::vector<LoadedSample> samples;
  for (int64_t id = 0; id < o.fill_count; ++id) {
    if (id % o.shard.count != o.shard.index) continue;
    LoadedSample sample;
    sample.id = id;
    sample.path = o.fill == "random" ? cat("random:", o.seed, ":", id) : cat(o.fill, ":", id);
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const InputSlot& slot = plan.slots[i];
      if (slot.dtype == DType::String) fail_unsupported("input '", slot.name, "': --fill makes no strings");
      if (o.fill == "random") {
        const uint64_t place = static_cast<uint64_t>(id) * plan.slots.size() + i;
        sample.inputs.push_back(fit(random_tensor(slot.dtype, slot.shape, o.seed + place * kSplitMixStep), slot));
      } else {
        Tensor tensor(DType::Float32, slot.shape);
        float* values = tensor.mutable_data<float>();
        std::fill(values, values + tensor.size(), o.fill == "ones" ? 1.0f : 0.0f);
        sample.inputs.push_back(convert(tensor, slot.dtype));
      }
    }
    samples.push_back(std::move(sample));
  }
  return std::make_unique<ReadySource>(std::move(samples));
}

}  // namespace

Shard Shard::parse(const std::string& text) {
  Shard shard;
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() != 2 || !parse_int(parts[0], &shard.index) || !parse_int(parts[1], &shard.count) ||
      shard.count < 1 || shard.index < 0 || shard.index >= shard.count) {
    fail_usage("--shard: '", text, "' is not of the form i/n with 0 <= i < n");
  }
  return shard;
}

std::string Shard::text() const { return count == 1 ? "" : cat(index, "/", count); }

const std::vector<std::string>& fill_names() {
  static const std::vector<std::string> names = {"zeros", "ones", "random"};
  return names;
}

void check_fill(const std::string& name) {
  if (!name.empty() && std::find(fill_names().begin(), fill_names().end(), name) == fill_names().end())
    fail_usage("--fill: '", name, "' is none of ", join(fill_names(), ", "));
}

std::vector<ImageFile> image_files(const std::vector<std::string>& inputs) {
  std::vector<ImageFile> files;
  for (const std::string& text : inputs) {
    const Named input = parse_input(text);
    const Kind kind = kind_of(input.path);
    const bool listed = kind == Kind::ImageList, packed = kind == Kind::Pack;
    if (!input.name.empty() || (kind != Kind::Images && !listed && !packed)) return {};
    size_t place = 0;
    for (Sample& image : listed ? read_image_list(input.path, LabelSet()) : list_images({input.path}))
      files.push_back(packed ? ImageFile{input.path, place++} : ImageFile{std::move(image.path)});
  }
  return files;
}

bool names_images(const std::vector<std::string>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const std::string& text) {
    const Named input = parse_input(text);
    if (!input.name.empty()) return false;
    const Kind kind = kind_of(input.path);
    return kind == Kind::Images || kind == Kind::ImageList || kind == Kind::Pack;
  });
}

std::unique_ptr<SampleSource> open_samples(const SourceOptions& options, const BatchPlan& plan) {
  if (!stream::is_command(options.fill)) check_fill(options.fill);
  if (!options.fill.empty()) {
    if (!options.inputs.empty()) fail_usage("--fill generates the inputs, so ", options.inputs[0], " has no use");
    if (stream::is_command(options.fill)) {
      auto bytes = stream::program_source(options.fill, options.for_programs, options.wait_s);
      return std::make_unique<StreamSource>(std::move(bytes), options.fill, plan, 0, options.shard);
    }
    return generated(options, plan);
  }
  if (options.inputs.empty()) fail_usage("no INPUT given: images, folders, arrays, a stream, or --fill random");
  return Builder(options, plan).build();
}

}  // namespace dnn
