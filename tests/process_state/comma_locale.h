// SPDX-License-Identifier: Apache-2.0
// Opens the locale that make_locale.py compiles. Its decimal point is a comma.
#ifndef GUFUNC_TESTS_PROCESS_STATE_COMMA_LOCALE_H
#define GUFUNC_TESTS_PROCESS_STATE_COMMA_LOCALE_H

#include <gtest/gtest.h>
#include <langinfo.h>

#include <clocale>
#include <cstdlib>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

// The variable is set before main, because setenv is not safe while other threads read the
// environment.
inline const int kLocalePathStatus = setenv("LOCPATH", GUFUNC_LOCALES, 1);

// Returns a new locale, which the caller frees with freelocale.
inline locale_t open_comma_locale() {
  EXPECT_EQ(kLocalePathStatus, 0);
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler disabler;  // newlocale of glibc never frees its copy of LOCPATH
#endif
  const locale_t locale = newlocale(LC_ALL_MASK, "comma", nullptr);
  EXPECT_NE(locale, nullptr);
  EXPECT_STREQ(locale == nullptr ? "" : nl_langinfo_l(RADIXCHAR, locale), ",");
  return locale;
}

#endif  // GUFUNC_TESTS_PROCESS_STATE_COMMA_LOCALE_H
