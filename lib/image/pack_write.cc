// Making packs; see pack_write.h.
#include "image/pack_write.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>

#include "base/box.h"
#include "base/error.h"
#include "base/inside.h"
#include "base/io.h"
#include "base/private.h"
#include "base/text.h"
#include "base/threads.h"
#include "image/data_set.h"
#include "image/encode.h"
#include "image/resize.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

// The bytes that are stored of one image.
struct Stored {
  std::string bytes, warning;
  ImageSize pixels;
  bool anew = false;
  std::optional<Error> error;
};

// A file that is added to, and may be there from an earlier run.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path) : path_(path), fd_(open_locked(path)) {}
  ~PartialFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  uint64_t size() const { return size_; }
  int descriptor() const { return fd_; }
  // Goes on behind the first `size` bytes; the others are dropped.
  void cut(uint64_t size) {
    if (::ftruncate(fd_, static_cast<off_t>(size)) != 0 || ::lseek(fd_, 0, SEEK_END) < 0) fail();
    size_ = size;
  }
  void write(Bytes bytes) {
    FdSink(fd_, path_).write(bytes);
    size_ += bytes.size();
  }
  void write_first(const std::string& text) {
    if (::lseek(fd_, 0, SEEK_SET) < 0) fail();
    FdSink(fd_, path_).write(as_bytes(text));
    if (::lseek(fd_, 0, SEEK_END) < 0) fail();
  }
  void sync() {
    if (::fsync(fd_) != 0) fail();
  }
  // Renamed before the lock goes: whoever gets it then sees that the file is the partial one no more.
  void move_to(const std::string& output) {
    if (::rename(path_.c_str(), output.c_str()) != 0) fail();
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) fail();
  }

 private:
  // A process that ended meanwhile may have put the file in its place, or removed it: then another one is opened.
  static int open_locked(const std::string& path) {
    constexpr int kTries = 16;
    for (int i = 0; i < kTries; ++i) {
      const int fd = open_growing(path, O_RDWR);
      struct stat here {
      }, there{};
      const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
      if (locked && ::fstat(fd, &here) == 0 && ::stat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
          here.st_ino == there.st_ino)
        return fd;
      ::close(fd);
      if (!locked) break;
    }
    fail_environment(path, ": another process is making it; wait for that, or choose another name");
  }

  [[noreturn]] void fail() const { fail_environment(path_, ": cannot write: ", std::strerror(errno)); }

  std::string path_;
  int fd_;
  uint64_t size_ = 0;
};

class PackWriter {
 public:
  PackWriter(const std::string& folder, const std::string& output, const PackOptions& options)
      : folder_(folder), output_(output), o_(options) {}

  PackSummary run() {
    list();
    const std::string partial = output_ + ".partial";
    const Sha256 plan = packing::digest_of(as_bytes(plan_));
    PartialFile file(partial);
    if (o_.resume) take_up(file, partial, plan);
    if (end_ != 0) {
      file.cut(end_);
    } else {
      file.cut(0);
      file.write(
          as_bytes(packing::header_text({.images = items_.size(), .classes = index_.classes.size(), .digest = plan})));
    }
    summary_.resumed = static_cast<int64_t>(next_);
    if (o_.progress) o_.progress(summary_.resumed);
    while (next_ < items_.size()) add_some(file);
    if (!broken_.empty()) {
      std::error_code ignored;
      fs::remove(partial, ignored);
      fail_malformed(broken_.size(), " of ", items_.size(),
                     " images cannot be read (--skip-broken leaves them out): ", join(broken_, "; "));
    }
    finish(file);
    return summary_;
  }

 private:
  void list() {
    DataSet set = list_data_set(folder_);
    index_.classes = std::move(set.classes);
    items_ = std::move(set.images);
    warn_of_links();
    plan_ = cat("max_side ", o_.max_side, " share ", o_.jpeg_share.value_or(-1), " quality ", o_.quality, " upright ",
                o_.apply_orientation, " skip ", o_.skip_broken, " seed ", o_.seed, "\n");
    for (const LabelledImage& item : items_) {
      struct stat status {};
      if (::stat(item.path.c_str(), &status) != 0) fail_environment(item.path, ": ", std::strerror(errno));
      plan_ += cat(item.name, "\t", status.st_size, "\t", status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec, "\n");
    }
  }

  // A pack is passed on: its maker is told what it holds of files beyond the folder.
  void warn_of_links() const {
    const auto leaves = [&](const fs::path& path) {
      std::error_code ignored;
      return fs::is_symlink(path, ignored) && !lies_in(path, folder_);
    };
    std::map<std::string, bool> folders;
    size_t n = 0;
    std::string first;
    for (const LabelledImage& item : items_) {
      const fs::path path(item.path), above = path.parent_path();
      const auto [known, fresh] = folders.try_emplace(above.string(), false);
      if (fresh) known->second = leaves(above);
      if (!known->second && !leaves(path)) continue;
      if (++n == 1) first = (known->second ? above : path).string();
    }
    if (n > 0 && o_.warn)
      o_.warn(cat(n, " of ", items_.size(), " images lie outside ", folder_, ", behind links as ", first,
                  ": who gets the pack gets them"));
  }

  // Takes over the images that an earlier run stored, up to the first that is not whole.
  void take_up(const PartialFile& partial_file, const std::string& partial, const Sha256& plan) {
    const MappedFile file(partial_file.descriptor(), partial);
    const Bytes bytes = file.bytes();
    if (bytes.size() < packing::kHeaderSize) return;
    const packing::Header header = packing::parse_header(bytes);
    if (header.index_offset != 0 || header.digest != plan)
      fail_usage(partial, ": it is of other images or options; without --resume it is made anew");
    ByteReader reader(bytes, "the partial file");
    reader.seek(packing::kHeaderSize);
    end_ = reader.position();
    while (next_ < items_.size() && reader.remaining() >= packing::kRecordSize) {
      const packing::Record record = packing::parse_record(reader);
      const uint64_t offset = reader.position();
      if (record.size > reader.remaining() || record.size + packing::padding(record.size) > reader.remaining()) break;
      const Bytes stored = reader.take(record.size);
      if (record.size == 0 ? !o_.skip_broken : packing::digest_of(stored) != record.digest) break;
      reader.take(packing::padding(record.size));
      remember(record, offset);
      end_ = reader.position();
    }
  }

  void remember(const packing::Record& record, uint64_t offset) {
    const LabelledImage& item = items_[next_++];
    if (record.size == 0) {
      ++summary_.skipped;
      return;
    }
    index_.images.push_back({item.name, item.label, offset, record.size, record.pixels, record.digest});
  }

  // Some images at once, as many as keep the threads busy; written in their order.
  void add_some(PartialFile& file) {
    constexpr size_t kForEachThread = 16;
    const size_t threads = o_.threads > 0 ? o_.threads : available_processors();
    const size_t n = std::min(items_.size() - next_, kForEachThread * threads);
    std::vector<Stored> stored(n);
    BoxRules rules;
    rules.reads_all = true;  // images lie anywhere
    in_box(rules, [&] {
      ThreadPool pool(o_.threads);  // threads that a closed one starts are closed
      share_out(pool, static_cast<int64_t>(n),
                [&](int64_t i) { stored[i] = make(items_[next_ + static_cast<size_t>(i)]); });
    });
    for (const Stored& image : stored) {
      if (!image.warning.empty() && o_.warn) o_.warn(image.warning);
      packing::Record record;
      if (image.error && !o_.skip_broken) {
        constexpr size_t kNamed = 20;
        if (broken_.size() < kNamed)
          broken_.push_back(image.error->what());
        else if (broken_.size() == kNamed)
          broken_.push_back("...");
      } else if (image.error) {
        if (o_.warn) o_.warn(cat(image.error->what(), ": left out"));
      } else {
        record = {image.bytes.size(), image.pixels, packing::digest_of(as_bytes(image.bytes))};
        summary_.stored_anew += image.anew ? 1 : 0;
      }
      file.write(as_bytes(packing::record_text(record)));
      const uint64_t offset = file.size();
      file.write(as_bytes(image.error ? std::string() : image.bytes));
      file.write(as_bytes(std::string(packing::padding(record.size), '\0')));
      remember(record, offset);
    }
    if (o_.progress) o_.progress(static_cast<int64_t>(n));
  }

  Stored make(const LabelledImage& item) const {
    Stored stored;
    try {
      stored.bytes = read_regular_file(item.path);
      store(item, &stored);
    } catch (Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      if (std::string_view(e.what()).rfind(item.path, 0) != 0) e.within(item.path);
      stored.error = e;
    }
    return stored;
  }

  void store(const LabelledImage& item, Stored* stored) const {
    const std::string file = std::move(stored->bytes);
    Image image = decode_image(as_bytes(file));
    if (!image.warning.empty()) stored->warning = cat(item.path, ": ", image.warning);
    const bool is_jpeg = sniff_image(as_bytes(file)) == ImageFormat::Jpeg;
    const bool scaled = o_.max_side > 0 && std::max(image.width, image.height) > o_.max_side;
    const bool as_pixels = o_.jpeg_share && !draws_jpeg(item.name);
    stored->anew = scaled || as_pixels || (o_.jpeg_share && !is_jpeg);
    if (!stored->anew) {
      stored->pixels = {image.width, image.height};
      stored->bytes = file;
      return;
    }
    if (const int orientation = exif_orientation(as_bytes(file)); orientation != 1) {
      if (o_.apply_orientation) {
        image = dnn::apply_orientation(image, orientation);
      } else if (stored->warning.empty()) {
        stored->warning = cat(item.path, ": its EXIF orientation is dropped; --exif turns it upright");
      }
    }
    if (scaled) image = resize(image, scaled_size({image.width, image.height}), ResizeFilter::Box);
    stored->pixels = {image.width, image.height};
    stored->bytes = as_pixels ? encode_pnm(image) : encode_jpeg(image, o_.quality);
  }

  // The longer side is max_side; the other one is truncated.
  ImageSize scaled_size(ImageSize from) const {
    const int64_t longer = std::max(from.width, from.height);
    const auto side = [&](int extent) { return std::max(1, static_cast<int>(int64_t{extent} * o_.max_side / longer)); };
    return {side(from.width), side(from.height)};
  }

  // By the seed and the name alone: whatever else is packed.
  bool draws_jpeg(const std::string& name) const {
    const Sha256 digest = packing::digest_of(as_bytes(cat(o_.seed, "\n", name)));
    uint64_t bits;
    std::memcpy(&bits, digest.data(), sizeof bits);
    return static_cast<double>(bits >> 11) * 0x1p-53 < *o_.jpeg_share;
  }

  void finish(PartialFile& file) {
    if (index_.images.empty()) fail_malformed("none of ", items_.size(), " images can be read");
    const std::string index = packing::index_text(index_);
    const packing::Header header = {.index_offset = file.size(),
                                    .index_size = index.size(),
                                    .images = index_.images.size(),
                                    .classes = index_.classes.size(),
                                    .digest = packing::digest_of(as_bytes(index))};
    file.write(as_bytes(index));
    file.sync();
    file.write_first(packing::header_text(header));
    file.sync();
    summary_.size_bytes = file.size();
    summary_.images = static_cast<int64_t>(index_.images.size());
    summary_.classes = static_cast<int64_t>(index_.classes.size());
    file.move_to(output_);
  }

  const std::string folder_, output_;
  const PackOptions& o_;
  std::vector<LabelledImage> items_;
  std::string plan_;
  PackIndex index_;
  size_t next_ = 0;   // of items_: the first that is not stored
  uint64_t end_ = 0;  // of what an earlier run stored
  std::vector<std::string> broken_;
  PackSummary summary_;
};

}  // namespace

PackSummary write_pack(const std::string& folder, const std::string& output, const PackOptions& options) {
  return PackWriter(folder, output, options).run();
}

}  // namespace dnn
