/* SPDX-License-Identifier: Apache-2.0
 * Compares the result of a call with the expectation of its case. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_case.h"

static const cJSON *get(const cJSON *json, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(json, key);
}

/* ---- elements */

typedef struct form { /* the format of a real element */
  size_t size;
  uint64_t magnitude, infinity; /* the mask of all bits except the sign; the bits of infinity */
  double eps;
} form;

static const form F16 = {2, 0x7fff, 0x7c00, 0x1p-10}, BF16 = {2, 0x7fff, 0x7f80, 0x1p-7},
                  F32 = {4, 0x7fffffff, 0x7f800000, 0x1p-23},
                  F64 = {8, INT64_MAX, 0x7ff0000000000000, 0x1p-52};

static uint64_t bits_at(const unsigned char *place, size_t size) {
  uint64_t bits = 0;
  memcpy(&bits, place, size);
  return bits;
}

/* Returns the position of a float among the floats of its type in ascending order. The difference
 * of two ranks is the distance of the floats in ulp. The rank of 0 and -0 is 0. */
static int64_t rank(uint64_t bits, const form *f) {
  const int64_t magnitude = (int64_t)(bits & f->magnitude);
  return bits == (bits & f->magnitude) ? magnitude : -magnitude;
}

static double value_of(uint64_t bits, const form *f) {
  double value;
  float narrow;
  if (f->size == 8) return memcpy(&value, &bits, sizeof value), value;
  return memcpy(&narrow, &bits, sizeof narrow), (double)narrow;
}

static int real_right(uint64_t found, uint64_t expected, const form *f, int64_t ulp) {
  if ((found & f->magnitude) > f->infinity && (expected & f->magnitude) > f->infinity) return 1;
  if (ulp == 0) return found == expected;
  if ((found & f->magnitude) > f->infinity || (expected & f->magnitude) > f->infinity) return 0;
  const int64_t a = rank(found, f), b = rank(expected, f);
  return a == b || (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b) <= (uint64_t)ulp;
}

/* Compares both parts of a complex number with a tolerance in ulp of the larger part. */
static int complex_right(const unsigned char *found, const unsigned char *expected, const form *f,
                         int64_t ulp) {
  double largest = 0, limit;
  int exponent, right = 1;
  for (size_t k = 0; k < 2; ++k)
    largest = fmax(largest, fabs(value_of(bits_at(expected + k * f->size, f->size), f)));
  limit = largest > 0 && isfinite(largest)
              ? (frexp(largest, &exponent), (double)ulp * f->eps * ldexp(1, exponent - 1))
              : 0;
  for (size_t k = 0; k < 2; ++k) {
    const uint64_t a = bits_at(found + k * f->size, f->size);
    const uint64_t b = bits_at(expected + k * f->size, f->size);
    if (real_right(a, b, f, 0) || value_of(a, f) == value_of(b, f)) continue;
    right = right && ulp && fabs(value_of(a, f) - value_of(b, f)) <= limit;
  }
  return right;
}

static const form *form_of(const guf_dtype_info *info) {
  const size_t part = info->kind == GUF_KIND_COMPLEX ? info->itemsize / 2 : info->itemsize;
  if (info->kind == GUF_KIND_BFLOAT) return &BF16;
  if (info->kind != GUF_KIND_FLOAT && info->kind != GUF_KIND_COMPLEX) return NULL;
  return part == 2 ? &F16 : part == 4 ? &F32 : &F64;
}

int elements_right(corpus_case *c, const cJSON *result, guf_dtype dtype, uint64_t count,
                   const unsigned char *found) {
  guf_dtype_info info = {.struct_size = sizeof info};
  const cJSON *place = get(result, "defined");
  guf_dtype_get_info(dtype, &info, NULL);
  const double nbytes = (double)(count * info.itemsize);
  const int64_t ulp = (int64_t)get(result, "ulp")->valuedouble;
  const unsigned char *expected = blob_at(c->blob, get(result, "at")->valuedouble, nbytes);
  const unsigned char *defined = place ? blob_at(c->blob, place->valuedouble, (double)count) : NULL;
  const form *f = form_of(&info);
  if (!expected || nbytes != get(result, "nbytes")->valuedouble || (place && !defined))
    return fails(c, "the result's bytes");
  for (uint64_t k = 0; k < count; ++k, found += info.itemsize, expected += info.itemsize) {
    int right;
    if (defined && !defined[k]) continue;
    if (!f)
      right = !memcmp(found, expected, info.itemsize);
    else if (info.kind != GUF_KIND_COMPLEX)
      right = real_right(bits_at(found, f->size), bits_at(expected, f->size), f, ulp);
    else if (ulp)
      right = complex_right(found, expected, f, ulp);
    else
      right =
          real_right(bits_at(found, f->size), bits_at(expected, f->size), f, 0) &&
          real_right(bits_at(found + f->size, f->size), bits_at(expected + f->size, f->size), f, 0);
    if (!right)
      return fails(c, "element %llu: 0x%llx, expected 0x%llx (%s, %lld ULP)", (unsigned long long)k,
                   (unsigned long long)bits_at(found, info.itemsize > 8 ? 8 : info.itemsize),
                   (unsigned long long)bits_at(expected, info.itemsize > 8 ? 8 : info.itemsize),
                   info.name, (long long)ulp);
  }
  return 1;
}

/* ---- results */

static int same_shape(corpus_case *c, const cJSON *result, guf_dtype dtype, int ndim,
                      const int64_t *shape) {
  const cJSON *expected = get(result, "shape"), *one;
  const char *name = get(result, "dtype")->valuestring;
  int axis = 0;
  if (strcmp(guf_dtype_name(dtype), name))
    return fails(c, "dtype %s, expected %s", guf_dtype_name(dtype), name);
  if (cJSON_GetArraySize(expected) != ndim)
    return fails(c, "%d dimensions, expected %d", ndim, cJSON_GetArraySize(expected));
  cJSON_ArrayForEach(one, expected) {
    if ((int64_t)one->valuedouble != shape[axis])
      return fails(c, "extent %lld of axis %d", (long long)shape[axis], axis);
    ++axis;
  }
  return 1;
}

/* Calls `visit` with the address of each element of the tensor, in C order. */
static void walk(const guf_tensor *tensor, void (*visit)(void *, unsigned char *), void *user) {
  int64_t index[GUF_MAX_NDIM] = {0};
  unsigned char *place = (unsigned char *)(uintptr_t)tensor->address;
  for (int axis = 0; axis < tensor->ndim; ++axis)
    if (!tensor->shape[axis]) return;
  for (;;) {
    int axis = tensor->ndim - 1;
    visit(user, place);
    for (; axis >= 0; --axis) {
      place += tensor->strides[axis];
      if (++index[axis] < tensor->shape[axis]) break;
      place -= tensor->strides[axis] * tensor->shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

typedef struct gathering {
  unsigned char *next;
  size_t itemsize, part; /* size of an element; size of the unit that is byte-swapped */
  int swapped;
} gathering;

static void gather(void *user, unsigned char *place) {
  gathering *g = user;
  for (size_t k = 0; k < g->itemsize; ++k)
    g->next[k] = place[g->swapped ? k / g->part * g->part + g->part - 1 - k % g->part : k];
  g->next += g->itemsize;
}

static int given_right(corpus_case *c, const cJSON *result, const guf_tensor *tensor) {
  guf_dtype_info info = {.struct_size = sizeof info};
  uint64_t count = 1;
  int right = same_shape(c, result, tensor->dtype, tensor->ndim, tensor->shape);
  guf_dtype_get_info(tensor->dtype, &info, NULL);
  for (int axis = 0; axis < tensor->ndim; ++axis) count *= (uint64_t)tensor->shape[axis];
  unsigned char *all = malloc(count * info.itemsize + 1);
  gathering g = {all, info.itemsize, info.itemsize, (tensor->flags & GUF_TENSOR_SWAPPED) != 0};
  if (info.kind == GUF_KIND_COMPLEX) g.part /= 2;
  if (right) walk(tensor, gather, &g);
  right = right && elements_right(c, result, tensor->dtype, count, all);
  free(all);
  return right;
}

static int allocated_right(corpus_case *c, const cJSON *result, guf_array array) {
  guf_array_info info = {.struct_size = sizeof info};
  const cJSON *strides = get(result, "strides");
  int place = 0, right = guf_array_get_info(array, &info, NULL) == GUF_OK;
  right = right && same_shape(c, result, info.dtype, info.ndim, info.shape);
  for (int axis = 0; right && strides && info.size && axis < info.ndim; ++axis) {
    if (info.shape[axis] < 2) continue;
    const cJSON *expected = cJSON_GetArrayItem(strides, place++);
    if (!expected || (int64_t)expected->valuedouble != info.strides[axis])
      right = fails(c, "stride %lld of axis %d", (long long)info.strides[axis], axis);
  }
  unsigned char *all = malloc(info.nbytes + 1);
  if (right && guf_array_copy_to_host(array, all, info.nbytes, GUF_ORDER_C, NULL, NULL) != GUF_OK)
    right = fails(c, "the result cannot be copied");
  right = right && elements_right(c, result, info.dtype, info.size, all);
  free(all);
  return right;
}

/* ---- bytes that the call must not change */

typedef struct marking {
  const unsigned char *data;
  unsigned char *touched;
  size_t itemsize;
} marking;

static void mark(void *user, unsigned char *place) {
  marking *m = user;
  memset(m->touched + (place - m->data), 1, m->itemsize);
}

static void mark_operand(const operand *o, int number, marking *m) {
  guf_dtype_info info = {.struct_size = sizeof info};
  if (o->buffer != number) return;
  if (guf_dtype_get_info(o->tensor.dtype, &info, NULL) != GUF_OK) return; /* an allocated output */
  m->itemsize = info.itemsize;
  walk(&o->tensor, mark, m);
}

/* Returns whether the buffers are unchanged outside the `count` operands in `written`. */
static int others_kept(corpus_case *c, const operand *const *written, int count) {
  for (int number = 0; number < c->nbuffers; ++number) {
    const buffer *b = &c->buffers[number];
    unsigned char *touched = calloc(b->nbytes + 1, 1);
    marking m = {b->data, touched, 0};
    uint64_t k = 0;
    for (int i = 0; i < count; ++i) mark_operand(written[i], number, &m);
    while (k < b->nbytes && (touched[k] || b->data[k] == b->before[k])) ++k;
    free(touched);
    if (k < b->nbytes)
      return fails(c, "byte %llu of buffer %d changed", (unsigned long long)k, number);
  }
  return 1;
}

static int refused(corpus_case *c, const guf_error *error, const cJSON *expect) {
  const cJSON *argument = get(expect, "argument"), *axis = get(expect, "axis");
  const cJSON *message = get(expect, "message");
  if (strcmp(error->message, message->valuestring))
    return fails(c, "message \"%s\", expected \"%s\"", error->message, message->valuestring);
  if (error->argument != argument->valueint || error->axis != axis->valueint)
    return fails(c, "argument %d, axis %d, expected %d, %d", error->argument, error->axis,
                 argument->valueint, axis->valueint);
  return cJSON_IsTrue(get(expect, "written")) || others_kept(c, NULL, 0);
}

int case_judge(corpus_case *c, guf_status status, const guf_error *error,
               const guf_operand *results, int nresults) {
  const cJSON *expect = get(c->json, "expect"), *expected = get(expect, "status");
  const cJSON *inouts = get(expect, "inouts"), *fp_flags = get(expect, "fp_flags");
  const operand *written[GUF_MAX_OPERANDS];
  int count = 0;
  if (strcmp(guf_status_name(status), expected->valuestring))
    return fails(c, "%s \"%s\", expected %s", guf_status_name(status), status ? error->message : "",
                 expected->valuestring);
  if (status != GUF_OK) return refused(c, error, expect);
  if (fp_flags && c->fp_flags != (uint32_t)fp_flags->valuedouble)
    return fails(c, "fp_flags %u, expected %u", c->fp_flags, (unsigned)fp_flags->valuedouble);
  const cJSON *list = get(expect, "results"), *result;
  if (cJSON_GetArraySize(list) != (inouts ? cJSON_GetArraySize(inouts) : nresults))
    return fails(c, "%d results", nresults);
  cJSON_ArrayForEach(result, list) {
    const operand *given = inouts ? &c->inputs[cJSON_GetArrayItem(inouts, count)->valueint]
                           : !strcmp(get(c->json, "method")->valuestring, "at")
                               ? &c->inputs[0]
                               : &c->outputs[count];
    const int fresh = given->guf.kind != GUF_OPERAND_TENSOR;
    if (!(fresh ? allocated_right(c, result, results[count].array)
                : given_right(c, result, &given->tensor)))
      return 0;
    written[count++] = given;
  }
  return others_kept(c, written, count);
}
