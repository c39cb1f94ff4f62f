// Reading packs; see pack.h.
#include "image/pack.h"

#include <set>

#include "base/box.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"

namespace dnn {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "dnnd\r\n\x1a\n"sv;
constexpr uint32_t kVersion = 1, kNoClass = UINT32_MAX;
constexpr size_t kLeastRow = 64;

template <class T>
void put(std::string* text, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  text->append(bytes, sizeof(T));
}

void put(std::string* text, const Sha256& digest) {
  text->append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

Sha256 take_digest(ByteReader& reader) {
  Sha256 digest;
  const Bytes bytes = reader.take(digest.size());
  std::memcpy(digest.data(), bytes.data(), digest.size());
  return digest;
}

// A path below a folder, on one line: others open what a name says, and list them.
bool is_plain(const std::string& name) {
  if (name.empty() || has_controls(name)) return false;
  for (const std::string& part : split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

int as_extent(uint32_t value) {
  if (value < 1 || value > static_cast<uint32_t>(kMaxImagePixels))
    fail_malformed("an image of ", value, " pixels a side");
  return static_cast<int>(value);
}

ImageSize take_pixels(ByteReader& reader) {
  const int width = as_extent(reader.u32());
  return {width, as_extent(reader.u32())};
}

PackedImage take_image(ByteReader& reader, const packing::Header& header) {
  PackedImage image;
  image.offset = reader.u64();
  image.size = reader.u64();
  const uint32_t label = reader.u32();
  image.pixels = take_pixels(reader);
  const uint32_t length = reader.u32();
  image.digest = take_digest(reader);
  image.name = as_text(reader.take(length));
  if (!is_plain(image.name))
    fail_malformed("an image is called ", quoted(image.name), ", which is no path below a folder");
  if (image.size == 0 || image.offset < packing::kHeaderSize || image.offset > header.index_offset ||
      image.size > header.index_offset - image.offset)
    fail_malformed(image.name, ": its bytes are not before the index");
  if (label != kNoClass && label >= header.classes)
    fail_malformed(image.name, ": class ", label, " of ", header.classes);
  if (label != kNoClass) image.label = static_cast<int64_t>(label);
  return image;
}

}  // namespace

namespace packing {

Sha256 digest_of(Bytes bytes) {
  const std::string hex = sha256_hex(bytes);
  Sha256 digest;
  const auto digit = [&](size_t i) { return hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10; };
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(digit(2 * i) * 16 + digit(2 * i + 1));
  return digest;
}

std::string header_text(const Header& header) {
  std::string text(kMagic);
  put(&text, kVersion);
  put(&text, static_cast<uint32_t>(kHeaderSize));
  put(&text, header.index_offset);
  put(&text, header.index_size);
  put(&text, header.images);
  put(&text, header.classes);
  put(&text, header.digest);
  text.resize(kHeaderSize, '\0');
  return text;
}

Header parse_header(Bytes file) {
  ByteReader reader(file, "the header");
  if (as_text(reader.take(kMagic.size())) != kMagic) fail_malformed("not a pack of images: no signature");
  if (const uint32_t version = reader.u32(); version != kVersion)
    fail_unsupported("a pack of version ", version, "; this is for version ", kVersion);
  if (reader.u32() != kHeaderSize) fail_malformed("its header is damaged");
  Header header;
  header.index_offset = reader.u64();
  header.index_size = reader.u64();
  header.images = reader.u64();
  header.classes = reader.u64();
  header.digest = take_digest(reader);
  reader.take(kHeaderSize - reader.position());
  return header;
}

std::string record_text(const Record& record) {
  std::string text;
  put(&text, record.size);
  put(&text, static_cast<uint32_t>(record.pixels.width));
  put(&text, static_cast<uint32_t>(record.pixels.height));
  put(&text, record.digest);
  return text;
}

Record parse_record(ByteReader& reader) {
  Record record;
  record.size = reader.u64();
  const uint32_t width = reader.u32(), height = reader.u32();
  if (record.size != 0) record.pixels = {as_extent(width), as_extent(height)};
  record.digest = take_digest(reader);
  return record;
}

std::string index_text(const PackIndex& index) {
  std::string text;
  for (const std::string& name : index.classes) {
    put(&text, static_cast<uint32_t>(name.size()));
    text += name;
  }
  for (const PackedImage& image : index.images) {
    put(&text, image.offset);
    put(&text, image.size);
    put(&text, image.label ? static_cast<uint32_t>(*image.label) : kNoClass);
    put(&text, static_cast<uint32_t>(image.pixels.width));
    put(&text, static_cast<uint32_t>(image.pixels.height));
    put(&text, static_cast<uint32_t>(image.name.size()));
    put(&text, image.digest);
    text += image.name;
  }
  return text;
}

}  // namespace packing

bool looks_like_pack(Bytes head) {
  return head.size() >= kMagic.size() && as_text(head.first(kMagic.size())) == kMagic;
}

bool is_pack(const std::string& path) { return looks_like_pack(as_bytes(read_head(path, kMagic.size()))); }

PackIndex parse_pack(Bytes file) {
  const packing::Header header = packing::parse_header(file);
  if (header.index_offset == 0) fail_malformed("it is not finished; dnn-pack --resume goes on with it");
  if (header.index_offset > file.size() || header.index_size != file.size() - header.index_offset)
    fail_malformed("it has ", file.size(), " bytes, its index should end at ", header.index_offset, " + ",
                   header.index_size);
  const Bytes bytes = file.subspan(header.index_offset);
  if (packing::digest_of(bytes) != header.digest) fail_malformed("its index is damaged: the checksum is wrong");
  if (header.images > bytes.size() / kLeastRow || header.classes > bytes.size() / sizeof(uint32_t))
    fail_malformed("its index holds no ", header.images, " images of ", header.classes, " classes");
  ByteReader reader(bytes, "the index");
  PackIndex index;
  std::set<std::string> names;
  for (uint64_t i = 0; i < header.classes; ++i) {
    const uint32_t length = reader.u32();
    index.classes.emplace_back(as_text(reader.take(length)));
    const std::string& name = index.classes.back();
    if (!is_plain(name) || name.find('/') != std::string::npos) fail_malformed("a class is called ", quoted(name));
    if (!names.insert(name).second) fail_malformed("class ", quoted(name), " is there twice");
  }
  index.images.reserve(header.images);
  for (uint64_t i = 0; i < header.images; ++i) {
    index.images.push_back(take_image(reader, header));
    if (i > 0 && index.images[i].name <= index.images[i - 1].name)
      fail_malformed(index.images[i].name, " is not in its place");
  }
  if (reader.remaining() != 0) fail_malformed(reader.remaining(), " bytes behind its index");
  return index;
}

ImagePack::ImagePack(const std::string& path) : path_(path), file_(path) {
  try {
    index_ = parse_pack(file_.bytes());
  } catch (Error& e) {
    e.within(path);
    throw;
  }
}

std::vector<Sample> ImagePack::samples() const {
  std::vector<Sample> samples;
  for (size_t i = 0; i < index_.images.size(); ++i) samples.push_back({path(i), std::nullopt});
  return samples;
}

Image ImagePack::read(size_t i, const DecodeOptions& options) const {
  const PackedImage& image = index_.images.at(i);
  const Bytes bytes = file_.bytes().subspan(image.offset, image.size);
  try {
    if (packing::digest_of(bytes) != image.digest) fail_malformed("its bytes are damaged: the checksum is wrong");
    Image decoded;
    in_kept_box([&] { decoded = decode_image(bytes, options); });
    return decoded;
  } catch (Error& e) {
    e.within(path(i));
    throw;
  }
}

}  // namespace dnn
