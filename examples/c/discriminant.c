/* SPDX-License-Identifier: Apache-2.0 -- calls a ufunc of a module on C arrays. Usage: discriminant
 * MODULE.so */
#include <gufunc/gufunc.h>
#include <stdio.h>

int main(int argc, char **argv) {
  double data[4][5] = {{0, .25, .5, .75, 1}, {10, 10.1, 10.5, 10.7, 11}, {1, .9, .3, .6, .1}};
  const int64_t shape[] = {5};
  guf_tensor tensors[4];
  guf_operand operands[4] = {{0}};
  for (int i = 0; i < 4; ++i) { /* a, b, c, and the result */
    tensors[i] = (guf_tensor){sizeof *tensors, GUF_F64, 1, 0, (uint64_t)data[i], shape, NULL, NULL};
    operands[i].kind = GUF_OPERAND_TENSOR;
    operands[i].tensor = &tensors[i];
  }
  guf_call_args args = {.struct_size = sizeof args, .ninputs = 3, .noutputs = 1};
  args.inputs = operands, args.outputs = operands + 3;
  guf_error error = {.struct_size = sizeof error};
  guf_module module = NULL;
  guf_ufunc ufunc = NULL;
  guf_status status =
      guf_module_load(NULL, argc > 1 ? argv[1] : "discriminant.so", 0, &module, &error);
  if (status == GUF_OK) status = guf_ufunc_find(NULL, "discriminant", &ufunc, &error);
  if (status == GUF_OK) status = guf_call(ufunc, &args, &error);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  for (int i = 0; status == GUF_OK && i < 5; ++i) printf("%.17g\n", data[3][i]);
  guf_ufunc_release(ufunc, NULL);
  guf_module_release(module, NULL);
  return status != GUF_OK;
}
