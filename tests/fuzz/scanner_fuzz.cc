// SPDX-License-Identifier: Apache-2.0
// Runs gufcc's scanner of registrations. The scanner must either reject a preprocessed text with a
// diagnostic or parse it into functions.
#include <string_view>
#include <vector>

#include "registration.h"
#include "scanner.h"
#include "target.h"

namespace gufunc::fuzz {
namespace {

void scan(std::string_view text) {
  gufcc::Diagnostics diagnostics;
  std::vector<gufcc::RawRegistration> registrations;
  gufcc::Module module;
  const bool built = gufcc::scan_registrations(text, 0, &registrations, &diagnostics) &&
                     gufcc::build_module(registrations, &module, &diagnostics) &&
                     gufcc::check_choice(module, &diagnostics);
  check(built != diagnostics.failed(), "a refused text has a diagnostic, an accepted one has none");
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gufunc::fuzz::scan({reinterpret_cast<const char *>(data), size});
  return 0;
}
