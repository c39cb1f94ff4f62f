// Examining a machine; see doctor.h.
#include "infer/doctor.h"

#include <filesystem>

#include "base/box.h"
#include "base/counted.h"
#include "base/private.h"
#include "compile/build_c.h"

namespace dnn {
namespace {

using State = MachineFact::State;
namespace fs = std::filesystem;

// Calls `look`; its text, or why that is to be mended.
template <class Look>
MachineFact finding(const std::string& subject, const Look& look) {
  try {
    return {State::Ok, subject, look()};
  } catch (const Error& error) {
    return {State::Act, subject, error.what()};
  } catch (const fs::filesystem_error& error) {
    return {State::Act, subject, error.what()};
  }
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

MachineFact examine_key(const std::string& path) {
  if (path.empty()) return {State::Act, "key", "set HOME: without a key packages are compiled anew each time"};
  if (!is_there(path)) return {State::Absent, "key", cat(path, ": made when the first package is signed")};
  return finding("key", [&] {
    load_or_make_key(path);
    return cat(path, ": this user's alone");
  });
}

MachineFact examine_folder(const std::string& subject, const std::string& path) {
  if (path.empty()) return {State::Act, subject, "set HOME: without a cache models are compiled each time"};
  if (!is_there(path)) return {State::Absent, subject, cat(path, ": made when it is needed")};
  return finding(subject, [&] {
    make_private_folder(path);
    int64_t files = 0;
    uint64_t bytes = 0;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      if (!entry.is_regular_file(ignored)) continue;
      ++files;
      bytes += entry.file_size(ignored);
    }
    return cat(path, ": ", counted(files, "file"), ", ", bytes >> 20, " MiB");
  });
}

void examine_devices(const DeviceOptions& options, std::vector<MachineFact>* findings) {
  for (const Device& device : devices()) {
    const std::string subject = cat("device ", device.kind);
    if (std::string(device.kind) == "exec") continue;  // whatever a person names
    try {
      const std::vector<std::string> lines = device.list(options);
      for (const std::string& line : lines) {
        const size_t tab = line.find('\t');
        findings->push_back({State::Ok, cat("device ", line.substr(0, tab)),
                             tab == std::string::npos ? std::string() : line.substr(tab + 1)});
      }
      if (lines.empty()) findings->push_back({State::Absent, subject, "none on this machine"});
    } catch (const Error& error) {
      findings->push_back({State::Absent, subject, error.what()});
    }
  }
}

}  // namespace

const char* state_name(State state) {
  switch (state) {
    case State::Ok: return "ok";
    case State::Absent: return "absent";
    case State::Act: return "act";
  }
  return "";
}

std::vector<MachineFact> examine(const OpenOptions& open, const DeviceOptions& device) {
  std::vector<MachineFact> findings;
  findings.push_back(finding("compiler", [&] { return compiler_identity(open.compile.build); }));
  examine_devices(device, &findings);
  findings.push_back(examine_key(open.key_path));
  findings.push_back(examine_folder("cache", open.cache_folder));
  findings.push_back(examine_folder("cache of kernels", open.compile.build.cache_folder));
  findings.push_back(finding("temporary folder", [] {
    std::string path = fs::temp_directory_path().string();
    check_temporary_parent(path);
    return path;
  }));
  const BoxSupport box = box_support();
  for (const std::string& what : box.kept) findings.push_back({State::Ok, "sandbox", what});
  for (const std::string& what : box.not_kept)
    findings.push_back({State::Absent, "sandbox", cat(what, ": --sandbox auto goes without")});
  return findings;
}

}  // namespace dnn
