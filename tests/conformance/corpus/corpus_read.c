/* SPDX-License-Identifier: Apache-2.0
 * Reads the binary data of a group and the keys of a case. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_case.h"

int fails(corpus_case *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!c->why[0]) vsnprintf(c->why, sizeof c->why, format, arguments);
  va_end(arguments);
  return 0;
}

int blob_read(blob *b, const char *path) {
  FILE *file = fopen(path, "rb");
  long size = 0;
  memset(b, 0, sizeof *b);
  if (!file) return 0;
  const int whole = !fseek(file, 0, SEEK_END) && (size = ftell(file)) > 0 &&
                    !fseek(file, 0, SEEK_SET) && (b->bytes = malloc((size_t)size)) &&
                    fread(b->bytes, 1, (size_t)size, file) == (size_t)size;
  b->size = (uint64_t)size;
  fclose(file);
  return whole;
}

const unsigned char *blob_at(const blob *b, double at, double nbytes) {
  if (at < 0 || nbytes < 0 || at + nbytes > (double)b->size) return NULL;
  return b->bytes + (uint64_t)at;
}

/* Returns an integer of the corpus. Integers of more than 53 bits are stored as strings. */
static int64_t integer_of(const cJSON *json) {
  return cJSON_IsString(json) ? strtoll(json->valuestring, NULL, 10) : (int64_t)json->valuedouble;
}

static const cJSON *get(const cJSON *json, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(json, key);
}

static double number(const cJSON *json, const char *key) {
  const cJSON *found = get(json, key);
  return cJSON_IsNumber(found) ? found->valuedouble : -1;
}

static const char *text(const cJSON *json, const char *key) {
  const cJSON *found = get(json, key);
  return cJSON_IsString(found) ? found->valuestring : "";
}

static int integers(corpus_case *c, const cJSON *json, int most, int64_t *values) {
  int count = 0;
  const cJSON *one;
  cJSON_ArrayForEach(one, json) {
    if (count == most) return fails(c, "more than %d numbers", most) - 1;
    values[count++] = integer_of(one);
  }
  return count;
}

static guf_dtype dtype_of(corpus_case *c, const char *spelling) {
  guf_dtype dtype = 0;
  if (guf_dtype_parse(spelling, &dtype, NULL) != GUF_OK) fails(c, "dtype %s", spelling);
  return dtype;
}

/* ---- operands */

static int read_array(corpus_case *c, const cJSON *json, operand *made) {
  const int number_of = (int)number(json, "buffer");
  guf_tensor *tensor = &made->tensor;
  if (number_of < 0 || number_of >= c->nbuffers) return fails(c, "no buffer %d", number_of);
  made->buffer = number_of;
  tensor->struct_size = sizeof *tensor;
  tensor->dtype = dtype_of(c, text(json, "dtype"));
  tensor->ndim = integers(c, get(json, "shape"), GUF_MAX_NDIM, made->shape);
  if (integers(c, get(json, "strides"), GUF_MAX_NDIM, made->strides) != tensor->ndim)
    return fails(c, "strides");
  tensor->shape = made->shape;
  tensor->strides = made->strides;
  tensor->address =
      (uint64_t)(uintptr_t)(c->buffers[number_of].data + (size_t)number(json, "offset"));
  if (cJSON_IsTrue(get(json, "swapped"))) tensor->flags |= GUF_TENSOR_SWAPPED;
  if (cJSON_IsTrue(get(json, "read_only"))) tensor->flags |= GUF_TENSOR_READ_ONLY;
  made->guf.kind = GUF_OPERAND_TENSOR;
  made->guf.tensor = tensor;
  return 1;
}

/* Reads a Python int of any size. A magnitude of more than 64 bits becomes UINT64_MAX. */
static void read_int(const char *digits, guf_operand *made) {
  const int negative = *digits == '-';
  uint64_t magnitude = 0;
  int beyond = 0;
  for (digits += negative; *digits; ++digits) {
    const uint64_t digit = (uint64_t)(*digits - '0');
    beyond = beyond || magnitude > (UINT64_MAX - digit) / 10;
    magnitude = magnitude * 10 + digit;
  }
  const uint64_t least = (uint64_t)1 << 63;
  if (!beyond && magnitude <= (negative ? least : least - 1)) {
    made->kind = GUF_OPERAND_WEAK_INT;
    made->value[0] = negative ? 0 - magnitude : magnitude;
    return;
  }
  made->kind = GUF_OPERAND_WEAK_INT_HUGE;
  made->value[0] = beyond ? UINT64_MAX : magnitude;
  made->value[1] = (uint64_t)(negative + 2 * beyond);
}

static int read_scalar(corpus_case *c, const cJSON *json, guf_operand *made) {
  const char *digits = text(json, "bytes");
  unsigned char *bytes = (unsigned char *)made->value;
  made->kind = GUF_OPERAND_SCALAR;
  made->dtype = dtype_of(c, text(json, "dtype"));
  for (size_t k = 0; digits[2 * k]; ++k) {
    unsigned byte;
    if (k == sizeof made->value || sscanf(digits + 2 * k, "%2x", &byte) != 1)
      return fails(c, "bytes %s", digits);
    bytes[k] = (unsigned char)byte;
  }
  return 1;
}

static int read_operand(corpus_case *c, const cJSON *json, operand *made) {
  const char *kind = text(json, "kind");
  made->buffer = -1;
  if (cJSON_IsNull(json)) return 1; /* GUF_OPERAND_NONE */
  if (!strcmp(kind, "array")) return read_array(c, json, made);
  if (!strcmp(kind, "scalar")) return read_scalar(c, json, &made->guf);
  if (!strcmp(kind, "weak_int")) return read_int(text(json, "value"), &made->guf), 1;
  if (!strcmp(kind, "weak_float")) {
    made->guf.kind = GUF_OPERAND_WEAK_FLOAT;
    made->guf.value[0] = strtoull(text(json, "bits"), NULL, 16);
    return 1;
  }
  if (!strcmp(kind, "weak_complex")) {
    made->guf.kind = GUF_OPERAND_WEAK_COMPLEX;
    for (int k = 0; k < 2; ++k) {
      const cJSON *part = cJSON_GetArrayItem(get(json, "bits"), k);
      if (!cJSON_IsString(part)) return fails(c, "bits");
      made->guf.value[k] = strtoull(part->valuestring, NULL, 16);
    }
    return 1;
  }
  return fails(c, "operand of the kind \"%s\"", kind);
}

static int read_operands(corpus_case *c, const cJSON *json, operand *made, int *count) {
  const cJSON *one;
  cJSON_ArrayForEach(one, json) {
    if (*count == GUF_MAX_OPERANDS) return fails(c, "operands");
    if (!read_operand(c, one, &made[(*count)++])) return 0;
  }
  return 1;
}

static int read_buffers(corpus_case *c, const cJSON *json) {
  const cJSON *one;
  cJSON_ArrayForEach(one, json) {
    if (c->nbuffers == MAX_BUFFERS) return fails(c, "more than %d buffers", MAX_BUFFERS);
    buffer *made = &c->buffers[c->nbuffers];
    made->before = blob_at(c->blob, number(one, "at"), number(one, "nbytes"));
    if (!made->before) return fails(c, "a buffer outside the group's bytes");
    made->nbytes = (uint64_t)number(one, "nbytes");
    made->memory = malloc(made->nbytes + 32);
    if (!made->memory) return fails(c, "memory");
    ++c->nbuffers;
    made->data = (unsigned char *)(((uintptr_t)made->memory + 15) & ~(uintptr_t)15);
    made->data += (size_t)number(one, "shift");
    memcpy(made->data, made->before, made->nbytes);
  }
  return 1;
}

/* ---- keywords */

static int word_of(corpus_case *c, const char *word, const char *const *words, int count) {
  for (int k = 0; k < count; ++k)
    if (!strcmp(word, words[k])) return k + 1;
  return fails(c, "\"%s\"", word);
}

static int read_types(corpus_case *c, const cJSON *json) {
  const cJSON *one;
  cJSON_ArrayForEach(one, json) {
    if (c->nsignature == GUF_MAX_OPERANDS) return fails(c, "signature");
    c->signature[c->nsignature++] = cJSON_IsNull(one) ? 0 : dtype_of(c, one->valuestring);
  }
  return 1;
}

static int read_axes(corpus_case *c, const cJSON *json) {
  const cJSON *group;
  int total = 0;
  c->has_axes = 1;
  cJSON_ArrayForEach(group, json) {
    if (c->naxes == GUF_MAX_OPERANDS) return fails(c, "axes");
    const int count = integers(c, group, MAX_AXES - total, c->axis_of_axes + total);
    if (count < 0) return 0;
    c->axes[c->naxes++] = (guf_core_axes){c->axis_of_axes + total, count, 0};
    total += count;
  }
  return 1;
}

static int read_axis(corpus_case *c, const cJSON *json) {
  c->has_axis = 1;
  c->all_axes = cJSON_IsString(json) && !strcmp(json->valuestring, "all");
  if (cJSON_IsArray(json)) return (c->naxis = integers(c, json, MAX_AXES, c->axis)) >= 0;
  if (!c->all_axes) c->axis[0] = integer_of(json), c->naxis = 1;
  return 1;
}

static int read_dims(corpus_case *c, const cJSON *json) {
  const cJSON *one;
  cJSON_ArrayForEach(one, json) {
    if (c->ndims == GUF_MAX_CORE_NAMES) return fails(c, "dims");
    c->dims[c->ndims].name = cJSON_GetArrayItem(one, 0)->valuestring;
    c->dims[c->ndims++].size = integer_of(cJSON_GetArrayItem(one, 1));
  }
  return 1;
}

static int read_indices(corpus_case *c, const cJSON *json) {
  return read_operands(c, json, c->indices, &c->nindices);
}
static int read_inputs(corpus_case *c, const cJSON *json) {
  return read_operands(c, json, c->inputs, &c->ninputs);
}
static int read_outputs(corpus_case *c, const cJSON *json) {
  return read_operands(c, json, c->outputs, &c->noutputs);
}
static int read_where(corpus_case *c, const cJSON *json) {
  c->has_where = 1;
  return read_operand(c, json, &c->where);
}
static int read_initial(corpus_case *c, const cJSON *json) {
  c->has_initial = 1;
  if (cJSON_IsString(json) && !strcmp(json->valuestring, "none")) return 1;
  return read_operand(c, json, &c->initial);
}
static int read_keepdims(corpus_case *c, const cJSON *json) {
  c->keepdims = cJSON_IsTrue(json);
  return 1;
}
static int read_casting(corpus_case *c, const cJSON *json) {
  static const char *const words[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return c->casting = word_of(c, json->valuestring, words, 5);
}
static int read_order(corpus_case *c, const cJSON *json) {
  static const char *const words[] = {"K", "C", "F", "A"};
  const int place = word_of(c, json->valuestring, words, 4);
  c->order = place - 1;
  return place;
}
static int read_dtype(corpus_case *c, const cJSON *json) {
  return (c->dtype = dtype_of(c, json->valuestring)) != 0;
}
static int read_report(corpus_case *c, const cJSON *json) {
  c->fp_report = cJSON_IsTrue(json) ? 31 : 0;
  return 1;
}
static int read_fail(corpus_case *c, const cJSON *json) {
  c->fp_fail = (uint32_t)json->valuedouble;
  return 1;
}
static int read_later(corpus_case *c, const cJSON *json) {
  return json != NULL || fails(c, "nothing");
}

static const struct {
  const char *key;
  int (*read)(corpus_case *, const cJSON *);
} KEYS[] = {
    {"id", read_later},          {"ufunc", read_later},     {"method", read_later},
    {"expect", read_later},      {"buffers", read_buffers}, {"inputs", read_inputs},
    {"outputs", read_outputs},   {"where", read_where},     {"indices", read_indices},
    {"initial", read_initial},   {"axis", read_axis},       {"axes", read_axes},
    {"keepdims", read_keepdims}, {"dims", read_dims},       {"casting", read_casting},
    {"order", read_order},       {"dtype", read_dtype},     {"signature", read_types},
    {"fp_report", read_report},  {"fp_fail", read_fail},
};

int case_read(corpus_case *c, const cJSON *json, const blob *b) {
  const cJSON *item;
  memset(c, 0, sizeof *c);
  c->json = json, c->blob = b;
  cJSON_ArrayForEach(item, json) { /* "buffers" precedes the operands that use them */
    size_t k = 0;
    while (k < sizeof KEYS / sizeof KEYS[0] && strcmp(KEYS[k].key, item->string)) ++k;
    if (k == sizeof KEYS / sizeof KEYS[0]) return fails(c, "the key \"%s\"", item->string);
    if (!KEYS[k].read(c, item)) return fails(c, "the value of \"%s\"", item->string);
  }
  return !c->why[0];
}

void case_drop(corpus_case *c) {
  for (int k = 0; k < c->nbuffers; ++k) free(c->buffers[k].memory);
  c->nbuffers = 0;
}
