// NVIDIA's driver API, loaded where a driver is installed. Names and types of its functions are those of the CUDA driver API reference.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/shared_library.h"

namespace dnn {

class CudaDriver {
 public:
  using Device = int;                       // CUdevice
  using Pointer = unsigned long long;       // CUdeviceptr
  using Module = struct CUmod_st*;          // CUmodule
  using Function = struct CUfunc_st*;       // CUfunction
  using Context = struct CUctx_st*;         // CUcontext
  using Stream = struct CUstream_st*;       // CUstream
  using Graph = struct CUgraph_st*;         // CUgraph
  using Launches = struct CUgraphExec_st*;  // CUgraphExec

  // The library at `path`, or where that is "" the system's; null, and why, when there is none or it has no device.
  static std::unique_ptr<CudaDriver> open(const std::string& path, std::string* why);

  int device_count() const;
  Device device(int index) const;
  std::string name(Device device) const;
  int compute_capability(Device device) const;  // 90 for 9.0
  std::string version() const;                  // of CUDA, as the driver knows it: "13.0"

  // Throws Environment saying `what` failed, and with what.
  void check(int status, const char* what) const;

  // The functions that a session calls; each returns a CUresult.
  int (*retain_context)(Context*, Device);
  int (*release_context)(Device);
  int (*set_context)(Context);
  int (*load_module)(Module*, const void*);
  int (*unload_module)(Module);
  int (*find_function)(Function*, Module, const char*);
  int (*allocate)(Pointer*, size_t);
  int (*release)(Pointer);
  int (*to_device)(Pointer, const void*, size_t);
  int (*to_host)(void*, Pointer, size_t);
  int (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**);
  int (*synchronize)();
  int (*create_stream)(Stream*, unsigned);
  int (*destroy_stream)(Stream);

  // Launches recorded once and given to the GPU together: since CUDA 11.4, and not called before.
  bool records() const { return begin_capture != nullptr; }
  int (*begin_capture)(Stream, int);
  int (*end_capture)(Stream, Graph*);
  int (*instantiate)(Launches*, Graph, unsigned long long);
  int (*destroy_graph)(Graph);
  int (*destroy_launches)(Launches);
  int (*launch_recorded)(Launches, Stream);

 private:
  explicit CudaDriver(std::unique_ptr<SharedLibrary> library);

  std::unique_ptr<SharedLibrary> library_;
  int count_ = 0;
};

}  // namespace dnn
