/* SPDX-License-Identifier: Apache-2.0
 * Applies a ufunc to float64 arrays: apply_by_name NAME NIN COUNT. Reads NIN arrays of COUNT
 * numbers from standard input, and writes the result to standard output. */
#include <gufunc/gufunc.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4 }; /* operands */

int main(int argc, char **argv) {
  const int nin = argc == 4 ? atoi(argv[2]) : 0;
  const int64_t count = argc == 4 ? atoll(argv[3]) : 0;
  if (nin < 1 || nin >= MOST || count < 1) {
    fprintf(stderr, "expected NAME NIN COUNT\n");
    return 2;
  }
  double *data = calloc((size_t)count * MOST, sizeof *data);
  guf_tensor tensors[MOST] = {{0}};
  for (int i = 0; i <= nin; ++i) {
    tensors[i].struct_size = sizeof *tensors;
    tensors[i].dtype = GUF_F64;
    tensors[i].ndim = 1;
    tensors[i].shape = &count;
    tensors[i].address = (uint64_t)(uintptr_t)(data + i * count);
  }
  guf_error error = {.struct_size = sizeof error};
  const size_t given = (size_t)count * (size_t)nin;
  if (fread(data, sizeof *data, given, stdin) != given) {
    fprintf(stderr, "expected %zu numbers\n", given);
    return 2;
  }
  if (guf_apply(NULL, argv[1], nin + 1, tensors, &error) != GUF_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const size_t written = fwrite(data + given, sizeof *data, (size_t)count, stdout);
  free(data);
  return written == (size_t)count ? 0 : 1;
}
