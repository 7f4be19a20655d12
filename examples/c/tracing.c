/* SPDX-License-Identifier: Apache-2.0 -- runs ten dependent additions on a stream, as an example
 * for tracing. Usage: GUFUNC_TRACE=trace.json tracing [cuda:0] */
#include <gufunc/gufunc.h>
#include <stdio.h>

enum { kItems = 1 << 20 };

int main(int argc, char **argv) {
  const int64_t shape[] = {kItems};
  guf_error error = {.struct_size = sizeof error};
  guf_operand operands[3] = {{0}};
  guf_call_args args = {.struct_size = sizeof args, .ninputs = 2, .noutputs = 1};
  args.inputs = operands, args.outputs = operands + 2;
  guf_device device = NULL;
  guf_ufunc add = NULL;
  guf_array x = NULL;
  float first = 0;
  const guf_operand one = {.kind = GUF_OPERAND_WEAK_INT, .value = {1}};
  guf_status status = guf_device_get(NULL, argc > 1 ? argv[1] : "cpu", &device, &error);
  if (status == GUF_OK) status = guf_stream_create(device, 0, &args.options.stream, &error);
  if (status == GUF_OK)
    status = guf_array_alloc(device, GUF_F32, 1, shape, NULL, GUF_ORDER_C, &x, &error);
  if (status == GUF_OK) status = guf_array_fill(x, &one, args.options.stream, &error);
  if (status == GUF_OK) status = guf_ufunc_find(NULL, "add", &add, &error);
  for (int i = 0; i < 3; ++i) operands[i] = (guf_operand){.kind = GUF_OPERAND_ARRAY, .array = x};
  for (int i = 0; status == GUF_OK && i < 10; ++i) status = guf_call(add, &args, &error);
  const int64_t start = 0, stop = 1, step = 1;
  guf_array head = NULL;
  if (status == GUF_OK) status = guf_array_slice(x, 1, &start, &stop, &step, &head, &error);
  if (status == GUF_OK)
    status = guf_array_copy_to_host(head, &first, sizeof first, GUF_ORDER_C, args.options.stream,
                                    &error);
  if (status == GUF_OK) status = guf_stream_synchronize(args.options.stream, UINT64_MAX, &error);
  if (status == GUF_OK) printf("%.0f\n", (double)first);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  guf_array_release(head, NULL);
  guf_array_release(x, NULL);
  guf_ufunc_release(add, NULL);
  guf_stream_release(args.options.stream, NULL);
  /* Shutdown completes the trace file. */
  if (guf_shutdown(UINT64_MAX, &error) != GUF_OK) fprintf(stderr, "%s\n", error.message);
  return status != GUF_OK;
}
