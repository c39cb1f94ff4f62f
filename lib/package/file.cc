// .dnnpkg files; see file.h and schemas/package.fbs.
#include "package/file.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(DNN_STATIC)
#include <xxh_x86dispatch.h>  // by the widest vectors that this processor has
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/keyed_tag.h"
#include "base/private.h"
#include "base/read_limit.h"
#include "base/sha256.h"
#include "package/join.h"
#include "package/placed.h"
#include "package/variant_fb.h"

namespace dnn {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr char kMagic[8] = {'D', 'N', 'N', 'P', 'K', 'G', 0, 1};
constexpr size_t kHead = 56;  // magic, manifest size, HMAC, checksum
constexpr size_t kAlign = 64;
constexpr uint32_t kLanes = 6;  // of packages with a plan by which several runs are on their way at once
constexpr uint32_t kShared =
    5;  // of those with a plan for the processors of one machine, which share one package's steps out
constexpr uint32_t kPlaced = 4;       // of those with another plan for several devices
constexpr uint32_t kPlain = 3;        // of all others; of older ones the source alone is read
constexpr uint64_t kLarge = 1 << 16;  // bytes of a constant that is not read before it is needed

Sha256 sign(Bytes manifest, const PackageKey& key) {
  return key.secret.empty() ? Sha256{} : hmac_sha256(as_bytes(key.secret), manifest);
}

// Finds damage, not malice; never 0.
uint64_t checksum(Bytes bytes) { return std::max<uint64_t>(1, XXH3_64bits(bytes.data(), bytes.size())); }

// Find both.
struct BlobTags {
  explicit BlobTags(const PackageKey& key)
      : made(as_bytes(key.secret), "blobs of packages", TagHash::Umac64),
        before(as_bytes(key.secret), "blobs of packages", TagHash::Umac128) {}
  bool hold(Bytes bytes, const Tag& tag) const { return made.holds(bytes, tag) || before.holds(bytes, tag); }

  KeyedTags made, before;  // before: of packages of an earlier version
};

std::optional<BlobTags> tags_of(const PackageKey& key) {
  return key.secret.empty() ? std::nullopt : std::optional<BlobTags>(key);
}

fb::Tag packed_tag(const Tag& tag) {
  uint64_t low = 0, high = 0;
  std::memcpy(&low, tag.data(), sizeof low);
  std::memcpy(&high, tag.data() + sizeof low, sizeof high);
  return {low, high};
}

Tag unpacked_tag(const fb::Tag& tag) {
  const uint64_t low = tag.low(), high = tag.high();
  Tag result{};
  std::memcpy(result.data(), &low, sizeof low);
  std::memcpy(result.data() + sizeof low, &high, sizeof high);
  return result;
}

size_t aligned(size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// Blobs in the order they are stored, equal ones once. Their offsets depend on the manifest's size and that on the offsets' presence,
// not their values, so the manifest is built twice: before settle(), when offsets are 0, and after.
class BlobStore {
 public:
  struct Place {
    Bytes bytes;
    size_t offset = kHead;
    uint64_t checksum = 0;
    std::optional<Tag> tag = {};
    std::string sha256 = {};
  };
  explicit BlobStore(const PackageKey& key) : tags_(tags_of(key)) {}
  const Place& add(Bytes bytes) {
    if (bytes.empty()) return none_;
    const auto [entry, fresh] = by_address_.try_emplace({bytes.data(), bytes.size()});
    if (fresh) entry->second = place_of(bytes);
    return places_[entry->second];
  }
  // Small blobs lie together: to read one that lies between large ones, a system reads megabytes around it.
  void settle(size_t first_offset) {
    for (size_t i = 0; i < places_.size(); ++i) order_.push_back(i);
    std::stable_partition(order_.begin(), order_.end(), [&](size_t i) { return places_[i].bytes.size() < kLarge; });
    for (size_t i : order_) {
      places_[i].offset = first_offset;
      first_offset = aligned(first_offset + places_[i].bytes.size());
    }
  }
  std::vector<Bytes> blobs() const {
    std::vector<Bytes> result;
    for (size_t i : order_) result.push_back(places_[i].bytes);
    return result;
  }

 private:
  size_t place_of(Bytes bytes) {
    const std::string digest = sha256_hex(bytes);
    const auto [entry, fresh] = by_digest_.try_emplace(digest, places_.size());
    if (fresh) {
      places_.push_back({bytes, 0, checksum(bytes), {}, digest});
      if (tags_) places_.back().tag = tags_->made(bytes);
    }
    return entry->second;
  }

  std::optional<BlobTags> tags_;
  const Place none_ = {};
  std::vector<Place> places_;
  std::map<std::pair<const std::byte*, size_t>, size_t> by_address_;
  std::map<std::string, size_t> by_digest_;
  std::vector<size_t> order_;
};

Offset<fb::Info> pack_info(FlatBufferBuilder& b, const PackageInfo& i) {
  const auto path = b.CreateString(i.model_path), sha = b.CreateString(i.model_sha256),
             format = b.CreateString(i.model_format), compiler = b.CreateString(i.compiler),
             dtype = b.CreateString(i.dtype), version = b.CreateString(i.tool_version);
  const auto names = b.CreateVectorOfStrings(i.passes);
  return fb::CreateInfo(b, path, sha, format, i.opt, compiler, names, dtype, version);
}

Offset<fb::Manifest> pack_package(FlatBufferBuilder& b, const Package& p, const StoreBlob& put);

Offset<fb::Placed> pack_placed(FlatBufferBuilder& b, const Placed& placed, const StoreBlob& put) {
  const auto parts = b.CreateVectorOfStrings(placed.parts);
  const auto pack = [&](const std::shared_ptr<const Package>& package) {
    return package == nullptr ? Offset<fb::Manifest>() : pack_package(b, *package, put);
  };
  std::vector<Offset<fb::Segment>> segments;
  for (const PlacedSegment& s : placed.segments) {
    const auto package = pack(s.package);
    const auto steps = s.steps.empty() ? 0 : b.CreateVector(std::vector<uint32_t>(s.steps.begin(), s.steps.end()));
    const auto name = b.CreateString(s.name);
    const auto inputs = b.CreateVector(s.inputs), outputs = b.CreateVector(s.outputs);
    segments.push_back(fb::CreateSegment(b, name, static_cast<uint32_t>(s.part), inputs, outputs, package, steps,
                                         static_cast<uint32_t>(s.way)));
  }
  const auto list = b.CreateVector(segments);
  const std::vector<uint32_t> lanes(placed.lanes.begin(), placed.lanes.end());
  const auto whole = pack(placed.whole);
  return fb::CreatePlaced(b, parts, list, whole, lanes.empty() ? 0 : b.CreateVector(lanes));
}

uint32_t version_of(const Placed* placed) {
  if (placed == nullptr) return kPlain;
  if (!placed->lanes.empty()) return kLanes;
  return placed->whole == nullptr ? kPlaced : kShared;
}

Offset<fb::Manifest> pack_package(FlatBufferBuilder& b, const Package& p, const StoreBlob& put) {
  const auto info = pack_info(b, p.info);
  std::vector<const Graph*> distinct;
  std::vector<Offset<fb::Graph>> graphs;
  std::vector<Offset<fb::Variant>> variants;
  for (const Variant& v : p.variants) {
    const auto at = std::find(distinct.begin(), distinct.end(), v.graph.get());
    const auto number = static_cast<uint32_t>(at - distinct.begin());
    if (at == distinct.end()) {
      distinct.push_back(v.graph.get());
      graphs.push_back(pack_graph(b, *v.graph, put));
    }
    variants.push_back(pack_variant(b, v, number, put));
  }
  std::vector<Offset<fb::Tensor>> constants;
  for (const Tensor& t : p.constants.all()) constants.push_back(pack_tensor(b, t, put));
  const auto source = pack_graph(b, p.source.kept() ? p.source.graph() : p.source.structure(), put);
  const auto cs = b.CreateVector(constants);
  const auto gs = b.CreateVector(graphs);
  const auto vs = b.CreateVector(variants);
  const auto placed = p.placed == nullptr ? Offset<fb::Placed>() : pack_placed(b, *p.placed, put);
  b.ForceDefaults(true);  // a version stands in each
  const auto manifest =
      fb::CreateManifest(b, version_of(p.placed.get()), info, source, cs, gs, vs, !p.source.kept(), placed);
  b.ForceDefaults(false);
  return manifest;
}

std::string build_manifest(const Package& p, BlobStore& blobs) {
  FlatBufferBuilder b(1 << 16);
  const StoreBlob put = [&](Bytes bytes) {
    const BlobStore::Place& place = blobs.add(bytes);
    const fb::Tag tag = place.tag ? packed_tag(*place.tag) : fb::Tag();
    const auto digest = b.CreateSharedString(place.sha256);
    b.ForceDefaults(true);  // so that offsets of 0 take as much room as others
    const auto blob =
        fb::CreateBlob(b, place.offset, place.bytes.size(), place.checksum, place.tag ? &tag : nullptr, digest);
    b.ForceDefaults(false);
    return blob;
  };
  b.Finish(pack_package(b, p, put));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

// What others wrote is no key of this user's, and what others may read is no secret.
PackageKey read_key(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail_environment(path, ": cannot open: ", std::strerror(errno));
  struct stat status {};
  std::string reason = "is not a 32-byte key";
  PackageKey key{std::string(33, '\0')};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    const ssize_t n = ::read(fd, key.secret.data(), key.secret.size());
    key.secret.resize(n < 0 ? 0 : static_cast<size_t>(n));
    if (key.secret.size() == 32) reason = why_not_private(status);
    if (reason.empty() && (status.st_mode & (S_IRGRP | S_IROTH)) != 0) reason = "others may read it";
  }
  ::close(fd);
  if (!reason.empty()) fail_environment(path, ": ", reason, "; remove it to have a new one made");
  return key;
}

}  // namespace

bool looks_like_package(Bytes first) {
  return first.size() >= sizeof kMagic && std::memcmp(first.data(), kMagic, sizeof kMagic) == 0;
}

PackageKey load_or_make_key(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return read_key(path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  make_private_folder(folder.empty() ? "." : folder);
  PackageKey key{std::string(32, '\0')};
  if (::getentropy(key.secret.data(), key.secret.size()) != 0) fail_environment("no random bytes for a key");
  // A link, unlike a rename, never replaces the key that another process made meanwhile and has signed with.
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
  if (fd < 0) fail_environment(path, ": cannot write: ", std::strerror(errno));
  const bool written = ::write(fd, key.secret.data(), key.secret.size()) == static_cast<ssize_t>(key.secret.size());
  const bool closed = ::close(fd) == 0;
  const bool linked = written && closed && ::link(temporary.c_str(), path.c_str()) == 0;
  const int reason = errno;
  ::unlink(temporary.c_str());
  if (linked) return key;
  if (written && closed && reason == EEXIST) return read_key(path);
  fail_environment(path, ": cannot write: ", std::strerror(reason));
}

struct PackageBytes::State {
  std::string manifest;
  Sha256 digest;
  std::vector<Bytes> blobs;  // behind the manifest, in their order
};

PackageBytes::PackageBytes(const Package& package, const PackageKey& key)
    : state_([&] {
        BlobStore blobs(key);
        const size_t manifest_size = build_manifest(package, blobs).size();
        blobs.settle(aligned(kHead + manifest_size));
        auto state = std::make_unique<State>();
        state->manifest = build_manifest(package, blobs);
        DNN_CHECK(state->manifest.size() == manifest_size);
        state->digest = sign(as_bytes(state->manifest), key);
        state->blobs = blobs.blobs();
        return state;
      }()) {}

PackageBytes::~PackageBytes() = default;

void PackageBytes::write(ByteSink& to) const {
  const std::string& manifest = state_->manifest;
  const uint64_t size = manifest.size();
  to.write(as_bytes(std::string_view(kMagic, sizeof kMagic)));
  to.write(as_bytes(std::string_view(reinterpret_cast<const char*>(&size), sizeof size)));
  to.write(as_bytes(std::string_view(reinterpret_cast<const char*>(state_->digest.data()), state_->digest.size())));
  const uint64_t sum = checksum(as_bytes(manifest));
  to.write(as_bytes(std::string_view(reinterpret_cast<const char*>(&sum), sizeof sum)));
  to.write(as_bytes(manifest));
  size_t at = kHead + manifest.size();
  for (Bytes blob : state_->blobs) {
    to.write(as_bytes(std::string(aligned(at) - at, '\0')));
    to.write(blob);
    at = aligned(at) + blob.size();
  }
}

void write_package(const Package& package, ByteSink& to, const PackageKey& key) {
  PackageBytes(package, key).write(to);
}

void write_package(const Package& package, const std::string& path, const PackageKey& key, unsigned mode) {
  AtomicFile file(path, mode);
  write_package(package, file, key);
  file.commit();
}

namespace {

// Finds blobs, and checks them: by their tags in a file that is trusted, by their sums in another.
class BlobReader {
 public:
  // `path` is for what is found later, `copy` what the blobs of the manifest lie in.
  BlobReader(Bytes bytes, std::shared_ptr<const void> owner, std::shared_ptr<const std::string> copy,
             std::optional<BlobTags> tags, std::string path)
      : bytes_(bytes),
        owner_(std::move(owner)),
        copy_(std::move(copy)),
        tags_(std::move(tags)),
        path_(std::move(path)) {}

  bool trusted() const { return tags_.has_value(); }
  Bytes find(const fb::Blob* blob) const {
    if (blob == nullptr) fail_malformed("a blob is missing");
    ByteReader at(bytes_, "package");
    at.seek(blob->offset());
    return at.take(blob->size());
  }
  Bytes check(const fb::Blob* blob) const {
    const Bytes content = find(blob);
    if (content.empty()) return content;
    if (!are(blob, content))
      fail_malformed("the ", content.size(), " bytes at ", blob->offset(),
                     " are damaged: remove the package and compile the model again");
    return content;
  }
  // Whether a copy of a blob that is not empty is what was written.
  bool are(const fb::Blob* blob, Bytes content) const {
    if (tags_) return blob->tag() != nullptr && tags_->hold(content, unpacked_tag(*blob->tag()));
    return blob->xxh3() == 0 || checksum(content) == blob->xxh3();
  }
  // The same where the file has been opened already.
  Bytes check_later(const fb::Blob* blob) const {
    try {
      return check(blob);
    } catch (Error& e) {
      if (!path_.empty()) e.within(path_);
      throw;
    }
  }

 private:
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::string> copy_;
  std::optional<BlobTags> tags_;
  std::string path_;
};

PackageInfo unpack_info(const fb::Info* i) {
  if (i == nullptr) return {};
  const auto text = [](const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); };
  PackageInfo info = {
      text(i->model_path()), text(i->model_sha256()), text(i->model_format()), i->opt(), text(i->compiler()), {},
      text(i->dtype()),      text(i->tool_version())};
  if (i->passes() != nullptr) {
    for (const auto* pass : *i->passes()) info.passes.push_back(pass->str());
  }
  return info;
}

// No run needs it: of a file that is trusted it is read when it is asked for.
SourceGraph unpack_source(const fb::Manifest& m, const BlobReader& blobs, const std::shared_ptr<const void>& owner,
                          OpenedFor what) {
  const auto structure = [&m, blobs, owner] {
    return unpack_graph(
        m.source(),
        [&](const fb::Blob* blob) {
          return blob == nullptr || blob->size() < kLarge ? blobs.check(blob) : blobs.find(blob);
        },
        owner);
  };
  const auto whole = [&m, blobs, owner]() -> Graph {
    if (m.source_without_constants())
      fail_environment("the package holds its model without weights: compile it with --keep-source");
    return unpack_graph(
        m.source(), [&](const fb::Blob* blob) { return blobs.check_later(blob); }, owner);
  };
  SourceGraph source(structure, !m.source_without_constants(), whole);
  if (what != OpenedFor::Running || !blobs.trusted()) source.structure();
  return source;
}

Constants unpack_constants(const fb::Manifest& m, const BlobReader& blobs, const std::shared_ptr<const void>& owner,
                           OpenedFor what) {
  Constants constants;
  if (m.constants() == nullptr) return constants;
  std::vector<const fb::Blob*> places;  // null for strings, which are in the manifest
  const LoadBlob load_behind = [&](const fb::Blob* blob) {
    places.back() = blob;
    return blobs.find(blob);
  };
  for (const auto* t : *m.constants()) {
    places.push_back(nullptr);
    constants.push_back(unpack_tensor(t, load_behind, owner));
  }
  if (what == OpenedFor::Running) {
    constants.check_behind([blobs, places](size_t i) {
      if (places[i] != nullptr) blobs.check_later(places[i]);
    });
    return constants;
  }
  for (const fb::Blob* blob : places) {
    if (blob != nullptr) blobs.check(blob);
  }
  return constants;
}

void unpack_variants(const fb::Manifest& m, const BlobReader& blobs, const std::shared_ptr<const void>& owner,
                     bool to_run, Package* package) {
  const LoadBlob load = [&](const fb::Blob* blob) { return blobs.check(blob); };
  const BlobSource source = {[&](const fb::Blob* blob) { return blobs.find(blob); }, load,
                             [&](const fb::Blob* blob, Bytes bytes) { return blobs.are(blob, bytes); }};
  std::vector<std::shared_ptr<const Graph>> graphs;
  if (m.graphs() != nullptr) {
    for (const auto* g : *m.graphs()) graphs.push_back(std::make_shared<const Graph>(unpack_graph(g, load, owner)));
  }
  if (m.variants() == nullptr || m.variants()->size() == 0) fail_malformed("it has no variants");
  for (const auto* v : *m.variants())
    package->variants.push_back(unpack_variant(v, graphs, package->constants.size(), to_run, source));
  for (const Variant& v : package->variants) {
    if (!alike(package->variants.front(), v))
      fail_malformed("the variants for ", package->variants.front().target.isa, " and ", v.target.isa,
                     " are not of one model");
  }
  const Graph& graph = package->graph();
  for (ValueId id : graph.inputs) package->input_types.push_back(graph.value(id).type);
  for (ValueId id : graph.outputs) package->output_types.push_back(graph.value(id).type);
}

std::shared_ptr<Package> unpack_package(const fb::Manifest& m, const BlobReader& blobs,
                                        const std::shared_ptr<const void>& owner, OpenedFor what) {
  auto package = std::make_shared<Package>();
  package->constants = unpack_constants(m, blobs, owner, what);
  unpack_variants(m, blobs, owner, what == OpenedFor::Running, package.get());
  package->info = unpack_info(m.info());
  package->source = unpack_source(m, blobs, owner, what);
  return package;
}

std::vector<ValueId> unpack_ids(const flatbuffers::Vector<int32_t>* ids) {
  check_alignment(ids, sizeof(int32_t));
  return ids == nullptr ? std::vector<ValueId>() : std::vector<ValueId>(ids->begin(), ids->end());
}

// A package within a plan.
std::shared_ptr<const Package> unpack_plain(const fb::Manifest* m, const std::string& what, const BlobReader& blobs,
                                            const std::shared_ptr<const void>& owner) {
  if (m == nullptr || m->version() != kPlain || m->placed() != nullptr)
    fail_malformed("the plan is damaged: ", what, " has no package");
  return unpack_package(*m, blobs, owner, OpenedFor::Anything);
}

std::shared_ptr<const Placed> unpack_placed(const fb::Placed& p, const BlobReader& blobs,
                                            const std::shared_ptr<const void>& owner) {
  const auto placed = std::make_shared<Placed>();
  if (p.parts() != nullptr) {
    for (const auto* part : *p.parts()) placed->parts.push_back(part->str());
  }
  if (p.whole() != nullptr) placed->whole = unpack_plain(p.whole(), "the whole", blobs, owner);
  check_alignment(p.lanes(), sizeof(uint32_t));
  if (p.lanes() != nullptr) placed->lanes.assign(p.lanes()->begin(), p.lanes()->end());
  if (p.segments() == nullptr) return placed;
  for (const auto* s : *p.segments()) {
    PlacedSegment segment;
    if (s->name() != nullptr) segment.name = s->name()->str();
    segment.part = s->part();
    segment.way = s->way();
    segment.inputs = unpack_ids(s->inputs());
    segment.outputs = unpack_ids(s->outputs());
    if (p.whole() == nullptr) {
      segment.package = unpack_plain(s->package(), cat("segment ", placed->segments.size()), blobs, owner);
    } else {
      check_alignment(s->steps(), sizeof(uint32_t));
      if (s->steps() != nullptr) segment.steps.assign(s->steps()->begin(), s->steps()->end());
      if (s->package() != nullptr) fail_malformed("the plan is damaged: a segment has a package beside the whole one");
    }
    placed->segments.push_back(std::move(segment));
  }
  return placed;
}

// All that a file holds; of a manifest whose checksum and signature were looked at.
void unpack_file(Bytes bytes, const std::shared_ptr<const void>& owner, const std::shared_ptr<const std::string>& copy,
                 const PackageKey& key, const std::string& path, OpenedFor what, OpenedPackage* opened) {
  const Bytes manifest = as_bytes(*copy);
  // Each table is at least a few bytes, but for the extents that values share.
  const auto most_tables = static_cast<flatbuffers::uoffset_t>(std::min<size_t>(manifest.size() + 4096, 1 << 28));
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(manifest.data()), manifest.size(), 256, most_tables);
  if (!fb::VerifyManifestBuffer(verifier)) fail_malformed("the manifest is damaged");
  const fb::Manifest* m = fb::GetManifest(manifest.data());
  if (m->version() > kLanes) fail_unsupported("package version ", m->version(), " is newer than this tool's ", kLanes);
  opened->older = m->version() < kPlain;
  opened->trusted = opened->trusted && !opened->older;
  const BlobReader blobs(bytes, owner, copy, opened->trusted ? tags_of(key) : std::nullopt, path);
  if (opened->older) {
    const SourceGraph source = unpack_source(*m, blobs, owner, what);
    opened->package = std::make_shared<Package>(interpreted_package(source.structure()));
    opened->package->info = unpack_info(m->info());
    opened->package->source = source;
    return;
  }
  opened->package = unpack_package(*m, blobs, owner, what);
  if (m->placed() != nullptr) opened->package->placed = unpack_placed(*m->placed(), blobs, owner);
  if (m->version() != version_of(opened->package->placed.get()))
    fail_malformed("the plan is damaged: version ", m->version(), m->placed() == nullptr ? " lacks" : " has", " parts");
  check_placed(*opened->package);
}

OpenedPackage parse(Bytes bytes, const std::shared_ptr<const void>& owner, const PackageKey& key,
                    const std::string& path, OpenedFor what) {
  ByteReader reader(bytes, "package");
  if (!looks_like_package(reader.take(sizeof kMagic))) fail_malformed("not a package of this version");
  const uint64_t size = reader.u64();
  const Bytes digest = reader.take(32);
  const uint64_t sum = reader.u64();
  // A copy of our own: what was checked is what is used, whoever writes the file meanwhile.
  const auto copy = std::make_shared<const std::string>(as_text(reader.take(size)));
  const Bytes manifest = as_bytes(*copy);
  if (checksum(manifest) != sum) fail_malformed("the manifest is damaged");
  OpenedPackage opened;
  opened.trusted = !key.secret.empty() && same_digest(sign(manifest, key), digest);
  const auto unpack = [&] { unpack_file(bytes, owner, copy, key, path, what, &opened); };
  if (opened.trusted) {
    unpack();
  } else {  // others may point at one part of it a thousand times
    read_within_limits(bytes.size(), path.empty() ? "the package" : path, unpack);
  }
  return opened;
}

}  // namespace

OpenedPackage parse_package(Bytes bytes, const std::shared_ptr<const void>& owner, const PackageKey& key) {
  return parse(bytes, owner, key, "", OpenedFor::Anything);
}

OpenedPackage read_package(const std::string& path, const PackageKey& key, OpenedFor what) {
  const auto file = std::make_shared<const MappedFile>(path);
  try {
    OpenedPackage opened = parse(file->bytes(), file, key, path, what);
    opened.file = {file->bytes(), file};
    return opened;
  } catch (Error& e) {
    e.within(path);
    throw;
  }
}

}  // namespace dnn
