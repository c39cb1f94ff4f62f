// .dnnpkg files; see file.h and schemas/package.fbs.
#include "package/file.h"

#include <fcntl.h>
#include <unistd.h>

#ifdef __x86_64__
#include <xxh_x86dispatch.h>  // by the widest vectors that this processor has
#else
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
#include "base/sha256.h"
#include "package/graph_fb.h"

namespace dnn {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr char kMagic[8] = {'D', 'N', 'N', 'P', 'K', 'G', 0, 1};
constexpr size_t kHead = 56;  // magic, manifest size, HMAC, checksum
constexpr size_t kAlign = 64;
constexpr uint32_t kVersion = 2, kTagged = 2;  // since when the manifest vouches for all blobs
constexpr uint64_t kLarge = 1 << 16;           // bytes of a constant that is not read before it is needed

Sha256 sign(Bytes manifest, const PackageKey& key) {
  return key.secret.empty() ? Sha256{} : hmac_sha256(as_bytes(key.secret), manifest);
}

// Finds damage, not malice; never 0.
uint64_t checksum(Bytes bytes) { return std::max<uint64_t>(1, XXH3_64bits(bytes.data(), bytes.size())); }

// Finds both.
std::optional<KeyedTags> tags_of(const PackageKey& key) {
  if (key.secret.empty()) return std::nullopt;
  return KeyedTags(as_bytes(key.secret), "blobs of packages");
}

fb::Tag packed(const Tag& tag) {
  uint64_t low = 0, high = 0;
  std::memcpy(&low, tag.data(), sizeof low);
  std::memcpy(&high, tag.data() + sizeof low, sizeof high);
  return {low, high};
}

Tag unpacked(const fb::Tag& tag) {
  const uint64_t low = tag.low(), high = tag.high();
  Tag result{};
  std::memcpy(result.data(), &low, sizeof low);
  std::memcpy(result.data() + sizeof low, &high, sizeof high);
  return result;
}

size_t aligned(size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// Blobs in the order they are stored. Their offsets depend on the manifest's size and that on the offsets' presence, not
// their values, so the manifest is built twice: before settle(), when offsets are 0, and after.
class BlobStore {
 public:
  struct Place {
    size_t offset, size;
    uint64_t checksum;
    std::optional<Tag> tag;
  };
  explicit BlobStore(const PackageKey& key) : tags_(tags_of(key)) {}
  Place add(Bytes bytes) {
    if (bytes.empty()) return {kHead, 0, 0, {}};
    auto [entry, fresh] = seen_.try_emplace({bytes.data(), bytes.size()}, Place{0, bytes.size(), 0, {}});
    if (fresh) {
      entry->second.checksum = checksum(bytes);
      if (tags_) entry->second.tag = (*tags_)(bytes);
      blobs_.push_back(bytes);
    }
    return entry->second;
  }
  // Small blobs lie together: to read one that lies between large ones, a system reads megabytes around it.
  void settle(size_t first_offset) {
    std::stable_partition(blobs_.begin(), blobs_.end(), [](Bytes blob) { return blob.size() < kLarge; });
    for (Bytes blob : blobs_) {
      seen_.at({blob.data(), blob.size()}).offset = first_offset;
      first_offset = aligned(first_offset + blob.size());
    }
  }
  const std::vector<Bytes>& blobs() const { return blobs_; }

 private:
  std::optional<KeyedTags> tags_;
  std::map<std::pair<const std::byte*, size_t>, Place> seen_;
  std::vector<Bytes> blobs_;
};

std::string code_digest(const Code& code) {
  return sha256_hex({as_bytes(code.source), as_bytes(std::string_view("\0", 1)), as_bytes(code.binary)});
}

fb::Argument argument(const Argument& a) { return fb::Argument(a.at, a.value, static_cast<uint8_t>(a.kind)); }

std::string build_manifest(const Package& p, BlobStore& blobs) {
  FlatBufferBuilder b(1 << 16);
  b.ForceDefaults(true);  // so that offsets of 0 take as much room as others
  const StoreBlob put = [&](Bytes bytes) {
    const BlobStore::Place place = blobs.add(bytes);
    const fb::Tag tag = place.tag ? packed(*place.tag) : fb::Tag();
    return fb::CreateBlob(b, place.offset, place.size, place.checksum, place.tag ? &tag : nullptr);
  };
  const PackageInfo& i = p.info;
  const auto path = b.CreateString(i.model_path), sha = b.CreateString(i.model_sha256),
             format = b.CreateString(i.model_format), target = b.CreateString(p.backend()),
             compiler = b.CreateString(i.compiler), dtype = b.CreateString(i.dtype),
             version = b.CreateString(i.tool_version);
  const auto names = b.CreateVectorOfStrings(i.passes);
  const auto info = fb::CreateInfo(b, path, sha, format, i.opt, target, compiler, names, dtype, version);
  const Variant& plan = p.variants.front();  // of all
  std::vector<Offset<fb::Kernel>> kernels;
  for (const KernelInfo& k : plan.kernels) {
    const auto name = b.CreateString(k.name), pattern = b.CreateString(k.pattern);
    kernels.push_back(fb::CreateKernel(b, name, pattern));
  }
  std::vector<Offset<fb::Step>> steps;
  for (const Step& s : plan.steps) {
    std::vector<fb::Argument> arguments;
    for (const Argument& a : s.arguments) arguments.push_back(argument(a));
    const auto list = b.CreateVectorOfStructs(arguments);
    const auto strides = b.CreateVector(s.strides);
    steps.push_back(fb::CreateStep(b, s.kernel, s.node, list, s.flops, s.bytes, s.samples, strides));
  }
  std::vector<Offset<fb::Code>> codes;
  for (const Variant& v : p.variants) {
    if (!v.compiled()) continue;
    const Code& c = v.code;
    const auto isa = b.CreateString(v.target.isa), digest = b.CreateString(code_digest(c));
    const auto source = put(as_bytes(c.source));
    const auto binary = put(as_bytes(c.binary));
    const auto tasks = b.CreateVector(c.tasks);
    const bool any = std::any_of(c.threads.begin(), c.threads.end(), [](int64_t n) { return n > 0; });
    const auto threads = any ? b.CreateVector(c.threads) : Offset<flatbuffers::Vector<int64_t>>();
    codes.push_back(fb::CreateCode(b, isa, source, binary, digest, tasks, threads));
  }
  std::vector<Offset<fb::Placement>> values;
  for (const Placement& v : plan.values) {
    const auto layout = b.CreateString(v.layout);
    const fb::Argument where = argument(v.where);
    values.push_back(fb::CreatePlacement(b, &where, layout));
  }
  std::vector<Offset<fb::Tensor>> constants;
  for (const Tensor& t : p.constants.all()) constants.push_back(pack_tensor(b, t, put));
  const auto graph = pack_graph(b, p.graph(), put);
  const auto source = pack_graph(b, p.source.graph(), put);
  const auto ks = b.CreateVector(kernels);
  const auto ss = b.CreateVector(steps);
  const auto cs = b.CreateVector(constants);
  const auto vs = b.CreateVector(values);
  const auto code = b.CreateVector(codes);
  b.Finish(fb::CreateManifest(b, kVersion, info, source, graph, ks, ss, cs, vs, plan.arena_bytes, plan.slots, code,
                              plan.sample_arena_bytes));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

// Checks what devices rely on: indices in range, arena offsets inside the arena.
void check(const Variant& p, const Constants& constants) {
  auto fail = [](const auto&... parts) { fail_malformed("the plan is damaged: ", parts...); };
  auto check_argument = [&](const Argument& a) {
    const auto in = [&](size_t n) { return a.at >= 0 && static_cast<size_t>(a.at) < n; };
    if (a.value < kNoValue || a.value >= p.graph->value_count()) fail("an argument names value ", a.value);
    switch (a.kind) {
      case Argument::Kind::Arena:
        if (a.at < 0 || a.at > p.arena_bytes) fail("arena offset ", a.at);
        return;
      case Argument::Kind::Sample:
        if (a.at < 0 || a.at > p.sample_arena_bytes) fail("offset ", a.at, " in a sample's arena");
        return;
      case Argument::Kind::Constant:
        if (!in(constants.size())) fail("constant ", a.at);
        return;
      case Argument::Kind::Input:
        if (!in(p.graph->inputs.size())) fail("input ", a.at);
        return;
      case Argument::Kind::Output:
        if (!in(p.graph->outputs.size())) fail("output ", a.at);
        return;
      case Argument::Kind::Slot:
        if (!in(static_cast<size_t>(p.slots))) fail("slot ", a.at);
        return;
      case Argument::Kind::None: return;
    }
    fail("argument kind ", static_cast<int>(a.kind));
  };
  constexpr int64_t kMost_bytes = int64_t{1} << 40, kMost_threads = 1024;
  if (p.arena_bytes < 0 || p.arena_bytes > kMost_bytes || p.slots < 0 || p.slots > (1 << 24))
    fail("arena of ", p.arena_bytes, " bytes");
  if (p.sample_arena_bytes < 0 || p.sample_arena_bytes > kMost_bytes)
    fail("an arena of ", p.sample_arena_bytes, " bytes a sample");
  for (const Placement& v : p.values) check_argument(v.where);
  for (const Step& s : p.steps) {
    if (s.kernel < -1 || s.kernel >= static_cast<int32_t>(p.kernels.size())) fail("kernel ", s.kernel);
    if (s.node < 0 || s.node >= p.graph->node_slots() || !p.graph->alive(s.node)) fail("node ", s.node);
    for (const Argument& a : s.arguments) check_argument(a);
    if (s.samples < 1 || s.samples > (1 << 20) || s.strides.size() != (s.samples > 1 ? s.arguments.size() : 0) ||
        (s.samples > 1 && s.kernel < 0)) {
      fail("a step for ", s.samples, " samples with ", s.strides.size(), " strides");
    }
    for (int64_t stride : s.strides) {
      if (stride < 0 || stride > kMost_bytes / s.samples) fail("a stride of ", stride, " bytes");
    }
  }
  if (!p.compiled()) return;
  const std::string& isa = p.target.isa;
  if (p.code.tasks.size() != p.kernels.size()) fail("code ", isa, " has ", p.code.tasks.size(), " task counts");
  if (p.code.threads.size() != p.kernels.size()) fail("code ", isa, " has ", p.code.threads.size(), " thread counts");
  for (int64_t n : p.code.tasks) {
    if (n < 1) fail("code ", isa, " has a kernel of ", n, " tasks");
  }
  for (int64_t n : p.code.threads) {
    if (n < 0 || n > kMost_threads) fail("code ", isa, " has tasks of ", n, " threads");
  }
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

void write_package(const Package& package, ByteSink& to, const PackageKey& key) {
  BlobStore blobs(key);
  const size_t manifest_size = build_manifest(package, blobs).size();
  blobs.settle(aligned(kHead + manifest_size));
  const std::string manifest = build_manifest(package, blobs);
  DNN_CHECK(manifest.size() == manifest_size);
  const uint64_t size = manifest.size();
  const Sha256 digest = sign(as_bytes(manifest), key);
  to.write(as_bytes(std::string_view(kMagic, sizeof kMagic)));
  to.write(as_bytes(std::string_view(reinterpret_cast<const char*>(&size), sizeof size)));
  to.write(as_bytes(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size())));
  const uint64_t sum = checksum(as_bytes(manifest));
  to.write(as_bytes(std::string_view(reinterpret_cast<const char*>(&sum), sizeof sum)));
  to.write(as_bytes(manifest));
  size_t at = kHead + manifest.size();
  for (Bytes blob : blobs.blobs()) {
    to.write(as_bytes(std::string(aligned(at) - at, '\0')));
    to.write(blob);
    at = aligned(at) + blob.size();
  }
}

void write_package(const Package& package, const std::string& path, const PackageKey& key, unsigned mode) {
  AtomicFile file(path, mode);
  write_package(package, file, key);
  file.commit();
}

namespace {

// `path` is for what is found later.
OpenedPackage parse(Bytes bytes, const std::shared_ptr<const void>& owner, const PackageKey& key,
                    const std::string& path, ConstantsChecked when) {
  ByteReader reader(bytes, "package");
  if (!looks_like_package(reader.take(sizeof kMagic))) fail_malformed("not a package of this version");
  const uint64_t size = reader.u64();
  const Bytes digest = reader.take(32);
  const uint64_t sum = reader.u64();
  // A copy of our own: what was checked is what is used, whoever writes the file meanwhile.
  const auto copy = std::make_shared<const std::string>(as_text(reader.take(size)));
  const Bytes manifest = as_bytes(*copy);
  if (checksum(manifest) != sum) fail_malformed("the manifest is damaged");
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(manifest.data()), manifest.size(), 256, 1 << 28);
  if (!fb::VerifyManifestBuffer(verifier)) fail_malformed("the manifest is damaged");
  const fb::Manifest* m = fb::GetManifest(manifest.data());
  if (m->version() > kVersion)
    fail_unsupported("package version ", m->version(), " is newer than this tool's ", kVersion);
  const auto find = [bytes](const fb::Blob* blob) {
    if (blob == nullptr) fail_malformed("a blob is missing");
    ByteReader at(bytes, "package");
    at.seek(blob->offset());
    return at.take(blob->size());
  };
  OpenedPackage opened;
  opened.trusted = !key.secret.empty() && same_digest(sign(manifest, key), digest) && m->version() >= kTagged;
  const std::optional<KeyedTags> tags = opened.trusted ? tags_of(key) : std::nullopt;
  const auto check_blob = [find, tags](const fb::Blob* blob) {
    const Bytes content = find(blob);
    if (content.empty()) return content;
    if (tags ? blob->tag() == nullptr || !tags->holds(content, unpacked(*blob->tag()))
             : blob->xxh3() != 0 && checksum(content) != blob->xxh3())
      fail_malformed("the ", content.size(), " bytes at ", blob->offset(),
                     " are damaged: remove the package and compile the model again");
    return content;
  };
  const LoadBlob load = check_blob;
  const auto check_later = [check_blob, owner, copy, path](const fb::Blob* blob) {
    try {
      check_blob(blob);
    } catch (Error& e) {
      if (!path.empty()) e.within(path);
      throw;
    }
  };
  std::vector<const fb::Blob*> unread;
  const LoadBlob load_later = [&](const fb::Blob* blob) {
    if (blob == nullptr || blob->size() < kLarge) return check_blob(blob);
    unread.push_back(blob);
    return find(blob);
  };
  auto text = [](const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); };
  opened.package = std::make_shared<Package>();
  Package& p = *opened.package;
  if (const fb::Info* i = m->info()) {
    p.info = {
        text(i->model_path()), text(i->model_sha256()), text(i->model_format()), i->opt(), text(i->compiler()), {},
        text(i->dtype()),      text(i->tool_version())};
    if (i->passes() != nullptr) {
      for (const auto* pass : *i->passes()) p.info.passes.push_back(pass->str());
    }
  }
  Graph source = unpack_graph(m->source(), load_later, owner);
  p.source = {std::move(source), [check_later, unread] {
                for (const fb::Blob* blob : unread) check_later(blob);
              }};
  Variant plan;
  plan.graph = std::make_shared<const Graph>(unpack_graph(m->graph(), load, owner));
  auto take_argument = [](const fb::Argument& a) {
    return Argument{static_cast<Argument::Kind>(a.kind()), a.at(), a.value()};
  };
  if (m->kernels() != nullptr) {
    for (const auto* k : *m->kernels()) plan.kernels.push_back({text(k->name()), text(k->pattern())});
  }
  if (m->steps() != nullptr) {
    for (const auto* s : *m->steps()) {
      Step step{s->kernel(), s->node(), {}, s->flops(), s->bytes(), s->samples()};
      check_alignment(s->arguments(), alignof(fb::Argument));
      if (s->arguments() != nullptr) {
        for (const auto* a : *s->arguments()) step.arguments.push_back(take_argument(*a));
      }
      check_alignment(s->strides(), sizeof(int64_t));
      if (s->strides() != nullptr) step.strides.assign(s->strides()->begin(), s->strides()->end());
      plan.steps.push_back(std::move(step));
    }
  }
  if (m->constants() != nullptr) {
    std::vector<const fb::Blob*> blobs;  // null for strings, which are in the manifest
    const LoadBlob load_behind = [&](const fb::Blob* blob) {
      blobs.back() = blob;
      return find(blob);
    };
    for (const auto* t : *m->constants()) {
      blobs.push_back(nullptr);
      p.constants.push_back(unpack_tensor(t, load_behind, owner));
    }
    if (when == ConstantsChecked::Before) {
      for (const fb::Blob* blob : blobs) {
        if (blob != nullptr) check_blob(blob);
      }
    } else {
      p.constants.check_behind([check_later, blobs](size_t i) {
        if (blobs[i] != nullptr) check_later(blobs[i]);
      });
    }
  }
  if (m->values() != nullptr) {
    for (const auto* v : *m->values()) {
      if (v->where() == nullptr) fail_malformed("a placement is missing");
      plan.values.push_back({take_argument(*v->where()), text(v->layout())});
    }
  }
  const Graph& graph = *plan.graph;
  if (static_cast<int>(plan.values.size()) > graph.value_count()) fail_malformed(plan.values.size(), " placements");
  plan.values.resize(static_cast<size_t>(graph.value_count()));
  plan.arena_bytes = m->arena_bytes();
  plan.sample_arena_bytes = m->sample_arena_bytes();
  plan.slots = m->slots();
  if (m->codes() != nullptr) {
    for (const auto* c : *m->codes()) {
      Code code{std::string(as_text(find(c->source()))), std::string(as_text(find(c->binary()))), {}, {}};
      if (code_digest(code) != text(c->sha256())) fail_malformed("the code for ", text(c->isa()), " is damaged");
      check_alignment(c->tasks(), sizeof(int64_t));
      if (c->tasks() != nullptr) code.tasks.assign(c->tasks()->begin(), c->tasks()->end());
      check_alignment(c->threads(), sizeof(int64_t));
      code.threads.assign(code.tasks.size(), 0);
      if (c->threads() != nullptr) code.threads.assign(c->threads()->begin(), c->threads()->end());
      p.variants.push_back(plan);
      p.variants.back().target = {m->info() == nullptr ? "" : text(m->info()->target()), text(c->isa()), {}, ""};
      p.variants.back().code = std::move(code);
    }
  }
  if (p.variants.empty()) p.variants.push_back(std::move(plan));
  for (ValueId id : graph.inputs) p.input_types.push_back(graph.value(id).type);
  for (ValueId id : graph.outputs) p.output_types.push_back(graph.value(id).type);
  for (const Variant& variant : p.variants) check(variant, p.constants);
  return opened;
}

}  // namespace

OpenedPackage parse_package(Bytes bytes, const std::shared_ptr<const void>& owner, const PackageKey& key) {
  return parse(bytes, owner, key, "", ConstantsChecked::Before);
}

OpenedPackage read_package(const std::string& path, const PackageKey& key, ConstantsChecked when) {
  const auto file = std::make_shared<const MappedFile>(path);
  try {
    OpenedPackage opened = parse(file->bytes(), file, key, path, when);
    opened.file = {file->bytes(), file};
    return opened;
  } catch (Error& e) {
    e.within(path);
    throw;
  }
}

}  // namespace dnn
