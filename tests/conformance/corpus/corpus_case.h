/* SPDX-License-Identifier: Apache-2.0
 * A case of the corpus as operands of libgufunc: see README.md beside this. */
#ifndef GUFUNC_TESTS_CORPUS_CASE_H
#define GUFUNC_TESTS_CORPUS_CASE_H

#include <cJSON.h>
#include <gufunc/gufunc.h>
#include <stdint.h>

enum { MOST_BUFFERS = 16, MOST_AXES = 128, MOST_TEXT = 1024 };

/* The bytes of a group. */
typedef struct blob {
  unsigned char *file;
  const unsigned char *bytes; /* of the array in it */
  uint64_t size;
} blob;

typedef struct buffer {
  unsigned char *memory, *data; /* allocated; where the bytes lie in it */
  const unsigned char *before;  /* in the blob */
  uint64_t nbytes;
} buffer;

/* An operand and what it points to. */
typedef struct operand {
  guf_operand guf;
  guf_tensor tensor;
  int64_t shape[GUF_MAX_NDIM], strides[GUF_MAX_NDIM];
  int buffer; /* or -1 */
} operand;

/* Everything about a case but what it calls. */
typedef struct corpus_case {
  const cJSON *json;
  const blob *blob;
  int nbuffers, ninputs, noutputs, nindices, naxes, naxis, nsignature, ndims;
  buffer buffers[MOST_BUFFERS];
  operand inputs[GUF_MAX_OPERANDS], outputs[GUF_MAX_OPERANDS], indices[GUF_MAX_OPERANDS];
  operand where, initial;
  int has_where, has_initial, has_axis, has_axes, keepdims, all_axes, casting, order;
  int64_t axis[MOST_AXES], axes[MOST_AXES];
  guf_dtype dtype, signature[GUF_MAX_OPERANDS];
  guf_dim dims[GUF_MAX_CORE_NAMES];
  uint32_t fp_report, fp_fail, fp_events;
  char why[MOST_TEXT]; /* what is wrong with it, or with what it came to */
} corpus_case;

/* Why a case failed, for people; keeps the first reason. Always 0. */
int fails(corpus_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a group's .npy; 0 when it is none. */
int blob_read(blob *b, const char *path);
/* `nbytes` of it from `at` on; NULL when it has not so many. */
const unsigned char *blob_at(const blob *b, double at, double nbytes);

/* 1 when every key is understood. What it took is dropped by case_drop, also after 0. */
int case_read(corpus_case *c, const cJSON *json, const blob *b);
void case_drop(corpus_case *c);

/* Whether what a call of it returned is what the case expects. `results` are the outputs. */
int case_judge(corpus_case *c, guf_status status, const guf_error *error,
               const guf_operand *results, int nresults);

/* Whether `found`, in C order, is right: README.md, "What is expected". */
int elements_right(corpus_case *c, const cJSON *result, guf_dtype dtype, uint64_t count,
                   const unsigned char *found);

#endif
