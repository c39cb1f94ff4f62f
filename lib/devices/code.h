// The code of a package in memory: a loader of ELF shared objects as the compiler makes them of kernels. It needs neither the system's
// dynamic loader nor a file system, so that a static program in an empty folder runs packages, too.
//
// What an object may ask for is closed: relocations that its own addresses or a function of a fixed list resolve. Everything is checked
// against the object before it is used. No memory is ever writable and executable at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dnn {

class LoadedCode {
 public:
  // Maps the object and relocates it; none of it has run then. Throws Malformed for what is no such object, Unsupported for one that
  // wants what it may not have.
  explicit LoadedCode(std::string_view object);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  // Runs the object's own preparations, such as asking the processor what it can do: before any of its functions.
  void start() const;
  // Throws Malformed where it has none of that name.
  void* function(const std::string& name) const;

 private:
  struct Segment {
    uint64_t address = 0, size = 0;  // in the image
    uint32_t flags = 0;
  };
  struct Dynamic {
    uint64_t symbols = 0, names = 0, names_size = 0, hash = 0;
    uint64_t relocations = 0, relocations_size = 0, calls = 0, calls_size = 0;
    uint64_t preparations = 0, preparations_size = 0;
  };
  template <class T>
  T read(uint64_t address) const;
  void check(uint64_t address, uint64_t size) const;
  void map_segments(std::string_view object);
  void read_dynamic(uint64_t address, uint64_t size);
  void relocate(uint64_t table, uint64_t size);
  uint64_t symbol_address(uint64_t index) const;
  std::string_view name_at(uint64_t offset) const;
  void protect();
  bool executable(uint64_t address) const;

  std::byte* image_ = nullptr;
  uint64_t image_size_ = 0;
  std::vector<Segment> segments_;
  Dynamic dynamic_;
};

}  // namespace dnn
