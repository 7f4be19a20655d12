// SPDX-License-Identifier: Apache-2.0
#include "npy_stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "outcome.h"

namespace gufunc::cli {
namespace {

constexpr const char *kInputName = "standard input";

size_t read_standard(std::span<std::byte> to) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::read(STDIN_FILENO, to.data() + done, to.size() - done);
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      fail_file(kInputName, "read");
    }
  }
  return done;
}

// Reads the bytes of a header. Its length is known only after the first bytes are read.
std::vector<std::byte> read_header(const ReadBytes &read, const std::string &name) {
  std::vector<std::byte> bytes;
  const auto extend = [&](size_t size) {
    const size_t before = bytes.size();
    bytes.resize(size);
    bytes.resize(before + read(std::span(bytes).subspan(before)));
  };
  extend(10);
  if (bytes.size() == 10 && std::to_integer<int>(bytes[6]) > 1) extend(12);
  extend(std::max(bytes.size(), npy_header_size(bytes, name)));
  return bytes;
}

}  // namespace

NpyHeader read_npy_description(const ReadBytes &read, bool raw_bf16, const std::string &name) {
  return parse_npy_description(read_header(read, name), raw_bf16, name);
}

Mapping read_npy(const ReadBytes &read, bool raw_bf16, const std::string &name,
                 NpyHeader *out_header) {
  const std::vector<std::byte> header = read_header(read, name);
  *out_header = parse_npy_description(header, raw_bf16, name);
  Mapping memory = Mapping::anonymous(header.size() + out_header->data_size, name);
  std::memcpy(memory.data(), header.data(), header.size());
  const size_t got = read({memory.data() + header.size(), memory.size() - header.size()});
  check_npy_size(*out_header, got, name);
  return memory;
}

Mapping read_standard_input(bool raw_bf16, NpyHeader *out_header) {
  if (::isatty(STDIN_FILENO) == 1)
    throw Failure(Exit::kUsage, "-: standard input is a terminal, expected a .npy stream");
  return read_npy(read_standard, raw_bf16, kInputName, out_header);
}

void check_end_of_standard_input() {
  std::byte more;
  if (read_standard({&more, 1}) != 0)
    throw Failure(Exit::kFile, fmt::format("{}: more bytes than the arrays have", kInputName));
}

void write_all(int fd, std::span<const std::byte> bytes, const std::string &name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      fail_file(name, "write");
    }
  }
}

void check_standard_output() {
  if (::isatty(STDOUT_FILENO) == 1)
    throw Failure(Exit::kUsage, "-o -: standard output is a terminal, expected a file or a pipe");
}

}  // namespace gufunc::cli
