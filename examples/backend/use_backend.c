/* SPDX-License-Identifier: Apache-2.0 -- runs a loop of the program on another backend:
 * use_backend PLUGIN.so */
#include <gufunc/gufunc.h>
#include <stdio.h>

static void twice(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  (void)user;
  for (int64_t i = 0; i < dims[0]; ++i)
    *(double *)(args[1] + i * steps[1]) = 2 * *(double *)(args[0] + i * steps[0]);
}

int main(int argc, char **argv) {
  guf_error error = {.struct_size = sizeof error};
  guf_device device = NULL;
  guf_ufunc ufunc = NULL;
  guf_array array = NULL;
  double values[2][3] = {{1, 2, 3}, {4, 5, 6}}, result[2][3];
  const int64_t shape[] = {2, 3};
  guf_status status = guf_backend_load(argc > 1 ? argv[1] : "", &error);
  if (status == GUF_OK) status = guf_device_get(NULL, "minimal:0", &device, &error);

  const guf_ufunc_desc desc = {.struct_size = sizeof desc, .nin = 1, .nout = 1, .name = "twice"};
  const guf_dtype types[] = {GUF_F64, GUF_F64};
  const guf_loop_desc loop = {.struct_size = sizeof loop,
                              .kind = GUF_LOOP_NUMPY,
                              .ntypes = 2,
                              .types = types,
                              .numpy = twice};
  if (status == GUF_OK) status = guf_ufunc_create(NULL, &desc, &ufunc, &error);
  if (status == GUF_OK) status = guf_ufunc_add_loop(ufunc, &loop, &error);

  /* The result is allocated in the memory of the device. */
  const guf_tensor tensor = {sizeof tensor, GUF_F64, 2, 0, (uint64_t)values, shape, NULL, NULL};
  const guf_operand input = {.kind = GUF_OPERAND_TENSOR, .tensor = &tensor};
  guf_operand output = {.kind = GUF_OPERAND_NONE};
  guf_call_args args = {
      .struct_size = sizeof args, .ninputs = 1, .noutputs = 1, .options.device = device};
  args.inputs = &input, args.outputs = &output;
  if (status == GUF_OK) status = guf_call(ufunc, &args, &error);
  array = output.array;
  if (status == GUF_OK)
    status = guf_array_copy_to_host(array, result, sizeof result, GUF_ORDER_C, NULL, &error);
  if (status == GUF_OK)
    printf("%g %g %g %g %g %g\n", result[0][0], result[0][1], result[0][2], result[1][0],
           result[1][1], result[1][2]);

  /* A call that the backend cannot run fails with the backend's message. */
  args.casting = GUF_CASTING_UNSAFE;
  const float single = 1;
  const guf_tensor other = {sizeof other, GUF_F32, 0, 0, (uint64_t)&single, NULL, NULL, NULL};
  const guf_operand cast = {.kind = GUF_OPERAND_TENSOR, .tensor = &other};
  guf_operand none = {.kind = GUF_OPERAND_NONE};
  args.inputs = &cast, args.outputs = &none;
  if (status == GUF_OK && guf_call(ufunc, &args, &error) != GUF_OK) printf("%s\n", error.message);
  if (status != GUF_OK) printf("%s: %s\n", guf_status_name(status), error.message);
  guf_array_release(array, NULL);
  guf_ufunc_release(ufunc, NULL);
  return status != GUF_OK;
}
