// Read-ahead by madvise(2); see read_ahead.h.
#include "base/read_ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace dnn {

void read_ahead(Bytes mapped) {
  if (mapped.empty()) return;
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = reinterpret_cast<uintptr_t>(mapped.data()) % page;  // of the first page
  ::madvise(const_cast<std::byte*>(mapped.data() - before), mapped.size() + before, MADV_WILLNEED);
}

}  // namespace dnn
