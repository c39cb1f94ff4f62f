// The C interface of the module dnn-mpi.so (tools/mpi), which alone is linked with MPI; dnn-train --mpi loads it (mpi_link.h).
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Functions of one thread, the one that called start(). Those that return text return null when all went well; the text is valid until the
// next call.
struct DnnMpi {
  // Joins the ranks that a launcher started (alone: one rank).
  const char* (*start)(int* rank, int* size);
  // to[r] goes to rank r, from[r] comes of it; sizes in bytes.
  const char* (*exchange)(const void* const* to, const uint64_t* to_bytes, void* const* from,
                          const uint64_t* from_bytes);
  // Ends the processes of all ranks.
  void (*end_all)(int exit_code);
  // No rank sends any more.
  const char* (*finish)(void);
};

// The number is that of the interface.
const struct DnnMpi* dnn_mpi_1(void);
#define DNN_MPI_FUNCTION "dnn_mpi_1"

#ifdef __cplusplus
}
#endif
