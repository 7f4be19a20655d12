// SPDX-License-Identifier: Apache-2.0
// Compares the signature parser with NumPy's parser on the texts of tests/data/make_signatures.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "core/op/signature.h"

namespace gufunc::op {
namespace {

void join(std::string *text, const std::vector<int64_t> &numbers) {
  *text += ' ';
  if (numbers.empty()) *text += '-';
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) *text += ',';
    *text += std::to_string(numbers[i]);
  }
}

// Formats a parsed signature in the notation of signatures.txt.
std::string describe(const Signature &signature) {
  std::vector<int64_t> ndims;
  std::vector<int64_t> indices(signature.operand_dims.begin(), signature.operand_dims.end());
  std::vector<int64_t> flags;
  std::vector<int64_t> sizes;
  for (int i = 0; i < signature.nin + signature.nout; ++i) {
    ndims.push_back(signature.core_ndim[static_cast<size_t>(i)]);
  }
  for (const CoreDim &dim : signature.dims) {
    flags.push_back(dim.optional ? 4 : 0);
    sizes.push_back(dim.frozen);
  }
  std::string text = std::to_string(signature.nin) + " " + std::to_string(signature.nout);
  for (const auto *part : {&ndims, &indices, &flags, &sizes}) join(&text, *part);
  return text;
}

std::string outcome(const std::string &text) {
  Signature signature;
  guf_error error = {};
  error.struct_size = sizeof error;
  const guf_status status = parse_signature(text, "", nullptr, 0, &signature, &error);
  if (status == GUF_OK) return describe(signature);
  EXPECT_EQ(status, GUF_E_SIGNATURE) << text;
  const std::string message = error.message;
  return "E " + message.substr(0, message.find(" in \""));
}

std::string unescape(std::string text) {
  for (size_t at; (at = text.find("\\t")) != std::string::npos;) text.replace(at, 2, "\t");
  return text;
}

// Returns whether the error is about the separator between two arguments. NumPy's parser knows the
// number of arguments, so NumPy may reject a comma where this parser accepts the comma and rejects
// the text after it.
bool is_about_arguments(const std::string &refusal) {
  for (const char *what :
       {"E expect ',' at", "E expect '->' at", "E expect '(' at", "E incomplete signature"}) {
    if (refusal.compare(0, std::string(what).size(), what) == 0) return true;
  }
  return false;
}

size_t position_of(const std::string &refusal) {
  return std::stoul(refusal.substr(refusal.rfind(' ') + 1));
}

bool same_refusal(const std::string &text, const std::string &found, const std::string &expected) {
  if (found == expected) return true;
  if (!is_about_arguments(found) || !is_about_arguments(expected)) return false;
  const size_t from = position_of(expected);
  const size_t to = position_of(found);
  if (from == to) return true;
  if (from > to || text[from] != ',') return false;
  return std::min(text.find_first_not_of(" \t", from + 1), text.size()) == to;
}

TEST(NumpySignatures, AreReadAndRefusedAlike) {
  std::ifstream file(GUFUNC_TEST_DATA "/signatures.txt");
  ASSERT_TRUE(file.is_open());
  size_t nread = 0;
  size_t nrefused = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    const size_t tab = line.rfind('\t');
    const std::string expected = line.substr(tab + 1);
    const std::string text = unescape(line.substr(0, tab));
    const std::string found = outcome(text);
    (expected[0] == 'E' ? nrefused : nread) += 1;
    EXPECT_TRUE(same_refusal(text, found, expected))
        << "\"" << text << "\"\n  found " << found << "\n  NumPy " << expected;
  }
  EXPECT_GT(nread, 1000U);
  EXPECT_GT(nrefused, 1000U);
}

}  // namespace
}  // namespace gufunc::op
