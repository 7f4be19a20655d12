/* SPDX-License-Identifier: Apache-2.0 -- arrays that stay on a device between calls. The program
 * copies x to the device once, computes y = sin(x) and z = y * y on a stream, and copies z back.
 * Usage: device_arrays [cuda:0] */
#include <gufunc/gufunc.h>
#include <stdio.h>

static guf_error error = {.struct_size = sizeof error};

static int failed(guf_status status) {
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  return status != GUF_OK;
}

/* Queues a call of a ufunc on device arrays. Does not wait for the result. */
static int apply(const char *name, int ninputs, const guf_array *inputs, guf_array output,
                 guf_stream stream) {
  guf_operand operands[3] = {{0}};
  for (int i = 0; i <= ninputs; ++i) {
    operands[i].kind = GUF_OPERAND_ARRAY;
    operands[i].array = i < ninputs ? inputs[i] : output;
  }
  guf_call_args args = {.struct_size = sizeof args, .ninputs = ninputs, .noutputs = 1};
  args.inputs = operands, args.outputs = operands + ninputs, args.options.stream = stream;
  guf_ufunc ufunc = NULL;
  if (failed(guf_ufunc_find(NULL, name, &ufunc, &error))) return 1;
  const int bad = failed(guf_call(ufunc, &args, &error));
  guf_ufunc_release(ufunc, NULL);
  return bad;
}

int main(int argc, char **argv) {
  double data[4] = {0, 1, 2, 3}, result[4];
  const int64_t shape[] = {4};
  const guf_tensor tensor = {sizeof tensor, GUF_F64, 1, 0, (uint64_t)data, shape, NULL, NULL};
  guf_device device = NULL;
  guf_stream stream = NULL;
  guf_array host = NULL, x = NULL, y = NULL, z = NULL;
  int bad = failed(guf_device_get(NULL, argc > 1 ? argv[1] : "cpu", &device, &error)) ||
            failed(guf_stream_create(device, 0, &stream, &error)) ||
            failed(guf_array_wrap(&tensor, NULL, NULL, 0, &host, &error)) ||
            failed(guf_array_to_device(host, device, stream, &x, &error)) ||
            failed(guf_array_alloc(device, GUF_F64, 1, shape, NULL, GUF_ORDER_C, &y, &error)) ||
            failed(guf_array_alloc(device, GUF_F64, 1, shape, NULL, GUF_ORDER_C, &z, &error)) ||
            apply("sin", 1, (guf_array[]){x}, y, stream) ||
            apply("multiply", 2, (guf_array[]){y, y}, z, stream) ||
            failed(guf_array_copy_to_host(z, result, sizeof result, GUF_ORDER_C, stream, &error)) ||
            failed(guf_stream_synchronize(stream, UINT64_MAX, &error));
  for (int i = 0; !bad && i < 4; ++i) printf("%.6f\n", result[i]);
  const guf_array arrays[] = {host, x, y, z};
  for (int i = 0; i < 4; ++i) guf_array_release(arrays[i], NULL);
  guf_stream_release(stream, NULL);
  return bad;
}
