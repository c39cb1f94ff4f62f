/* run: a network on an input of ones; the outputs' largest elements. cc run.c -o run $(pkg-config --cflags --libs dnn-c) */
#include <dnn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check(dnn_status status) {
  if (status == DNN_OK) return;
  fprintf(stderr, "run: error: %s\n", dnn_error());
  exit(status);
}

int main(int argc, char** argv) {
  const char* options[] = {"threads=1", NULL};
  dnn_network* network;
  dnn_buffer in, out;
  const dnn_tensor *input, *output;
  size_t i, largest = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: run MODEL\n");
    return DNN_USAGE;
  }
  check(dnn_load(argv[1], options, &network));
  input = dnn_input(network, 0);
  output = dnn_output(network, 0);
  if (input == NULL || output == NULL || input->type != DNN_FLOAT32 || output->type != DNN_FLOAT32) {
    fprintf(stderr, "run: error: %s: an input and an output of float32 are wanted\n", argv[1]);
    dnn_free(network);
    return DNN_UNSUPPORTED;
  }
  in.bytes = input->bytes;
  in.data = malloc(in.bytes);
  out.bytes = output->bytes;
  out.data = malloc(out.bytes);
  if (in.data == NULL || out.data == NULL) return DNN_ENVIRONMENT;
  for (i = 0; i < in.bytes / sizeof(float); ++i) ((float*)in.data)[i] = 1;
  check(dnn_run(network, &in, 1, &out, 1));
  for (i = 1; i < out.bytes / sizeof(float); ++i) {
    if (((float*)out.data)[i] > ((float*)out.data)[largest]) largest = i;
  }
  printf("%s:", output->name);
  for (i = 0; i < output->rank; ++i) printf(" %" PRId64, output->shape[i]);
  printf("\nlargest: element %zu, %.9g\n", largest, ((float*)out.data)[largest]);
  free(in.data);
  free(out.data);
  dnn_free(network);
  return 0;
}
