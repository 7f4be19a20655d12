/* SPDX-License-Identifier: Apache-2.0
 * Runs the corpus from C: run_corpus [--answers] CORPUS_FOLDER DEVICE MODULE.so...
 * --answers prints the error of each rejected case as in answers.tsv, and no verdicts. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_case.h"

static int copied(guf_operand *to, const operand *from, int count) {
  for (int k = 0; k < count; ++k) to[k] = from[k].guf;
  return count;
}

static guf_status run_call(corpus_case *c, guf_ufunc ufunc, guf_device device, guf_operand *results,
                           int outer, guf_error *error) {
  guf_operand inputs[GUF_MAX_OPERANDS];
  guf_call_args args = {.struct_size = sizeof args, .options.device = device};
  guf_ufunc_info info = {.struct_size = sizeof info};
  guf_ufunc_get_info(ufunc, &info, NULL);
  args.ninputs = copied(inputs, c->inputs, c->ninputs);
  args.noutputs = c->noutputs ? copied(results, c->outputs, c->noutputs) : info.nout;
  args.inputs = inputs, args.outputs = results;
  args.where = c->has_where ? &c->where.guf : NULL;
  args.casting = c->casting, args.order = c->order, args.dtype = c->dtype;
  args.signature = c->nsignature ? c->signature : NULL, args.nsignature = c->nsignature;
  args.axes = c->has_axes ? c->axes : NULL, args.naxes = c->naxes;
  args.axis = c->has_axis ? c->axis : NULL;
  args.dims = c->ndims ? c->dims : NULL, args.ndims = c->ndims;
  args.flags = c->keepdims ? GUF_CALL_KEEPDIMS : 0;
  args.options.fp_flags = c->fp_report ? &c->fp_flags : NULL;
  args.options.fp_report = c->fp_report, args.options.fp_fail = c->fp_fail;
  return (outer ? guf_outer : guf_call)(ufunc, &args, error);
}

static guf_status run_reduce(corpus_case *c, guf_ufunc ufunc, guf_device device,
                             guf_operand *results, guf_error *error) {
  guf_reduce_args args = {.struct_size = sizeof args, .options.device = device};
  args.input = &c->inputs[0].guf, args.output = results;
  args.axis = c->has_axis ? c->axis : NULL;
  args.naxis = c->all_axes ? GUF_ALL_AXES : c->naxis;
  args.initial = c->has_initial ? &c->initial.guf : NULL;
  args.where = c->has_where ? &c->where.guf : NULL;
  args.flags = c->keepdims ? GUF_CALL_KEEPDIMS : 0;
  args.dtype = c->dtype, args.order = c->order;
  args.options.fp_flags = c->fp_report ? &c->fp_flags : NULL;
  args.options.fp_report = c->fp_report, args.options.fp_fail = c->fp_fail;
  return guf_reduce(ufunc, &args, error);
}

static guf_status run_accumulate(corpus_case *c, guf_ufunc ufunc, guf_device device,
                                 guf_operand *results, guf_error *error) {
  guf_accumulate_args args = {.struct_size = sizeof args, .options.device = device};
  args.input = &c->inputs[0].guf, args.output = results;
  args.indices = c->nindices ? &c->indices[0].guf : NULL;
  args.axis = c->axis[0], args.dtype = c->dtype, args.order = c->order;
  args.options.fp_flags = c->fp_report ? &c->fp_flags : NULL;
  args.options.fp_report = c->fp_report, args.options.fp_fail = c->fp_fail;
  return (c->nindices ? guf_reduceat : guf_accumulate)(ufunc, &args, error);
}

static guf_status run_at(corpus_case *c, guf_ufunc ufunc, guf_device device, guf_error *error) {
  guf_operand indices[GUF_MAX_OPERANDS];
  guf_at_args args = {.struct_size = sizeof args, .options.device = device};
  args.array = &c->inputs[0].guf;
  args.operand = c->ninputs > 1 ? &c->inputs[1].guf : NULL;
  args.nindices = copied(indices, c->indices, c->nindices), args.indices = indices;
  args.options.fp_flags = c->fp_report ? &c->fp_flags : NULL;
  args.options.fp_report = c->fp_report, args.options.fp_fail = c->fp_fail;
  return guf_at(ufunc, &args, error);
}

static guf_status run_method(corpus_case *c, guf_ufunc ufunc, guf_device device,
                             guf_operand *results, guf_error *error) {
  const char *method = cJSON_GetObjectItemCaseSensitive(c->json, "method")->valuestring;
  const int outer = !strcmp(method, "outer");
  if (outer || !strcmp(method, "call")) return run_call(c, ufunc, device, results, outer, error);
  copied(results, c->outputs, c->noutputs);
  if (!strcmp(method, "reduce")) return run_reduce(c, ufunc, device, results, error);
  if (!strcmp(method, "at")) return run_at(c, ufunc, device, error);
  if (!strcmp(method, "accumulate") || !strcmp(method, "reduceat"))
    return run_accumulate(c, ufunc, device, results, error);
  fails(c, "method \"%s\"", method);
  return GUF_E_INTERNAL;
}

static int prints_answers;

/* Runs a case. Returns 1 if the result is the expected one. */
static int run_case(const cJSON *json, const blob *b, guf_device device) {
  static corpus_case c;
  guf_operand results[GUF_MAX_OPERANDS] = {{0}};
  guf_error error = {.struct_size = sizeof error};
  guf_ufunc ufunc = NULL;
  guf_ufunc_info info = {.struct_size = sizeof info};
  int right = case_read(&c, json, b);
  if (right) {
    const char *name = cJSON_GetObjectItemCaseSensitive(json, "ufunc")->valuestring;
    guf_status status = guf_ufunc_find(NULL, name, &ufunc, &error);
    if (status == GUF_OK) status = run_method(&c, ufunc, device, results, &error);
    if (status == GUF_OK && device) status = guf_device_synchronize(device, UINT64_MAX, &error);
    if (ufunc) guf_ufunc_get_info(ufunc, &info, NULL);
    const int nresults = c.noutputs ? c.noutputs : info.nout;
    if (prints_answers && status != GUF_OK)
      printf("%s\t%d\t%d\t%s\n", cJSON_GetObjectItemCaseSensitive(json, "id")->valuestring,
             error.argument, error.axis, error.message);
    right = case_judge(&c, status, &error, results, nresults);
    for (int k = 0; status == GUF_OK && k < nresults; ++k)
      if (results[k].kind == GUF_OPERAND_ARRAY) guf_array_release(results[k].array, NULL);
  }
  if (!right && !prints_answers)
    printf("%s: %s\n", cJSON_GetObjectItemCaseSensitive(json, "id")->valuestring, c.why);
  guf_ufunc_release(ufunc, NULL);
  case_drop(&c);
  return right;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long size = 0;
  if (!file) return NULL;
  if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET) &&
      (text = calloc((size_t)size + 1, 1)) && fread(text, 1, (size_t)size, file) != (size_t)size)
    text[0] = '\0';
  fclose(file);
  return text;
}

static int is_group(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot && !strcmp(dot, ".json");
}

/* Extends an FNV-1a digest of the ids of the judged cases, each followed by a newline. */
static uint64_t digest_with(uint64_t digest, const char *id) {
  for (; *id; ++id) digest = (digest ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
  return (digest ^ '\n') * UINT64_C(0x100000001b3);
}

/* Runs a group. Adds its cases to `count` and its failed cases to `failed`. */
static void run_group(const char *folder, const char *name, guf_device device, int *count,
                      int *failed) {
  char path[4096];
  blob b;
  const cJSON *one;
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  const int before = *count;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  char *text = read_text(path);
  cJSON *json = text ? cJSON_Parse(text) : NULL;
  snprintf(path + strlen(path) - strlen("json"), sizeof "json", "bin");
  const int whole = blob_read(&b, path);
  const cJSON *format = cJSON_GetObjectItemCaseSensitive(json, "format");
  if (!json || !whole || !cJSON_IsNumber(format) || format->valueint != 1) {
    printf("%s: cannot be read\n", name);
    ++*count, ++*failed;
  } else {
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(json, "cases")) {
      if (!run_case(one, &b, device)) ++*failed;
      ++*count;
      digest = digest_with(digest, cJSON_GetObjectItemCaseSensitive(one, "id")->valuestring);
    }
    if (!prints_answers)
      printf("%.*s: %d judged, fnv1a %016" PRIx64 "\n", (int)(strlen(name) - strlen(".json")), name,
             *count - before, digest);
  }
  cJSON_Delete(json);
  free(text);
  free(b.bytes);
}

int main(int argc, char **argv) {
  struct dirent **groups = NULL;
  guf_device device = NULL;
  guf_module module;
  guf_error error = {.struct_size = sizeof error};
  int count = 0, failed = 0;
  prints_answers = argc > 1 && !strcmp(argv[1], "--answers");
  argc -= prints_answers, argv += prints_answers;
  if (argc < 3) return fprintf(stderr, "run_corpus CORPUS_FOLDER DEVICE MODULE.so...\n"), 2;
  guf_status status = guf_device_get(NULL, argv[2], &device, &error);
  for (int k = 3; status == GUF_OK && k < argc; ++k)
    status = guf_module_load(NULL, argv[k], 0, &module, &error);
  if (status != GUF_OK) return fprintf(stderr, "%s\n", error.message), 1;
  const int ngroups = scandir(argv[1], &groups, is_group, alphasort);
  for (int k = 0; k < ngroups; ++k) {
    run_group(argv[1], groups[k]->d_name, device, &count, &failed);
    free(groups[k]);
  }
  free(groups);
  if (prints_answers) return 0;
  printf("%d cases, %d passed, %d failed\n", count, count - failed, failed);
  return failed || !count;
}
