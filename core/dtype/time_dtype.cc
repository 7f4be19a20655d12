// SPDX-License-Identifier: Apache-2.0
// NumPy's rules for datetime64 and timedelta64: casts, common units and names.
#include "core/dtype/time_dtype.h"

#include <gufunc/kernel/time.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <new>

namespace gufunc::dtype {
namespace {

constexpr uint32_t kUnits = 14;
constexpr const char *kUnitNames[kUnits] = {"generic", "Y",  "M",  "W",  "D",  "h",  "m",
                                            "s",       "ms", "us", "ns", "ps", "fs", "as"};

// Names of dtypes whose multiple is 1. The first name of each class has no unit.
constexpr const char *kPlainNames[2][kUnits] = {
    {"datetime64", "datetime64[Y]", "datetime64[M]", "datetime64[W]", "datetime64[D]",
     "datetime64[h]", "datetime64[m]", "datetime64[s]", "datetime64[ms]", "datetime64[us]",
     "datetime64[ns]", "datetime64[ps]", "datetime64[fs]", "datetime64[as]"},
    {"timedelta64", "timedelta64[Y]", "timedelta64[M]", "timedelta64[W]", "timedelta64[D]",
     "timedelta64[h]", "timedelta64[m]", "timedelta64[s]", "timedelta64[ms]", "timedelta64[us]",
     "timedelta64[ns]", "timedelta64[ps]", "timedelta64[fs]", "timedelta64[as]"}};

// Names of dtypes with a larger multiple, in pages of 256 consecutive multiples. A
// page is created when one of its names is first needed, and is never freed, so
// names are found without a lock or a search.
constexpr uint32_t kPageNames = 256;
static_assert(GUF_MAX_UNIT_MULTIPLE < kPageNames * kPageNames);
struct NamePage {
  char text[kPageNames][28];
};
using UnitPages = std::array<std::atomic<const NamePage *>, kPageNames>;
std::array<std::array<UnitPages, kUnits>, 2> name_pages;

// A unit in brackets, such as "[7D]".
struct UnitText {
  char text[20];
};
UnitText unit_text(guf_dtype time) {
  UnitText out = {};
  if (multiple(time) == 1) {
    std::snprintf(out.text, sizeof out.text, "[%s]", kUnitNames[unit(time)]);
  } else {
    std::snprintf(out.text, sizeof out.text, "[%u%s]", multiple(time), kUnitNames[unit(time)]);
  }
  return out;
}

// Returns the page that contains the name of a dtype, or nullptr if memory is exhausted. If two
// threads create the same page, one of the two copies is freed.
const NamePage *page_of(guf_dtype time) {
  const uint32_t first = multiple(time) - multiple(time) % kPageNames;
  std::atomic<const NamePage *> &place = name_pages[time & 1U][unit(time)][first / kPageNames];
  const NamePage *known = place.load(std::memory_order_acquire);
  if (__builtin_expect(known != nullptr, 1)) return known;
  std::unique_ptr<NamePage> page(new (std::nothrow) NamePage);
  if (page == nullptr) return nullptr;
  for (uint32_t k = 0; k < kPageNames; ++k) {
    std::snprintf(page->text[k], sizeof page->text[k], "%s[%u%s]",
                  kPlainNames[time & 1U][GUF_UNIT_GENERIC], first + k, kUnitNames[unit(time)]);
  }
  if (!place.compare_exchange_strong(known, page.get(), std::memory_order_acq_rel)) return known;
  return page.release();
}

bool is_calendar(guf_dtype time) {
  return unit(time) == GUF_UNIT_YEAR || unit(time) == GUF_UNIT_MONTH;
}

// Returns whether exactly one of the two units is a calendar unit (year or month).
bool crosses_calendar(guf_dtype a, guf_dtype b) {
  return is_calendar(a) != is_calendar(b);
}

// Expresses the steps of both dtypes in the finer of the two units. Returns false on overflow.
bool count_in_finer(guf_dtype a, guf_dtype b, uint64_t *count_a, uint64_t *count_b) {
  *count_a = multiple(a);
  *count_b = multiple(b);
  const bool a_is_coarse = unit(a) < unit(b);
  const guf_dtype coarse = a_is_coarse ? a : b;
  const guf_dtype fine = a_is_coarse ? b : a;
  uint64_t factor = guf::time::factor(unit(coarse), unit(fine));
  if (unit(coarse) == GUF_UNIT_YEAR && unit(fine) == GUF_UNIT_MONTH) factor = 12;
  (a_is_coarse ? *count_a : *count_b) *= factor;
  return factor != 0;
}

// Returns whether a step of `from` is a whole number of steps of `to`. Between a calendar unit and
// any other unit, the result is true for datetimes and false for timedeltas.
bool divides(guf_dtype from, guf_dtype to) {
  if (crosses_calendar(from, to)) return is_datetime(from);
  uint64_t count_from = 0;
  uint64_t count_to = 0;
  if (!count_in_finer(from, to, &count_from, &count_to)) return false;
  if (count_from >> 56 != 0 || count_to >> 56 != 0) return false;
  return count_from % count_to == 0;
}

// Returns whether NumPy treats two units as equal, like [1000ms] and [s], but not [60s] and [m].
bool same_steps(guf_dtype from, guf_dtype to) {
  return time_class(from) == time_class(to) && unit(to) >= GUF_UNIT_SECOND &&
         unit(from) == unit(to) + 1 && multiple(from) == 1000 * multiple(to);
}

constexpr std::string_view kLongNames[] = {"datetime64", "timedelta64"};
constexpr std::string_view kShortNamesOfClasses[] = {"M8", "m8"};

// Returns the length of the class name (such as "datetime64" or "M8") at the start of `text`, if
// "[" or the end of `text` follows it. Returns npos if there is no class name.
size_t class_length(std::string_view text, guf_dtype *out) {
  for (uint32_t i = 0; i < 2; ++i) {
    for (const std::string_view name : {kLongNames[i], kShortNamesOfClasses[i]}) {
      if (!text.starts_with(name)) continue;
      *out = i == 0 ? GUF_DATETIME64 : GUF_TIMEDELTA64;
      if (text.size() == name.size() || text[name.size()] == '[') return name.size();
    }
  }
  return std::string_view::npos;
}

guf_status bad_unit(const char *what, const char *whole, guf_error *error) {
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                    "Invalid datetime %s in data type '%s'; the units are Y, M, W, D, h, m, s, ms, "
                    "us, ns, ps, fs, as and generic, each after an optional multiple from 1 to %d: "
                    "[ns], [25s]",
                    what, whole, GUF_MAX_UNIT_MULTIPLE);
}

}  // namespace

bool valid_time(guf_dtype dtype) {
  if (!is_time(dtype) || unit(dtype) >= kUnits || multiple(dtype) == 0) return false;
  return unit(dtype) != GUF_UNIT_GENERIC || multiple(dtype) == 1;
}

const char *time_name(guf_dtype time) {
  const char *const plain = kPlainNames[time & 1U][unit(time)];
  if (multiple(time) == 1) return plain;
  const NamePage *const page = page_of(time);
  if (page == nullptr) return kPlainNames[time & 1U][GUF_UNIT_GENERIC];
  return page->text[multiple(time) % kPageNames];
}

bool can_cast_time(guf_dtype from, guf_dtype to, int casting) {
  if (from == to || casting == GUF_CASTING_UNSAFE || same_steps(from, to)) return true;
  if (casting < GUF_CASTING_SAFE || time_class(from) != time_class(to)) return false;
  if (unit(from) == GUF_UNIT_GENERIC) return true;
  if (unit(to) == GUF_UNIT_GENERIC) return false;
  if (is_timedelta(from) && crosses_calendar(from, to)) return false;
  if (casting == GUF_CASTING_SAME_KIND) return true;
  return unit(from) <= unit(to) && divides(from, to);
}

guf_status promote_datetimes(guf_dtype a, guf_dtype b, guf_dtype *out, guf_error *error) {
  const guf_dtype both = is_datetime(a) || is_datetime(b) ? GUF_DATETIME64 : GUF_TIMEDELTA64;
  if (unit(a) == GUF_UNIT_GENERIC || unit(b) == GUF_UNIT_GENERIC) {
    const guf_dtype named = unit(a) == GUF_UNIT_GENERIC ? b : a;
    *out = make_time(both, unit(named), multiple(named));
    return GUF_OK;
  }
  // A datetime determines the length of its month. A timedelta does not, so for
  // timedeltas months and days have no common unit.
  if (crosses_calendar(a, b) && both == GUF_TIMEDELTA64) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "Cannot get a common metadata divisor for Numpy datetime metadata %s and %s "
                      "because they have incompatible nonlinear base time units.",
                      unit_text(a).text, unit_text(b).text);
  }
  uint64_t count_a = 0;
  uint64_t count_b = 0;
  const bool fits = count_in_finer(a, b, &count_a, &count_b);
  const uint64_t common = fits ? guf::time::unsigned_gcd(count_a, count_b) : 0;
  if (common == 0 || common > GUF_MAX_UNIT_MULTIPLE) {
    return base::fail(error, GUF_E_OVERFLOW, base::kNone, base::kNone,
                      "Integer overflow getting a common metadata divisor for NumPy datetime "
                      "metadata %s and %s.",
                      unit_text(a).text, unit_text(b).text);
  }
  const uint32_t finer = unit(a) > unit(b) ? unit(a) : unit(b);
  *out = make_time(both, finer, static_cast<uint32_t>(common));
  return GUF_OK;
}

guf_status check_time_cast(guf_dtype from, guf_dtype to, guf_error *error) {
  if (time_class(from) != time_class(to) || from == to) return GUF_OK;
  if (unit(from) == GUF_UNIT_GENERIC) return GUF_OK;
  if (unit(to) == GUF_UNIT_GENERIC) {
    return base::fail(error, GUF_E_VALUE, base::kNone, base::kNone,
                      "Cannot convert from specific units to generic units in NumPy datetimes or "
                      "timedeltas");
  }
  const guf::time::ratio ratio =
      guf::time::ratio_of(unit(from), multiple(from), unit(to), multiple(to));
  if (ratio.num != 0) return GUF_OK;
  const bool coarser = unit(from) <= unit(to);
  return base::fail(error, GUF_E_OVERFLOW, base::kNone, base::kNone,
                    "Integer overflow while computing the conversion factor between NumPy datetime "
                    "units %s and %s",
                    kUnitNames[unit(coarser ? from : to)], kUnitNames[unit(coarser ? to : from)]);
}

guf_status check_time_scalar(guf_dtype from, guf_dtype to, int32_t index, guf_error *error) {
  if (!is_time(from) || !is_time(to) || time_class(from) != time_class(to)) return GUF_OK;
  if (can_cast(from, to, GUF_CASTING_SAME_KIND)) return GUF_OK;
  const auto metadata = [](guf_dtype time) {
    return unit(time) == GUF_UNIT_GENERIC ? UnitText{} : unit_text(time);
  };
  // NumPy's message names timedelta64 even if the scalar is a datetime64.
  return base::fail(error, GUF_E_CASTING, index, base::kNone,
                    "Cannot cast NumPy timedelta64 scalar from metadata %s to %s according to the "
                    "rule 'same_kind'",
                    metadata(from).text, metadata(to).text);
}

const char *python_type(guf_dtype time, int64_t steps) {
  constexpr int64_t kFirstDay = -719162;     // 0001-01-01
  constexpr int64_t kLastDay = 2932896;      // 9999-12-31
  constexpr int64_t kLongest = 999'999'999;  // maximum number of days in a datetime.timedelta
  if (steps == INT64_MIN) return "NoneType";
  const uint32_t unit_of = unit(time);
  if (unit_of == GUF_UNIT_GENERIC) return is_datetime(time) ? "NoneType" : nullptr;
  if (unit_of > GUF_UNIT_MICROSECOND) return nullptr;
  const int64_t count = guf::time::wrapping_mul(steps, multiple(time));
  if (is_calendar(time)) {
    if (is_timedelta(time)) return nullptr;
    const int64_t per_year = unit_of == GUF_UNIT_YEAR ? 1 : 12;
    const int64_t years = guf::time::floor_quotient(count, per_year);
    return years >= 1 - 1970 && years <= 9999 - 1970 ? "datetime.date" : nullptr;
  }
  const int64_t days =
      unit_of == GUF_UNIT_WEEK
          ? guf::time::wrapping_mul(count, 7)
          : guf::time::floor_quotient(
                count, static_cast<int64_t>(guf::time::factor(GUF_UNIT_DAY, unit_of)));
  if (is_timedelta(time)) {
    return days >= -kLongest && days <= kLongest ? "datetime.timedelta" : nullptr;
  }
  if (days < kFirstDay || days > kLastDay) return nullptr;
  return unit_of > GUF_UNIT_DAY ? "datetime.datetime" : "datetime.date";
}

// ---- spelling

bool reads_as_time(std::string_view text) {
  guf_dtype found = GUF_DTYPE_UNSPECIFIED;
  return text == "M" || text == "m" || class_length(text, &found) != std::string_view::npos;
}

guf_status parse_time(std::string_view text, const char *whole, guf_dtype *out, guf_error *error) {
  guf_dtype found = text == "M" ? GUF_DATETIME64 : GUF_TIMEDELTA64;
  const size_t length = text.size() == 1 ? 1 : class_length(text, &found);
  std::string_view rest = text.substr(length);
  if (rest.empty()) {
    *out = found;
    return GUF_OK;
  }
  if (rest.size() < 3 || rest.back() != ']') return bad_unit("metadata", whole, error);
  rest = rest.substr(1, rest.size() - 2);
  uint32_t count = 0;
  size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits) {
    count = count * 10 + static_cast<uint32_t>(rest[digits] - '0');
    if (count > GUF_MAX_UNIT_MULTIPLE) return bad_unit("multiple", whole, error);
  }
  if (digits == 0) count = 1;
  if (count == 0) return bad_unit("multiple", whole, error);
  rest = rest.substr(digits);
  if (rest == "\xCE\xBCs") rest = "us";
  for (uint32_t i = 0; i < kUnits; ++i) {
    if (rest != kUnitNames[i]) continue;
    *out = make_time(found, i, i == GUF_UNIT_GENERIC ? 1 : count);
    return GUF_OK;
  }
  return bad_unit("unit", whole, error);
}

}  // namespace gufunc::dtype
