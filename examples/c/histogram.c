/* SPDX-License-Identifier: Apache-2.0
 * Methods of ufuncs: add.at counts values per bin, add.accumulate computes the cumulative counts,
 * and maximum.reduce returns the largest count. */
#include <gufunc/gufunc.h>
#include <stdio.h>

static guf_operand over(const guf_tensor *tensor) {
  const guf_operand operand = {.kind = GUF_OPERAND_TENSOR, .tensor = tensor};
  return operand;
}

int main(void) {
  int64_t bins[] = {2, 0, 3, 2, 2, -1, 0}, counts[4] = {0}, sums[4] = {0}, tallest = 0;
  const int64_t nbins[] = {7}, ncounts[] = {4};
  const guf_tensor tensors[] = {
      {sizeof *tensors, GUF_I64, 1, 0, (uint64_t)bins, nbins, NULL, NULL},
      {sizeof *tensors, GUF_I64, 1, 0, (uint64_t)counts, ncounts, NULL, NULL},
      {sizeof *tensors, GUF_I64, 1, 0, (uint64_t)sums, ncounts, NULL, NULL},
      {sizeof *tensors, GUF_I64, 0, 0, (uint64_t)&tallest, ncounts, NULL, NULL}};
  const guf_operand indices = over(&tensors[0]), array = over(&tensors[1]);
  guf_operand total = over(&tensors[2]), top = over(&tensors[3]);
  const guf_operand one = {.kind = GUF_OPERAND_WEAK_INT, .value = {1}};
  const guf_at_args count = {.struct_size = sizeof count,
                             .array = &array,
                             .indices = &indices,
                             .nindices = 1,
                             .operand = &one};
  guf_accumulate_args sum = {.struct_size = sizeof sum, .input = &array, .output = &total};
  guf_reduce_args most = {.struct_size = sizeof most, .input = &array, .output = &top};
  guf_error error = {.struct_size = sizeof error};
  guf_ufunc add = NULL, maximum = NULL;
  guf_status status = guf_ufunc_find(NULL, "add", &add, &error);
  if (status == GUF_OK) status = guf_ufunc_find(NULL, "maximum", &maximum, &error);
  if (status == GUF_OK) status = guf_at(add, &count, &error);
  if (status == GUF_OK) status = guf_accumulate(add, &sum, &error);
  if (status == GUF_OK) status = guf_reduce(maximum, &most, &error);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  for (int i = 0; status == GUF_OK && i < 4; ++i)
    printf("bin %d: %d, up to here %d\n", i, (int)counts[i], (int)sums[i]);
  if (status == GUF_OK) printf("at most %d\n", (int)tallest);
  guf_ufunc_release(add, NULL);
  guf_ufunc_release(maximum, NULL);
  return status != GUF_OK;
}
