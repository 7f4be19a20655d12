/* SPDX-License-Identifier: Apache-2.0 -- adds a million numbers in chunks of 64 KiB per operand.
 * Copies and kernels of neighbouring chunks overlap. Usage: chunks [cuda:0] */
#include <gufunc/gufunc.h>
#include <stdio.h>
#include <stdlib.h>

enum { kItems = 1000000 };

static int32_t show(void *user, int64_t done, int64_t items) {
  int *const quarters = user;
  while (*quarters < 4 && done * 4 >= items * (*quarters + 1)) printf("%d/4\n", ++*quarters);
  return 0; /* any other value stops the call */
}

int main(int argc, char **argv) {
  float *const data = malloc(sizeof(float) * 2 * kItems);
  if (data == NULL) return 1;
  for (int i = 0; i < kItems; ++i) data[i] = (float)i;
  const int64_t shape[] = {kItems};
  guf_tensor tensors[2];
  guf_operand operands[3] = {{0}};
  for (int i = 0; i < 3; ++i) { /* two inputs, which are the same array, and the result */
    float *const at = data + (i == 2 ? kItems : 0);
    tensors[i / 2] = (guf_tensor){.struct_size = sizeof *tensors,
                                  .dtype = GUF_F32,
                                  .ndim = 1,
                                  .address = (uint64_t)at,
                                  .shape = shape};
    operands[i].kind = GUF_OPERAND_TENSOR;
    operands[i].tensor = &tensors[i / 2];
  }
  guf_error error = {.struct_size = sizeof error};
  guf_call_args args = {.struct_size = sizeof args, .ninputs = 2, .noutputs = 1};
  args.inputs = operands, args.outputs = operands + 2;
  int quarters = 0;
  guf_chunk_options options = {.struct_size = sizeof options, .chunk_bytes = 1 << 16};
  options.progress = show, options.user = &quarters;
  guf_ufunc add = NULL;
  int64_t done = 0;
  guf_status status =
      guf_device_get(NULL, argc > 1 ? argv[1] : "cpu", &args.options.device, &error);
  if (status == GUF_OK) status = guf_ufunc_find(NULL, "add", &add, &error);
  if (status == GUF_OK) status = guf_call_chunked(add, &args, &options, &done, &error);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  if (status == GUF_OK)
    printf("%lld items, the last is %.0f\n", (long long)done, data[2 * kItems - 1]);
  guf_ufunc_release(add, NULL);
  free(data);
  return status != GUF_OK;
}
