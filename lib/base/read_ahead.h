// read_ahead: asks for bytes of a mapped file before they are used. A page fault at a time reads a disk at a fraction of its speed.
#pragma once
#include "base/bytes.h"

namespace dnn {

// Returns at once; the pages come while the caller goes on. Does nothing for memory that is no file's, or where the system cannot.
void read_ahead(Bytes mapped);

}  // namespace dnn
