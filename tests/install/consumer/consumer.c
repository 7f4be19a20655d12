// SPDX-License-Identifier: Apache-2.0
// An external program: consumer [MODULE.so]. Adds two arrays through an installed libgufunc and its
// cpu backend. With a module, it also doubles the sum with the project's own kernel.
#include <gufunc/gufunc.h>
#include <stdio.h>

static guf_operand operand(guf_tensor *tensor, float *data) {
  static const int64_t kShape[1] = {3};
  *tensor = (guf_tensor){.struct_size = sizeof *tensor,
                         .dtype = GUF_F32,
                         .ndim = 1,
                         .address = (uint64_t)data,
                         .shape = kShape};
  return (guf_operand){.kind = GUF_OPERAND_TENSOR, .tensor = tensor};
}

static guf_status apply(const char *name, int32_t ninputs, guf_operand *operands,
                        guf_error *error) {
  guf_ufunc ufunc = NULL;
  guf_status status = guf_ufunc_find(NULL, name, &ufunc, error);
  if (status != GUF_OK) return status;
  guf_call_args args = {.struct_size = sizeof args,
                        .ninputs = ninputs,
                        .inputs = operands,
                        .noutputs = 1,
                        .outputs = operands + ninputs};
  status = guf_call(ufunc, &args, error);
  guf_ufunc_release(ufunc, NULL);
  return status;
}

int main(int argc, char **argv) {
  guf_error error = {.struct_size = sizeof error};
  float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, sum[3] = {0};
  guf_tensor tensors[3];
  guf_operand operands[3] = {operand(&tensors[0], a), operand(&tensors[1], b),
                             operand(&tensors[2], sum)};
  guf_status status = apply("add", 2, operands, &error);

  guf_module module = NULL;
  if (status == GUF_OK && argc > 1) {
    status = guf_module_load(NULL, argv[1], 0, &module, &error);
    guf_operand in_place[2] = {operands[2], operands[2]};
    if (status == GUF_OK) status = apply("twice", 1, in_place, &error);
    guf_module_release(module, NULL);
  }
  if (status != GUF_OK) {
    printf("failed: %s\n", error.message);
    return 1;
  }
  printf("%s: %g %g %g\n", guf_version_string(), (double)sum[0], (double)sum[1], (double)sum[2]);
  return 0;
}
