// .dnnpkg files: writing a package whole, and opening one by mapping it: weights are read when they are used.
#pragma once
#include <memory>
#include <string>

#include "base/content.h"
#include "base/io.h"
#include "package/package.h"

namespace dnn {

// Native code is run only when the file carries an HMAC under this user's own key.
struct PackageKey {
  std::string secret;  // 32 bytes; empty: no key, so nothing is trusted and files are written unsigned
};

// The key in `path`, made (mode 0600) when the file is not there. Throws Environment, with the way out, also where others may read
// or change it.
PackageKey load_or_make_key(const std::string& path);

// The same package and key give the same bytes. Throws what `to` throws; with a path writes atomically (Environment).
void write_package(const Package& package, ByteSink& to, const PackageKey& key);
void write_package(const Package& package, const std::string& path, const PackageKey& key, unsigned mode = 0666);

// The bytes of such a file, for who writes them more than once: constants that are equal are looked for once. The package must
// outlive it.
class PackageBytes {
 public:
  PackageBytes(const Package& package, const PackageKey& key);
  ~PackageBytes();
  PackageBytes(const PackageBytes&) = delete;
  PackageBytes& operator=(const PackageBytes&) = delete;
  void write(ByteSink& to) const;

 private:
  struct State;
  const std::unique_ptr<const State> state_;
};

struct OpenedPackage {
  std::shared_ptr<Package> package;
  bool trusted = false;  // signed with the key, all of it: its code may run
  bool older = false;    // of a version whose plan is not read: the interpreter's, of its source as that was read
  SharedBytes file;      // all of it, as write_package() wrote it; of read_package() alone
};

// Running: the constants that kernels read are looked at behind (package/constants.h), so that a model that is in no cache runs while it is
// read; the text that machine code was made of stays in the file, and the source of a package that is trusted is read when it is asked for.
enum class OpenedFor { Anything, Running };

// Throws Malformed for anything damaged (all offsets, indices and sizes are checked before use; large constants of the source by
// source.graph()), Unsupported for a newer version, Environment when the file cannot be read.
OpenedPackage read_package(const std::string& path, const PackageKey& key, OpenedFor what = OpenedFor::Anything);

// The same of a file's bytes, which `owner` keeps in memory. Errors do not name the file.
OpenedPackage parse_package(Bytes bytes, const std::shared_ptr<const void>& owner, const PackageKey& key);

bool looks_like_package(Bytes first);  // 8 bytes are enough

}  // namespace dnn
