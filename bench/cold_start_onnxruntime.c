/* cold_start_onnxruntime: what bench/cold_start holds a package against: one prediction through ONNX Runtime's C API, by a whole process.

usage: cold_start_onnxruntime LIBRARY MODEL THREADS INPUT OUTPUT FILE CLASSES EXTENT...

LIBRARY is libonnxruntime.so, as it lies in a wheel's capi/ folder. FILE holds the float32 elements of INPUT, [EXTENT...]; OUTPUT is
[1, CLASSES] of float32. Prints the class of the largest element. Exit codes: 0 done, 1 refused by the library, 2 usage. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The table of functions only ever grows at its end, so that the places of its first version hold: no header is needed. */
enum {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorWithDataAsOrtValue = 49,
  kGetTensorMutableData = 51,
  kCreateCpuMemoryInfo = 69
};
enum { kLoggingLevelWarning = 2, kDeviceAllocator = 0, kMemTypeDefault = 0, kFloat = 1, kMostExtents = 8 };

typedef void* (*Function)();
struct ApiBase {
  const Function* (*get_api)(uint32_t version);
  const char* (*get_version_string)(void);
};

static const Function* api;

static void check(void* status) {
  if (status == NULL) return;
  fprintf(stderr, "cold_start_onnxruntime: error: %s\n", (const char*)api[kGetErrorMessage](status));
  exit(1);
}

int main(int argc, char** argv) {
  int64_t extents[kMostExtents], count = 1;
  if (argc < 9 || argc - 8 > kMostExtents) return 2;
  for (int i = 8; i < argc; ++i) count *= extents[i - 8] = atoll(argv[i]);
  void* library = dlopen(argv[1], RTLD_NOW);
  const struct ApiBase* (*base)(void) = NULL;
  if (library != NULL) *(void**)&base = dlsym(library, "OrtGetApiBase");
  if (base == NULL || (api = base()->get_api(1)) == NULL) {
    fprintf(stderr, "cold_start_onnxruntime: error: %s: no ONNX Runtime\n", argv[1]);
    return 1;
  }
  float* elements = malloc((size_t)count * sizeof(float));
  FILE* file = fopen(argv[6], "rb");
  if (file == NULL || elements == NULL || fread(elements, sizeof(float), (size_t)count, file) != (size_t)count) {
    fprintf(stderr, "cold_start_onnxruntime: error: %s: not %lld elements\n", argv[6], (long long)count);
    return 2;
  }
  fclose(file);

  void *env, *options, *session, *memory, *input, *output = NULL;
  check(api[kCreateEnv](kLoggingLevelWarning, "cold_start", &env));
  check(api[kCreateSessionOptions](&options));
  check(api[kSetIntraOpNumThreads](options, atoi(argv[3])));
  check(api[kCreateSession](env, argv[2], options, &session));
  check(api[kCreateCpuMemoryInfo](kDeviceAllocator, kMemTypeDefault, &memory));
  check(api[kCreateTensorWithDataAsOrtValue](memory, elements, (size_t)count * sizeof(float), extents,
                                             (size_t)(argc - 8), kFloat, &input));
  const char *inputs[] = {argv[4]}, *outputs[] = {argv[5]};
  check(api[kRun](session, NULL, inputs, (const void* const*)&input, (size_t)1, outputs, (size_t)1, &output));
  float* scores = NULL;
  check(api[kGetTensorMutableData](output, (void**)&scores));
  int best = 0;
  for (int i = 1; i < atoi(argv[7]); ++i) best = scores[i] > scores[best] ? i : best;
  printf("%d\n", best);
  fflush(stdout);
  _Exit(0); /* as the prediction is there: what comes after it is not counted */
}
