/* SPDX-License-Identifier: Apache-2.0
 * Calls a ufunc of a module on C arrays: discriminant MODULE.so */
#include <gufunc/gufunc.h>
#include <stdio.h>

#define COUNT 5

static guf_operand operand(const guf_tensor *tensor) {
  guf_operand made = {.kind = GUF_OPERAND_TENSOR, .tensor = tensor};
  return made;
}

int main(int argc, char **argv) {
  double a[] = {0, .25, .5, .75, 1}, b[] = {10, 10.1, 10.5, 10.7, 11}, c[] = {1, .9, .3, .6, .1},
         x[COUNT];
  const int64_t shape[] = {COUNT};
  double *const arrays[] = {a, b, c, x};
  guf_tensor tensors[4];
  guf_operand operands[4];
  for (int i = 0; i < 4; ++i) {
    tensors[i] =
        (guf_tensor){sizeof *tensors, GUF_F64, 1, 0, (uint64_t)arrays[i], shape, NULL, NULL};
    operands[i] = operand(&tensors[i]);
  }
  guf_call_args args = {.struct_size = sizeof args,
                        .inputs = operands,
                        .ninputs = 3,
                        .outputs = operands + 3,
                        .noutputs = 1};
  guf_error error = {.struct_size = sizeof error};
  guf_module module = NULL;
  guf_ufunc discriminant = NULL;
  guf_status status =
      guf_module_load(NULL, argc > 1 ? argv[1] : "discriminant.so", 0, &module, &error);
  if (status == GUF_OK) status = guf_ufunc_find(NULL, "discriminant", &discriminant, &error);
  if (status == GUF_OK) status = guf_call(discriminant, &args, &error);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  for (int i = 0; status == GUF_OK && i < COUNT; ++i) printf("%.17g\n", x[i]);
  guf_ufunc_release(discriminant, NULL);
  guf_module_release(module, NULL);
  return status != GUF_OK;
}
