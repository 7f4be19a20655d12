/* SPDX-License-Identifier: Apache-2.0 -- calls a ufunc of a module on C arrays. Usage: discriminant
 * MODULE.so */
#include <gufunc/gufunc.h>
#include <stdio.h>

int main(int argc, char **argv) {
  double data[4][5] = {{0, .25, .5, .75, 1}, {10, 10.1, 10.5, 10.7, 11}, {1, .9, .3, .6, .1}};
  const int64_t shape[] = {5};
  const guf_tensor row = {.struct_size = sizeof row, .dtype = GUF_F64, .ndim = 1, .shape = shape};
  guf_tensor tensors[] = {row, row, row, row}; /* a, b, c, and the result */
  for (int i = 0; i < 4; ++i) tensors[i].address = (uint64_t)data[i];
  guf_error error = {.struct_size = sizeof error};
  guf_module module = NULL;
  guf_status status =
      guf_module_load(NULL, argc > 1 ? argv[1] : "discriminant.so", 0, &module, &error);
  if (status == GUF_OK) status = guf_apply(NULL, "discriminant", 4, tensors, &error);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  for (int i = 0; status == GUF_OK && i < 5; ++i) printf("%.17g\n", data[3][i]);
  guf_module_release(module, NULL);
  return status != GUF_OK;
}
