/* SPDX-License-Identifier: Apache-2.0
 * Registers a plain C function as the loop of a ufunc, hypotenuse(x, y), and calls it on two
 * arrays. */
#include <gufunc/gufunc.h>
#include <math.h>
#include <stdio.h>

static void hypotenuse(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  (void)user;
  for (int64_t i = 0; i < dims[0]; ++i) {
    const double x = *(const double *)(args[0] + i * steps[0]);
    const double y = *(const double *)(args[1] + i * steps[1]);
    *(double *)(args[2] + i * steps[2]) = sqrt(x * x + y * y);
  }
}

int main(void) {
  const guf_dtype types[] = {GUF_F64, GUF_F64, GUF_F64};
  const guf_ufunc_desc desc = {
      .struct_size = sizeof desc, .name = "hypotenuse", .nin = 2, .nout = 1};
  const guf_loop_desc loop = {.struct_size = sizeof loop,
                              .kind = GUF_LOOP_NUMPY,
                              .flags = GUF_LOOP_ANY_THREAD,
                              .types = types,
                              .ntypes = 3,
                              .numpy = hypotenuse};
  double x[] = {3, 5, 8}, y[] = {4, 12, 15};
  const int64_t shape[] = {3};
  const guf_tensor tensors[] = {{sizeof *tensors, GUF_F64, 1, 0, (uint64_t)x, shape, NULL, NULL},
                                {sizeof *tensors, GUF_F64, 1, 0, (uint64_t)y, shape, NULL, NULL}};
  const guf_operand inputs[] = {{.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[0]},
                                {.kind = GUF_OPERAND_TENSOR, .tensor = &tensors[1]}};
  guf_operand output = {.kind = GUF_OPERAND_NONE}; /* allocated by the call */
  guf_call_args args = {.struct_size = sizeof args,
                        .inputs = inputs,
                        .ninputs = 2,
                        .outputs = &output,
                        .noutputs = 1};
  guf_error error = {.struct_size = sizeof error};
  guf_ufunc ufunc = NULL;
  char text[256];
  uint64_t length = sizeof text;
  guf_status status = guf_ufunc_create(NULL, &desc, &ufunc, &error);
  if (status == GUF_OK) status = guf_ufunc_add_loop(ufunc, &loop, &error);
  if (status == GUF_OK) status = guf_call(ufunc, &args, &error);
  if (status == GUF_OK) status = guf_array_print(output.array, text, &length, &error);
  if (status == GUF_OK) puts(text);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  guf_array_release(output.array, NULL);
  guf_ufunc_release(ufunc, NULL);
  return status != GUF_OK;
}
