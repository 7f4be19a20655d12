/* SPDX-License-Identifier: Apache-2.0
 * Calls the reductions of a kernel module: statistics of 1000 numbers. The last call has a mask
 * that excludes numbers below 4. The argument is the module compiled from
 * kernels/reductions.guf.cpp. */
#include <gufunc/gufunc.h>
#include <stdio.h>

/* Calls a reduction with two results of any dtype, and prints the results as doubles. */
static guf_status reduce(const char *name, const guf_operand *in, const guf_operand *mask,
                         guf_error *error) {
  double results[2];
  const guf_tensor tensors[] = {
      {sizeof *tensors, GUF_F64, 0, 0, (uint64_t)&results[0], NULL, NULL, NULL},
      {sizeof *tensors, GUF_F64, 0, 0, (uint64_t)&results[1], NULL, NULL, NULL}};
  guf_operand out[] = {{.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[0]},
                       {.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[1]}};
  guf_reduce_args args = {.struct_size = sizeof args, .input = in, .where = mask};
  args.naxis = GUF_ALL_AXES;
  args.outputs = out, args.noutputs = 2;
  guf_ufunc ufunc = NULL;
  guf_status status = guf_ufunc_find(NULL, name, &ufunc, error);
  if (status == GUF_OK) status = guf_reduce(ufunc, &args, error);
  if (status == GUF_OK) printf("%s %.17g %.17g\n", name, results[0], results[1]);
  guf_ufunc_release(ufunc, NULL);
  return status;
}

int main(int argc, char **argv) {
  static double data[10][100];
  static unsigned char large[10][100];
  for (int i = 0; i < 1000; ++i) {
    data[i / 100][i % 100] = (i * 37 + 11) % 256 / 16.0;
    large[i / 100][i % 100] = data[i / 100][i % 100] >= 4;
  }
  const int64_t shape[] = {10, 100};
  const guf_tensor tensors[] = {
      {sizeof *tensors, GUF_F64, 2, 0, (uint64_t)data, shape, NULL, NULL},
      {sizeof *tensors, GUF_BOOL, 2, 0, (uint64_t)large, shape, NULL, NULL}};
  const guf_operand in = {.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[0]};
  const guf_operand mask = {.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[1]};
  guf_error error = {.struct_size = sizeof error};
  guf_module module = NULL;
  guf_status status =
      guf_module_load(NULL, argc > 1 ? argv[1] : "reductions.so", 0, &module, &error);
  if (status == GUF_OK) status = reduce("largest", &in, NULL, &error);
  if (status == GUF_OK) status = reduce("smallest", &in, NULL, &error);
  if (status == GUF_OK) status = reduce("minmax", &in, NULL, &error);
  if (status == GUF_OK) status = reduce("mean_variance", &in, NULL, &error);
  if (status == GUF_OK) status = reduce("mean_variance", &in, &mask, &error);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  guf_module_release(module, NULL);
  return status != GUF_OK;
}
