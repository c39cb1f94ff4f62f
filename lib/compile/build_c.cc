// Building printed C kernels; see build_c.h.
#include "compile/build_c.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/sha256.h"
#include "base/threads.h"
#include "codegen/print.h"
#include "compile/object_cache.h"
#include "target/isa.h"

namespace dnn {
namespace {

constexpr double kCompileSeconds = 300;

// The first of these commands that runs; "" where none does.
std::string first_that_runs(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    try {
      if (run_process({name, "--version"}, "", 20).exit_code == 0) return name;
    } catch (const Error&) {
      continue;
    }
  }
  return "";
}

std::string find_compiler(const BuildOptions& options, const Architecture& architecture) {
  if (!options.compiler.empty()) return options.compiler;
  if (&architecture == &host_architecture()) {
    static const std::string found = first_that_runs({"cc", "gcc", "clang", "clang-14"});
    if (found.empty())
      fail_environment("no C compiler found (cc, gcc, clang): install gcc, or name one with --compiler");
    return found;
  }
  std::string cross = cat(architecture.triple, "-gcc");
  if (first_that_runs({cross}).empty())
    fail_environment("no C compiler for ", architecture.name, " found (", cross, "): install ", architecture.packages,
                     " (scripts/setup --cross), or name one with --compiler");
  return cross;
}

std::vector<std::string> flags(const std::string& isa, bool contract) {
  std::vector<std::string> result = {"-std=gnu11",
                                     "-O2",
                                     "-fPIC",
                                     "-fno-math-errno",
                                     "-fno-trapping-math",
                                     "-fno-predictive-commoning",  // loads of the next turn fill registers and stack
                                     "-w",
                                     contract ? "-ffp-contract=fast" : "-ffp-contract=off"};
  if (contract) result.emplace_back("-DDNN_VECTOR_MATH");
  if (const Isa* row = find_isa(Language::C, isa)) result.insert(result.end(), row->flags.begin(), row->flags.end());
  return result;
}

std::vector<std::string> split_units(const std::string& source) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = source.find(kUnitDivider, begin);
    parts.push_back(source.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + kUnitDivider.size();
  }
}

std::string run_compiler(const std::vector<std::string>& argv, const std::string& folder) {
  const ProcessResult result = run_process(argv, folder, kCompileSeconds);
  if (result.timed_out) return cat(argv[0], " did not finish within ", kCompileSeconds, " s");
  if (result.exit_code == 0) return {};
  std::string reason;
  for (const std::string& line : split(result.output, '\n')) {
    if (reason.empty() || (line.find("error") != std::string::npos && reason.find("error") == std::string::npos))
      reason = line;
  }
  return cat(argv[0], " failed with exit code ", result.exit_code, ": ", reason);
}

// Its e_machine; 0 for what is no ELF file.
uint16_t machine_of(const std::string& object) {
  constexpr size_t kAt = 18;
  if (object.size() < kAt + 2 || !starts_with(object,
                                              "\x7f"
                                              "ELF"))
    return 0;
  return static_cast<uint16_t>(static_cast<uint8_t>(object[kAt]) | static_cast<uint8_t>(object[kAt + 1]) << 8);
}

// What every unit of a variant is compiled with.
struct Compilation {
  const Architecture& architecture;
  std::string compiler, identity;
  std::vector<std::string> flags;

  // What a failure's text goes on with.
  std::string hint() const {
    if (&architecture == &host_architecture()) return "";
    return cat(" (for ", architecture.name, " it needs ", architecture.packages, ")");
  }
};

Compilation compilation_of(const Variant& variant, const BuildOptions& options) {
  const Isa* isa = find_isa(Language::C, variant.target.isa);
  const Architecture& architecture = isa == nullptr ? host_architecture() : architecture_of(isa->architecture);
  return {architecture, find_compiler(options, architecture), compiler_identity(options, architecture),
          flags(variant.target.isa, options.contract)};
}

// Objects of earlier compilations. A cache that cannot be written, on a full disk say, costs time but is no failure.
class EarlierObjects {
 public:
  explicit EarlierObjects(const BuildOptions& options) : options_(options), store_(!options.cache_folder.empty()) {
    if (!store_) return;
    if_possible([&] {
      cache_.emplace(options.cache_folder,
                     options.key_path.empty() ? PackageKey() : load_or_make_key(options.key_path));
    });
  }
  // The object of this key; "" where there is none.
  std::string find(const std::string& key) const { return cache_ ? cache_->find(key) : ""; }
  // Any thread.
  void keep(const std::string& key, const std::string& path) {
    if (cache_ && store_) if_possible([&] { cache_->keep(key, read_file(path)); });
  }

 private:
  template <class Step>
  void if_possible(const Step& step) {
    try {
      step();
    } catch (const Error& e) {
      if (store_.exchange(false) && options_.warn) options_.warn(cat("working without the cache: ", e.what()));
    }
  }

  const BuildOptions& options_;
  std::atomic<bool> store_;
  std::optional<ObjectCache> cache_;
};

// One unit of the source, its flags, and the name of its object in the cache.
struct Unit {
  std::string text;
  std::vector<std::string> flags;
  std::string key;
};

std::vector<Unit> units_of(const Compilation& with, const std::string& source) {
  std::vector<std::string> parts = split_units(source);
  if (parts.size() > 1) parts.erase(parts.begin());  // nothing stands before the first divider
  std::vector<Unit> units;
  for (std::string& text : parts) {
    Unit& unit = units.emplace_back(Unit{std::move(text), with.flags, ""});
    // Integers wrap, and their products are rounded before they are added.
    if (unit.text.find(kExactUnit) != std::string::npos)
      // Without the last, gcc computes all products of a tile before it adds one, and keeps them on the stack.
      unit.flags.insert(unit.flags.end(), {"-ffp-contract=off", "-fwrapv", "-fno-tree-ter"});
    unit.key = sha256_hex(as_bytes(with.identity + "\n" + join(unit.flags, " ") + "\n" + unit.text));
  }
  return units;
}

const std::vector<std::string>& link_flags() {
  static const std::vector<std::string> flags = {"-shared", "-Wl,--build-id=none", "-Wl,--hash-style=gnu", "-s"};
  return flags;
}

// The name in the cache of what these units are linked to.
std::string linked_key(const Compilation& with, const std::vector<Unit>& units) {
  std::string text = "linked\n" + with.identity + "\n" + join(link_flags(), " ");
  for (const Unit& unit : units) text += "\n" + unit.key;
  return sha256_hex(as_bytes(text));
}

// Compiles one unit to `base`.o, in this folder, or takes its object from the cache. Throws Environment.
void build_object(const Compilation& with, const Unit& unit, const std::string& folder, const std::string& base,
                  EarlierObjects* earlier) {
  // What is linked is a copy, which lies where nobody else writes.
  if (const std::string cached = earlier->find(unit.key); !cached.empty()) {
    write_file(base + ".o", cached);
    return;
  }
  write_file(base + ".c", unit.text);
  std::vector<std::string> argv = {with.compiler};
  argv.insert(argv.end(), unit.flags.begin(), unit.flags.end());
  argv.insert(argv.end(), {"-c", base + ".c", "-o", base + ".o"});
  const std::string problem = run_compiler(argv, folder);
  if (!problem.empty()) throw Error(ErrorKind::Environment, problem);
  earlier->keep(unit.key, base + ".o");
}

// step(0) to step(n - 1), by this many threads. After a failure none is begun any more; returns the first one's text, or "".
std::string share_steps(size_t n, int jobs, const std::function<void(size_t)>& step) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::string failure;
  const auto work = [&] {
    for (size_t i = next++; i < n; i = next++) {
      try {
        step(i);
      } catch (const std::exception& e) {
        std::lock_guard lock(mutex);
        if (failure.empty()) failure = e.what();
        next = n;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int j = 1; j < jobs; ++j) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return failure;
}

// The shared object of these units. Throws Environment.
std::string build_library(const Compilation& with, const std::vector<Unit>& units, int jobs, EarlierObjects* earlier) {
  const std::string key = linked_key(with, units);
  if (std::string cached = earlier->find(key); !cached.empty()) return cached;
  TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  const auto base_of = [&](size_t i) { return folder.path() + "/" + std::to_string(i); };
  const std::string failure = share_steps(
      units.size(), jobs, [&](size_t i) { build_object(with, units[i], folder.path(), base_of(i), earlier); });
  if (!failure.empty()) fail_environment(failure, with.hint());
  const std::string shared = folder.path() + "/kernels.so";
  std::vector<std::string> argv = {with.compiler};
  argv.insert(argv.end(), link_flags().begin(), link_flags().end());
  argv.insert(argv.end(), {"-o", shared});
  for (size_t i = 0; i < units.size(); ++i) argv.push_back(base_of(i) + ".o");
  argv.emplace_back("-lm");
  const std::string problem = run_compiler(argv, folder.path());
  if (!problem.empty()) fail_environment(problem, with.hint());
  earlier->keep(key, shared);
  return read_file(shared);
}

}  // namespace

std::string compiler_identity(const BuildOptions& options, const Architecture& architecture) {
  const std::string compiler = find_compiler(options, architecture);
  const ProcessResult result = run_process({compiler, "--version"}, "", 20);
  if (result.exit_code != 0) {
    fail_environment("compiler ", compiler, " does not run: ", compiler, " --version exits with ", result.exit_code,
                     ": ", split(result.output, '\n')[0], "; name another with --compiler");
  }
  return split(result.output, '\n')[0];
}

void build_code(Variant& variant, const BuildOptions& options) {
  const Compilation with = compilation_of(variant, options);
  EarlierObjects earlier(options);
  variant.code.binary = build_library(with, units_of(with, variant.code.source),
                                      options.jobs > 0 ? options.jobs : available_processors(), &earlier);
  if (machine_of(variant.code.binary) != with.architecture.elf_machine)
    fail_usage("compiler ", with.compiler, " makes no code for ", with.architecture.name,
               "; name one that does with --compiler");
}

}  // namespace dnn
