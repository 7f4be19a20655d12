/* SPDX-License-Identifier: Apache-2.0
 * A reduction whose accumulator has two values, implemented by plain C functions: the element of
 * least magnitude and its index, along each row of a matrix. */
#include <gufunc/gufunc.h>
#include <math.h>
#include <stdio.h>

static int nearer(double a, double b) {
  return fabs(a) < fabs(b);
}

/* Reduces a base block. The signature is (n),()->(),(). The inputs are the elements and the index
 * of the first element; the outputs are the values of the accumulator. `dims` contains the number
 * of items and n. `steps` contains the stride of each of the four operands from one item to the
 * next, and then the stride of the first operand along n. */
static void nearest_of_block(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  (void)user;
  for (int64_t item = 0; item < dims[0]; ++item) {
    const char *const x = args[0] + item * steps[0];
    int64_t at = 0;
    for (int64_t i = 1; i < dims[1]; ++i) {
      if (nearer(*(const double *)(x + i * steps[4]), *(const double *)(x + at * steps[4]))) at = i;
    }
    *(double *)(args[2] + item * steps[2]) = *(const double *)(x + at * steps[4]);
    *(int64_t *)(args[3] + item * steps[3]) = *(const int64_t *)(args[1] + item * steps[1]) + at;
  }
}

/* Combines two accumulators. The six operands are the value and the index of the left accumulator,
 * of the right accumulator, and of the result. The result overwrites the left accumulator. */
static void merge(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  (void)user;
  for (int64_t i = 0; i < dims[0]; ++i) {
    const int right = nearer(*(const double *)(args[2] + i * steps[2]),
                             *(const double *)(args[0] + i * steps[0]));
    const int from = right ? 2 : 0;
    *(double *)(args[4] + i * steps[4]) = *(const double *)(args[from] + i * steps[from]);
    *(int64_t *)(args[5] + i * steps[5]) = *(const int64_t *)(args[from + 1] + i * steps[from + 1]);
  }
}

static guf_status make(const char *name, const char *signature, int nin, const guf_dtype *types,
                       guf_loop_numpy function, guf_ufunc *out, guf_error *error) {
  const guf_ufunc_desc desc = {
      .struct_size = sizeof desc, .name = name, .signature = signature, .nin = nin, .nout = 2};
  const guf_loop_desc loop = {.struct_size = sizeof loop,
                              .kind = GUF_LOOP_NUMPY,
                              .flags = GUF_LOOP_ANY_THREAD,
                              .types = types,
                              .ntypes = nin + 2,
                              .numpy = function};
  const guf_status status = guf_ufunc_create(NULL, &desc, out, error);
  return status == GUF_OK ? guf_ufunc_add_loop(*out, &loop, error) : status;
}

int main(void) {
  const guf_dtype types[] = {GUF_F64, GUF_I64, GUF_F64, GUF_I64, GUF_F64, GUF_I64};
  static double data[2][1000];
  const int64_t shape[] = {2, 1000}, rows[] = {2};
  for (int i = 0; i < 2000; ++i) data[i / 1000][i % 1000] = i % 7 - 3.5;
  data[0][700] = -0.25, data[1][3] = 0.125;
  double value[2];
  int64_t index[2];
  const guf_tensor input = {sizeof input, GUF_F64, 2, 0, (uint64_t)data, shape, NULL, NULL};
  const guf_tensor results[] = {
      {sizeof *results, GUF_F64, 1, 0, (uint64_t)value, rows, NULL, NULL},
      {sizeof *results, GUF_I64, 1, 0, (uint64_t)index, rows, NULL, NULL}};
  const guf_operand in = {.kind = GUF_OPERAND_TENSOR, .tensor = &input};
  guf_operand out[] = {{.kind = GUF_OPERAND_TENSOR, .tensor = &results[0]},
                       {.kind = GUF_OPERAND_TENSOR, .tensor = &results[1]}};
  const int64_t axis = 1;
  guf_reduce_args args = {.struct_size = sizeof args, .input = &in, .axis = &axis, .naxis = 1};
  args.outputs = out, args.noutputs = 2;
  guf_error error = {.struct_size = sizeof error};
  guf_ufunc nearest = NULL, merging = NULL;
  guf_status status =
      make("nearest", "(n),()->(),()", 2, types, nearest_of_block, &nearest, &error);
  if (status == GUF_OK) status = make("nearest_merge", NULL, 4, types, merge, &merging, &error);
  const guf_reduction_desc parts = {.struct_size = sizeof parts, .merge = merging};
  if (status == GUF_OK) status = guf_ufunc_set_reduction(nearest, &parts, &error);
  if (status == GUF_OK) status = guf_reduce(nearest, &args, &error);
  for (int i = 0; status == GUF_OK && i < 2; ++i) printf("%g at %d\n", value[i], (int)index[i]);
  if (status != GUF_OK) fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  guf_ufunc_release(merging, NULL);
  guf_ufunc_release(nearest, NULL);
  return status != GUF_OK;
}
