/* SPDX-License-Identifier: Apache-2.0
 * Cases of the corpus, converted to operands of libgufunc. README.md describes their format. */
#ifndef GUFUNC_TESTS_CORPUS_CASE_H
#define GUFUNC_TESTS_CORPUS_CASE_H

#include <cJSON.h>
#include <gufunc/gufunc.h>
#include <stdint.h>

enum { MAX_BUFFERS = 16, MAX_AXES = 128, MAX_TEXT = 1024 };

/* The binary data of a group of cases. */
typedef struct blob {
  unsigned char *bytes;
  uint64_t size;
} blob;

typedef struct buffer {
  unsigned char *memory, *data; /* the allocation; the first byte of the buffer in it */
  const unsigned char *before;  /* the initial contents, in the blob */
  uint64_t nbytes;
} buffer;

/* An operand with the tensor, shape and strides that it points to. */
typedef struct operand {
  guf_operand guf;
  guf_tensor tensor;
  int64_t shape[GUF_MAX_NDIM], strides[GUF_MAX_NDIM];
  int buffer; /* index in corpus_case.buffers; -1 if the operand is not in a buffer */
} operand;

/* The operands and keywords of a case. The ufunc and the method are in `json` only. */
typedef struct corpus_case {
  const cJSON *json;
  const blob *blob;
  int nbuffers, ninputs, noutputs, nindices, naxes, naxis, nsignature, ndims;
  buffer buffers[MAX_BUFFERS];
  operand inputs[GUF_MAX_OPERANDS], outputs[GUF_MAX_OPERANDS], indices[GUF_MAX_OPERANDS];
  operand where, initial;
  int has_where, has_initial, has_axis, has_axes, keepdims, all_axes, casting, order;
  int64_t axis[MAX_AXES], axis_of_axes[MAX_AXES];
  guf_core_axes axes[GUF_MAX_OPERANDS]; /* with axes in axis_of_axes */
  guf_dtype dtype, signature[GUF_MAX_OPERANDS];
  guf_dim dims[GUF_MAX_CORE_NAMES];
  uint32_t fp_report, fp_fail, fp_flags;
  char why[MAX_TEXT]; /* the first error in the case or in its result; "" if there is none */
} corpus_case;

/* Stores the reason why a case failed, unless one is already stored. Returns 0. */
int fails(corpus_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the bytes of a group. Returns 0 if the file cannot be read. */
int blob_read(blob *b, const char *path);
/* Returns the address of the byte at offset `at`; NULL if fewer than `nbytes` bytes follow. */
const unsigned char *blob_at(const blob *b, double at, double nbytes);

/* Returns 1 if every key and value of the case is valid, otherwise 0. In both cases case_drop
 * must free the memory. */
int case_read(corpus_case *c, const cJSON *json, const blob *b);
void case_drop(corpus_case *c);

/* Returns whether the status, the error and the results of a call match the case. */
int case_judge(corpus_case *c, guf_status status, const guf_error *error,
               const guf_operand *results, int nresults);

/* Compares the elements `found`, in C order, with `result` by the rules of README.md, "What is
 * expected". */
int elements_right(corpus_case *c, const cJSON *result, guf_dtype dtype, uint64_t count,
                   const unsigned char *found);

#endif
