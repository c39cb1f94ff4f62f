// Read-ahead by madvise(2); see read_ahead.h.
#include "base/read_ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace dnn {

void read_ahead(Bytes mapped) {
  if (mapped.empty()) return;
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(mapped.data()), first = begin / page * page;
  ::madvise(reinterpret_cast<void*>(first), mapped.size() + (begin - first), MADV_WILLNEED);
}

}  // namespace dnn
