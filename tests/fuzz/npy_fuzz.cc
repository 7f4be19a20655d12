// SPDX-License-Identifier: Apache-2.0
// Runs the parser of .npy headers. The parser must not read outside the file's bytes, and may throw
// only Failure. The target writes every accepted header and parses it again. The result must be
// equal to the first header.
#include <algorithm>
#include <memory>
#include <span>

#include "npy_file.h"
#include "outcome.h"
#include "target.h"

namespace gufunc::fuzz {
namespace {

void demand_same(const cli::NpyHeader &header, const cli::NpyHeader &again) {
  check(header.dtype == again.dtype && header.fortran_order == again.fortran_order &&
            header.shape == again.shape && header.data_size == again.data_size,
        "a header that is written is read as what it was made of");
}

cli::NpyHeader parsed(std::span<const std::byte> bytes, bool raw_bf16, const char *name) {
  cli::NpyHeader header = cli::parse_npy_description(bytes, raw_bf16, name);
  cli::check_npy_size(header, bytes.size() - header.data_offset, name);
  return header;
}

void read_header(const uint8_t *data, size_t size, bool raw_bf16) {
  // The input is copied to a separate allocation, so that AddressSanitizer detects a read past its
  // end.
  const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
  std::transform(data, data + size, copy.get(), [](uint8_t byte) { return std::byte{byte}; });
  cli::NpyHeader header;
  try {
    header = parsed({copy.get(), size}, raw_bf16, "drawn.npy");
  } catch (const cli::Failure &) {
    return;
  }
  check(header.data_offset <= size, "elements begin within the file");
  const std::string written =
      cli::make_npy_header(header.dtype, header.shape, header.fortran_order, true);
  // The header may declare more elements than the file contains.
  if (header.data_size > size) return;
  std::string whole = written + std::string(header.data_size, '\0');
  demand_same(header,
              parsed(std::as_bytes(std::span(whole.data(), whole.size())), true, "written.npy"));
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  gufunc::fuzz::read_header(data + 1, size - 1, (data[0] & 1) != 0);
  return 0;
}
