/* SPDX-License-Identifier: Apache-2.0 -- launches raw kernels from C: an estimate of pi from random
 * points, and a histogram. The results are the same on every device. Usage: raw_counting MODULE
 * [cuda:0] */
#include <gufunc/gufunc.h>
#include <stdio.h>

enum { kBins = 8, kValues = 10000 };

static guf_error error = {.struct_size = sizeof error};

static int failed(guf_status status) {
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  return status != GUF_OK;
}

/* Copies `data` to a new array on the device. */
static int put(void *data, guf_dtype dtype, int64_t count, guf_device device, guf_stream stream,
               guf_array *out) {
  const guf_tensor tensor = {sizeof tensor, dtype, 1, 0, (uint64_t)data, &count, NULL, NULL};
  guf_array host = NULL;
  const int bad = failed(guf_array_wrap(&tensor, NULL, NULL, 0, &host, &error)) ||
                  failed(guf_array_to_device(host, device, stream, out, &error)) ||
                  failed(guf_stream_synchronize(stream, UINT64_MAX, &error));
  guf_array_release(host, NULL);
  return bad;
}

/* Launches a kernel of the module and copies `counts` back. */
static int count(guf_module module, const char *name, guf_stream stream, uint32_t blocks,
                 uint32_t shared, int nargs, const guf_operand *args, guf_array counts,
                 uint64_t *result, uint64_t nbytes) {
  const uint32_t grid[] = {blocks, 1, 1}, block[] = {256, 1, 1};
  guf_kernel kernel = NULL;
  const int bad =
      failed(guf_kernel_find(module, name, &kernel, &error)) ||
      failed(guf_kernel_launch(kernel, stream, grid, block, shared, nargs, args, &error)) ||
      failed(guf_array_copy_to_host(counts, result, nbytes, GUF_ORDER_C, stream, &error)) ||
      failed(guf_stream_synchronize(stream, UINT64_MAX, &error));
  guf_kernel_release(kernel, NULL);
  return bad;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: raw_counting MODULE [DEVICE]\n");
    return 2;
  }
  static float values[kValues];
  uint64_t inside = 0, bins[kBins] = {0};
  /* Pseudo-random fractions. Any values would do. */
  for (uint32_t i = 0; i < kValues; ++i) values[i] = (float)(i * 2654435761u % 1000) / 1000;
  for (uint32_t i = 0; i < kValues; ++i) values[i] *= values[i];
  guf_device device = NULL;
  guf_stream stream = NULL;
  guf_module module = NULL;
  guf_array total = NULL, sample = NULL, counts = NULL;
  int bad = failed(guf_module_load(NULL, argv[1], 0, &module, &error)) ||
            failed(guf_device_get(NULL, argc > 2 ? argv[2] : "cpu", &device, &error)) ||
            failed(guf_stream_create(device, 0, &stream, &error)) ||
            put(&inside, GUF_U64, 1, device, stream, &total) ||
            put(values, GUF_F32, kValues, device, stream, &sample) ||
            put(bins, GUF_U64, kBins, device, stream, &counts);
  const uint32_t blocks = 16;
  const uint64_t points = 100;
  if (!bad) {
    const guf_operand args[] = {{.kind = GUF_OPERAND_WEAK_INT, .value = {2026}},
                                {.kind = GUF_OPERAND_WEAK_INT, .value = {points}},
                                {.kind = GUF_OPERAND_ARRAY, .array = total}};
    bad = count(module, "count_in_circle", stream, blocks, 0, 3, args, total, &inside, 8);
    const uint64_t all = blocks * 256 * points;
    if (!bad) {
      printf("pi %.4f: %llu of %llu points\n", 4.0 * (double)inside / (double)all,
             (unsigned long long)inside, (unsigned long long)all);
    }
  }
  if (!bad) {
    const guf_operand args[] = {{.kind = GUF_OPERAND_ARRAY, .array = sample},
                                {.kind = GUF_OPERAND_ARRAY, .array = counts}};
    bad = count(module, "histogram", stream, 4, kBins * 4, 2, args, counts, bins, sizeof bins);
    for (int i = 0; !bad && i < kBins; ++i) printf("%llu\n", (unsigned long long)bins[i]);
  }
  guf_array_release(total, NULL);
  guf_array_release(sample, NULL);
  guf_array_release(counts, NULL);
  guf_module_release(module, NULL);
  guf_stream_release(stream, NULL);
  return bad;
}
