// SPDX-License-Identifier: Apache-2.0
// Texts that programs and files hand over: signatures with their rules, spellings of dtypes, notes
// of plugins. The first byte chooses which; a line feed divides a signature from its rules.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/backend/backend_note.h"
#include "core/dtype/dtype.h"
#include "core/op/signature.h"

using namespace gufunc;

namespace {

// A refusal is explained, whatever it is.
void check(guf_status status, const guf_error &error) {
  if (status != GUF_OK && (error.message[0] == '\0' || error.status != status)) std::abort();
}

guf_error fresh_error() {
  guf_error error = {};
  error.struct_size = sizeof error;
  return error;
}

// What is accepted is written back and accepted again, as the same.
void parse_signature(const std::string &text, const std::string &rules) {
  guf_error error = fresh_error();
  op::Signature first, second;
  const guf_status status = op::parse_signature(text, rules, nullptr, 0, &first, &error);
  check(status, error);
  if (status != GUF_OK) return;
  if (op::parse_signature(first.text, first.rules_text, nullptr, 0, &second, &error) != GUF_OK ||
      !op::same_form(first, second)) {
    std::abort();
  }
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{1} << 40, INT64_MAX}) {
    const std::vector<int64_t> sizes(first.dims.size(), size);
    for (const op::DimRule &rule : first.rules) {
      int64_t result = 0;
      if (rule.kind != op::DimRule::Kind::kExpression) continue;
      check(op::evaluate("fuzzed", first, rule, sizes.data(), &result, &error), error);
    }
  }
}

void parse_dtype(const std::string &text) {
  guf_error error = fresh_error();
  guf_dtype dtype = 0, again = 0;
  const guf_status status = dtype::parse(text.c_str(), &dtype, &error);
  check(status, error);
  if (status != GUF_OK) return;
  base::Text spelling;
  dtype::spell(dtype, false, &spelling);
  if (dtype::parse(spelling.c_str(), &again, &error) != GUF_OK || again != dtype) std::abort();
}

void parse_note(const std::string &text) {
  guf_error error = fresh_error();
  backend::BackendNote note;
  check(backend::parse_backend_note(text, &note, &error), error);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 16384) return 0;
  const std::string text(reinterpret_cast<const char *>(data + 1), size - 1);
  switch (data[0] % 3) {
    case 0: {
      const size_t line = std::min(text.find('\n'), text.size());
      parse_signature(text.substr(0, line), line < text.size() ? text.substr(line + 1) : "");
      break;
    }
    case 1:
      parse_dtype(text);
      break;
    default:
      parse_note(text);
      break;
  }
  return 0;
}
