// dnn.h: networks from C, and from languages that call C: load a model or a package, run it, free it.
//
//   dnn_network* network;
//   if (dnn_load("model.onnx", NULL, &network) != DNN_OK) { fputs(dnn_error(), stderr); exit(1); }
//   dnn_buffer in = {pixels, sizeof pixels}, out = {scores, sizeof scores};
//   if (dnn_run(network, &in, 1, &out, 1) != DNN_OK) { ... }
//   dnn_free(network);
//
// C99. Link with -ldnn-c (pkg-config dnn-c). One network may be used by one thread at a time; different networks are
// independent. No function throws, ends the process or writes to standard output or error.
#ifndef DNN_H
#define DNN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DNN_API __attribute__((visibility("default")))
#else
#define DNN_API
#endif

/* What a call returns: the exit code of a tool that fails in the same way (docs/reference/exit-codes.md). */
typedef enum dnn_status {
  DNN_OK = 0,
  DNN_USAGE = 2,       /* an option or a buffer is not what the function takes */
  DNN_MALFORMED = 3,   /* the file is damaged */
  DNN_UNSUPPORTED = 4, /* the file is valid, but an operator, type or format is not supported */
  DNN_ENVIRONMENT = 5, /* a file, device or compiler is not there, or memory ran out */
  DNN_INTERNAL = 70    /* a fault of this library */
} dnn_status;

/* Element types, by their numbers in ONNX's TensorProto.DataType. Others of ONNX's types have their numbers there. */
typedef enum dnn_type {
  DNN_FLOAT32 = 1,
  DNN_UINT8 = 2,
  DNN_INT8 = 3,
  DNN_UINT16 = 4,
  DNN_INT16 = 5,
  DNN_INT32 = 6,
  DNN_INT64 = 7,
  DNN_BOOL = 9,
  DNN_FLOAT16 = 10,
  DNN_FLOAT64 = 11,
  DNN_UINT32 = 12,
  DNN_UINT64 = 13,
  DNN_BFLOAT16 = 16
} dnn_type;

/* An input or output of a network: a dense row-major array. */
typedef struct dnn_tensor {
  const char* name;
  const int64_t* shape; /* `rank` extents */
  size_t rank;
  size_t bytes; /* of all its elements */
  int32_t type; /* a dnn_type */
} dnn_tensor;

typedef struct dnn_buffer {
  void* data; /* any alignment; an input's is only read */
  size_t bytes;
} dnn_buffer;

typedef struct dnn_network dnn_network;

/* Loads a package of dnn-compile, or a model of any format, which is compiled first, through the user's cache.
 *
 * `options`: texts "name=value" and a NULL behind the last; NULL for none. The names are those of dnn-infer's options:
 *   device     cpu, opencl:0, reference, ssh://HOST/cpu ... (default: cpu, and for a package what it was compiled for)
 *   opt        0 to 4: the level a model is compiled at (default 3)
 *   threads    of the cpu (default: the processors that the process may use)
 *   isa, pass, precision, arithmetic, shape (may be repeated), batch, key
 *   trust      yes: run a package's code though this user did not sign it
 * Devices lib:NAME and exec:COMMAND are dnn-infer's alone. Messages name options as dnn-infer spells them.
 *
 * On success *network is the caller's, to be freed by dnn_free(); otherwise it is NULL. */
DNN_API dnn_status dnn_load(const char* file, const char* const* options, dnn_network** network);

/* Inputs and outputs in the order that dnn_run() takes them. NULL where there is none of that number. What they point to is the
 * network's, and lives as long. */
DNN_API const dnn_tensor* dnn_input(const dnn_network* network, size_t index);
DNN_API const dnn_tensor* dnn_output(const dnn_network* network, size_t index);

/* One inference. A buffer for each input and each output, each of exactly the tensor's bytes. The outputs are written only where
 * DNN_OK is returned. */
DNN_API dnn_status dnn_run(dnn_network* network, const dnn_buffer* inputs, size_t n_inputs, const dnn_buffer* outputs,
                           size_t n_outputs);

/* NULL is allowed. */
DNN_API void dnn_free(dnn_network* network);

/* Why the last call of this thread that failed did so: one line, until this thread's next failure. Never NULL. */
DNN_API const char* dnn_error(void);

/* "0.1.0" */
DNN_API const char* dnn_version(void);

#ifdef __cplusplus
}
#endif

#endif
