// Leftovers; see leftovers.h. Slots are claimed and freed by atomics alone, and what they point to is changed only by who claimed
// them, so that a handler that interrupts anything finds each slot whole.
#include "base/leftovers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace dnn {
namespace {

struct Mapping {
  const std::byte* begin;
  size_t size;
  std::string name;
};

struct Place {
  pid_t owner;  // a process that was forked off has these slots, too, and removes what is its own
  std::string path;
};

// What does not fit is left behind by a signal; nothing else depends on it.
constexpr size_t kSlots = 1024;
std::array<std::atomic<const Place*>, kSlots> places;
std::array<std::atomic<const Mapping*>, kSlots> maps;
std::array<std::atomic<uint64_t>, kSlots> children;  // owner and child
std::atomic<bool> ending{false};

template <class T>
int claim(std::array<std::atomic<T>, kSlots>& slots, T value) {
  for (size_t i = 0; i < kSlots; ++i) {
    T empty{};
    if (slots[i].load() == T{} && slots[i].compare_exchange_strong(empty, value)) return static_cast<int>(i);
  }
  return -1;
}

uint64_t child_slot(pid_t child) {
  return uint64_t{static_cast<uint32_t>(::getpid())} << 32 | static_cast<uint32_t>(child);
}

// 0: another process's.
pid_t own_child(uint64_t slot) {
  const auto child = static_cast<pid_t>(slot & 0xffffffff);
  return slot != 0 && slot == child_slot(child) ? child : 0;
}

// As getdents64 gives them.
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t type;
  char name[1];
};

bool is_dots(const char* name) { return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0)); }

// Removes a file, or a folder with all in it, by system calls alone.
void remove_all(int parent, const char* name, int depth) {
  constexpr int kDeepest = 32;
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT || depth > kDeepest) return;
  const int folder = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  // Again, where somebody still wrote into it meanwhile.
  for (int round = 0; round < 4; ++round) {
    ::lseek(folder, 0, SEEK_SET);
    alignas(8) char buffer[4096];
    long n = 0;
    while ((n = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
      for (long at = 0; at < n;) {
        const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
        const char* entry_name = buffer + at + offsetof(Entry, name);
        if (!is_dots(entry_name)) remove_all(folder, entry_name, depth + 1);
        at += entry->size;
      }
    }
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) break;
  }
  ::close(folder);
}

}  // namespace

Leftover::Leftover(const std::string& path) {
  auto* place = new Place{::getpid(), path};
  slot_ = claim<const Place*>(places, place);
  if (slot_ < 0) delete place;
}

Leftover::~Leftover() {
  if (slot_ >= 0) delete places[slot_].exchange(nullptr);
}

void remember_child(pid_t child) {
  claim<uint64_t>(children, child_slot(child));
  if (ending) ::kill(-child, SIGKILL);
}

void forget_child(pid_t child) {
  for (auto& slot : children) {
    uint64_t held = child_slot(child);
    if (slot.load() == held && slot.compare_exchange_strong(held, 0)) return;
  }
}

void remember_mapping(const void* begin, size_t size, const std::string& name) {
  auto* mapping = new Mapping{static_cast<const std::byte*>(begin), size, name};
  if (claim<const Mapping*>(maps, mapping) < 0) delete mapping;
}

void forget_mapping(const void* begin) {
  for (auto& slot : maps) {
    const Mapping* mapping = slot.load();
    if (mapping == nullptr || mapping->begin != begin) continue;
    slot = nullptr;
    delete mapping;
    return;
  }
}

void remove_leftovers() {
  ending = true;
  for (const auto& slot : children) {
    if (const pid_t child = own_child(slot.load()); child > 0) ::kill(-child, SIGKILL);
  }
  for (const auto& slot : children) {
    // Looked at and left to who waits for it, so that its number stays its own.
    siginfo_t state{};
    if (const pid_t child = own_child(slot.load()); child > 0)
      ::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOWAIT);
  }
  for (auto& slot : places) {
    // Taken out, so that nobody frees it meanwhile; it is not freed, as the process ends.
    const Place* place = slot.exchange(nullptr);
    if (place != nullptr && place->owner == ::getpid()) remove_all(AT_FDCWD, place->path.c_str(), 0);
  }
}

MappingAt mapping_at(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  for (const auto& slot : maps) {
    const Mapping* mapping = slot.load();
    if (mapping == nullptr || at < mapping->begin || at >= mapping->begin + mapping->size) continue;
    struct stat status {};
    const bool known = ::stat(mapping->name.c_str(), &status) == 0;
    return {mapping->name.c_str(), known && static_cast<size_t>(status.st_size) < mapping->size};
  }
  return {};
}

}  // namespace dnn
