// Files that are mapped into memory, all of them: as the system sees a process.
#pragma once

namespace dnn {

// Tells the system that the bytes of files that are mapped now (MappedFile) need not stay in memory until they are read again.
void forget_mapped_files();

}  // namespace dnn
