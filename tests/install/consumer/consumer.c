// SPDX-License-Identifier: Apache-2.0
// A stranger's program: adds two arrays through an installed libgufunc and its cpu backend.
#include <gufunc/gufunc.h>
#include <stdio.h>

int main(void) {
  guf_error error = {.struct_size = sizeof error};
  guf_ufunc add = NULL;
  if (guf_ufunc_find(NULL, "add", &add, &error) != GUF_OK) {
    printf("find: %s\n", error.message);
    return 1;
  }
  const int64_t shape[1] = {3};
  float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, sum[3] = {0};
  guf_tensor tensors[3];
  guf_operand operands[3];
  float *const data[3] = {a, b, sum};
  for (int i = 0; i < 3; ++i) {
    tensors[i] = (guf_tensor){.struct_size = sizeof tensors[i], .dtype = GUF_F32, .ndim = 1,
                              .address = (uint64_t)data[i], .shape = shape};
    operands[i] = (guf_operand){.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[i]};
  }
  guf_call_args args = {.struct_size = sizeof args, .ninputs = 2, .inputs = operands,
                        .noutputs = 1, .outputs = operands + 2};
  if (guf_call(add, &args, &error) != GUF_OK) {
    printf("call: %s\n", error.message);
    return 1;
  }
  guf_ufunc_release(add, NULL);
  printf("%s: %g %g %g\n", guf_version_string(), sum[0], sum[1], sum[2]);
  return 0;
}
