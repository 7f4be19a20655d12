// SPDX-License-Identifier: Apache-2.0
// Compares every loop choice and error with NumPy's (tests/data/make_resolution.py). Repeats the
// cases with bfloat16 in place of float16.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "tests/unit/resolve/typed_call.h"

namespace gufunc::resolve {
namespace {

constexpr std::string_view kSymbols = "?bBhHiIqQefdFD1.j";
constexpr size_t kTypes = 14;

const std::map<std::string, int> kCastings = {{"no", GUF_CASTING_NO},
                                              {"safe", GUF_CASTING_SAFE},
                                              {"same_kind", GUF_CASTING_SAME_KIND},
                                              {"unsafe", GUF_CASTING_UNSAFE}};

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    while (!part.empty() && part.front() == ' ') part.erase(0, 1);
    while (!part.empty() && part.back() == ' ') part.pop_back();
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> expand(const std::string &text) {
  std::vector<std::string> cells;
  for (const std::string &part : split(text, ' ')) {
    const size_t star = part.find('*');
    const size_t count = star == std::string::npos ? 1 : std::stoul(part.substr(star + 1));
    cells.insert(cells.end(), count, part.substr(0, star));
  }
  return cells;
}

// Formats the result of `choose` in the notation of resolution.txt.
std::string outcome(const std::string &ufunc, const std::string &inputs, char dtype, int casting) {
  TypedCall call(ufunc, inputs, casting);
  if (dtype != '-') call.dtype(dtype);
  const guf_status status = call.choose();
  if (status == GUF_OK) return call.loop();
  const std::string text = call.error().message;
  const auto contains = [&](const char *part) { return text.find(part) != std::string::npos; };
  if (status == GUF_E_CASTING) {
    if (contains(" output")) return "2";
    return std::to_string(call.error().argument);
  }
  EXPECT_EQ(status, GUF_E_NO_LOOP) << text;
  if (contains("boolean")) return "-";
  if (contains("did not contain a loop")) return "!";
  if (contains("not supported for the input types")) return "~";
  return contains("No loop matching the specified signature") ? "#" : text;
}

class Resolution : public testing::Test {
 protected:
  // Calls visit(ufunc, inputs, dtype, casting, expected) for every case of resolution.txt.
  template <class Visit>
  void for_each(Visit visit) {
    std::ifstream file(GUFUNC_TEST_DATA "/resolution.txt");
    ASSERT_TRUE(file.is_open());
    for (std::string line; std::getline(file, line);) {
      if (line[0] == '#') continue;
      const std::vector<std::string> fields = split(line, '|');
      ASSERT_EQ(fields.size(), 3U) << line;
      const std::vector<std::string> cells = expand(fields[2]);
      for (const std::string &user : split(fields[0], ';')) {
        const std::vector<std::string> parts = split(user, ' ');
        for (const std::string &ufunc : split(parts.at(0), ',')) {
          for (const std::string &casting : split(parts.at(1), ',')) {
            visit_cells(ufunc, fields[1][0], kCastings.at(casting), cells, visit);
          }
        }
      }
    }
  }

 private:
  template <class Visit>
  static void visit_cells(const std::string &ufunc, char dtype, int casting,
                          const std::vector<std::string> &cells, Visit visit) {
    const bool core = ufunc == "matmul" || ufunc == "vecdot";
    const size_t side = core ? kTypes : kSymbols.size();
    const bool unary = cells.size() == side;
    ASSERT_TRUE(unary || cells.size() == side * side) << ufunc << " " << cells.size();
    for (size_t k = 0; k < cells.size(); ++k) {
      std::string inputs;
      if (!unary) inputs += kSymbols[k / side];
      inputs += kSymbols[k % side];
      visit(ufunc, inputs, dtype, casting, cells[k]);
    }
  }
};

TEST_F(Resolution, EqualsNumPy) {
  size_t ncases = 0;
  size_t ndifferent = 0;
  for_each([&](const std::string &ufunc, const std::string &inputs, char dtype, int casting,
               const std::string &expected) {
    // NumPy compares two Python ints as objects, but this library compares them as int64.
    const std::string here = expected == "O" ? "qq?" : expected;
    const std::string found = outcome(ufunc, inputs, dtype, casting);
    ++ncases;
    if (found != here && ++ndifferent < 20) {
      ADD_FAILURE() << ufunc << "(" << inputs << ") dtype " << dtype << " casting " << casting
                    << ": found " << found << ", expected " << expected;
    }
  });
  EXPECT_EQ(ndifferent, 0U);
  EXPECT_GT(ncases, 400000U);
}

TEST_F(Resolution, BFloat16ResolvesLikeFloat16) {
  const auto swap = [](std::string text) {
    for (char &letter : text) letter = letter == 'e' ? 'E' : letter;
    return text;
  };
  size_t ncases = 0;
  size_t ndifferent = 0;
  for_each([&](const std::string &ufunc, const std::string &inputs, char dtype, int casting,
               const std::string &expected) {
    if (inputs.find('e') == std::string::npos || expected == "O") return;
    ++ncases;
    const std::string found = outcome(ufunc, swap(inputs), dtype == 'e' ? 'E' : dtype, casting);
    if (found != swap(expected) && ++ndifferent < 20) {
      ADD_FAILURE() << ufunc << "(" << swap(inputs) << ") dtype " << dtype << " casting " << casting
                    << ": found " << found << ", expected " << swap(expected);
    }
  });
  EXPECT_EQ(ndifferent, 0U);
  EXPECT_GT(ncases, 40000U);
}

}  // namespace
}  // namespace gufunc::resolve
