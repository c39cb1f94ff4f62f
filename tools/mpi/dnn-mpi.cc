// dnn-mpi.so: MPI as train/mpi_module.h asks for it. Only bytes are moved here; what is summed, and in which order, the caller knows.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "train/mpi_module.h"

namespace {

int the_rank = 0, the_size = 1;
std::vector<char> failure;

// Null for MPI_SUCCESS.
const char* text_of(int code) {
  if (code == MPI_SUCCESS) return nullptr;
  failure.assign(MPI_MAX_ERROR_STRING + 1, '\0');
  int length = 0;
  if (MPI_Error_string(code, failure.data(), &length) != MPI_SUCCESS) return "an unknown error of MPI";
  return failure.data();
}

const char* start(int* rank, int* size) {
  // Open MPI's plugins look for its symbols among those of the program, and this module was loaded for its own use.
  Dl_info library{};
  if (::dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &library) != 0)
    ::dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  int given = 0;
  int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
  if (code == MPI_SUCCESS && given < MPI_THREAD_FUNNELED) return "this MPI does not bear a process of several threads";
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, &the_rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, &the_size);
  *rank = the_rank;
  *size = the_size;
  return text_of(code);
}

const char* exchange(const void* const* to, const uint64_t* to_bytes, void* const* from, const uint64_t* from_bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 30;  // MPI counts in int
  constexpr int kTag = 0;
  std::vector<MPI_Request> requests;
  int code = MPI_SUCCESS;
  // Messages between two ranks arrive in order, so the pieces of a part need no names. All receives are there before the first send.
  const auto pieces = [&](uint64_t bytes, const auto& body) {
    for (uint64_t at = 0; at < bytes && code == MPI_SUCCESS; at += kMost) {
      requests.push_back(MPI_REQUEST_NULL);
      code = body(at, static_cast<int>(std::min(kMost, bytes - at)), &requests.back());
    }
  };
  for (int r = 0; r < the_size; ++r) {
    if (r == the_rank) continue;
    pieces(from_bytes[r], [&](uint64_t at, int n, MPI_Request* request) {
      return MPI_Irecv(static_cast<char*>(from[r]) + at, n, MPI_BYTE, r, kTag, MPI_COMM_WORLD, request);
    });
  }
  // Each begins with the next rank, so that not all send to the first one.
  for (int i = 1; i < the_size; ++i) {
    const int r = (the_rank + i) % the_size;
    pieces(to_bytes[r], [&](uint64_t at, int n, MPI_Request* request) {
      return MPI_Isend(static_cast<const char*>(to[r]) + at, n, MPI_BYTE, r, kTag, MPI_COMM_WORLD, request);
    });
  }
  if (code != MPI_SUCCESS) return text_of(code);
  if (from_bytes[the_rank] != to_bytes[the_rank]) return "a rank's own part has another size";
  if (from_bytes[the_rank] > 0) std::memmove(from[the_rank], to[the_rank], from_bytes[the_rank]);
  return text_of(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

void end_all(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

const char* finish() { return text_of(MPI_Finalize()); }

constexpr DnnMpi kMpi = {start, exchange, end_all, finish};

}  // namespace

const DnnMpi* dnn_mpi_1() { return &kMpi; }
