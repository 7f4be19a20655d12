// SPDX-License-Identifier: Apache-2.0
// Parses compiled code for NVIDIA devices: each kernel is a section ".text.NAME", and its
// properties are records in ".nv.info.NAME".
#include <cstring>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/core/sim_elf.h"
#include "tests/sim/core/sim_image.h"

namespace sim {
namespace {

constexpr unsigned kMachineCuda = 190;
constexpr unsigned char kOsAbiNew = 0x41;  // architecture in bits 8 to 15 of e_flags

// Attributes in .nv.info records, and formats of the values.
enum : unsigned char {
  kMaxThreads = 0x05,
  kFrameBytes = 0x11,
  kParameter = 0x17,
  kParameterBytes = 0x19,
  kRegisters = 0x2F
};
enum : unsigned char { kFormHalf = 3, kFormSized = 4 };

uint32_t word_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  if (at + 4 <= bytes.size()) std::memcpy(&word, bytes.data() + at, 4);
  return word;
}

// Reads one record about a kernel.
void take_record(unsigned char attribute, std::string_view value, ImageKernel *kernel) {
  if (attribute == kParameterBytes && value.size() == 2) {
    uint16_t bytes = 0;
    std::memcpy(&bytes, value.data(), 2);
    kernel->argument_bytes = bytes;
  } else if (attribute == kMaxThreads && value.size() >= 12) {
    kernel->max_threads = word_at(value, 0) * word_at(value, 4) * word_at(value, 8);
  } else if (attribute == kParameter && value.size() >= 12) {
    const uint32_t place = word_at(value, 4);  // low 16 bits: ordinal; high 16 bits: offset
    const uint32_t ordinal = place & 0xFFFF;
    if (kernel->parameters.size() <= ordinal) kernel->parameters.resize(ordinal + 1);
    kernel->parameters[ordinal] = {place >> 16, word_at(value, 8) >> 18};
  }
}

// Calls take(attribute, value) for every record. A 16-bit value is passed as its two bytes.
template <class F>
void for_each_record(std::string_view bytes, F take) {
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const auto form = static_cast<unsigned char>(bytes[at]);
    const auto attribute = static_cast<unsigned char>(bytes[at + 1]);
    const size_t half = word_at(bytes, at) >> 16;
    at += 4;
    if (form == kFormHalf) take(attribute, bytes.substr(at - 2, 2));
    if (form != kFormSized) continue;
    if (half > bytes.size() - at) return;
    take(attribute, bytes.substr(at, half));
    at += half;
  }
}

// Reads the records of a kernel from the module's .nv.info section. A record identifies the kernel
// by the index of the kernel's symbol.
void read_module_info(const Elf &elf, std::string_view bytes, ImageKernel *kernel) {
  const Section *table = elf.section(".symtab");
  if (table == nullptr) return;
  const std::vector<Elf64_Sym> symbols = elf.symbols(*table);
  for_each_record(bytes, [&](unsigned char attribute, std::string_view value) {
    const uint32_t symbol = word_at(value, 0);
    if (value.size() < 8 || symbol >= symbols.size()) return;
    if (elf.symbol_name(*table, symbols[symbol]) != kernel->name) return;
    if (attribute == kRegisters) kernel->registers = word_at(value, 4);
    if (attribute == kFrameBytes) kernel->local_bytes = word_at(value, 4);
  });
}

// CUDA 12 drivers accept the ABI of ptxas 13 for sm_100 and later only. They reject all other
// images with this ABI as invalid.
bool is_known_abi(const Elf64_Ehdr &header, int arch, int driver_version) {
  constexpr unsigned char kAbiOf13 = 8;
  return header.e_ident[EI_ABIVERSION] < kAbiOf13 || arch >= 100 || driver_version >= 13000;
}

bool cubin_runs_on(int image, int device) {
  return image / 10 == device / 10 && image % 10 <= device % 10;
}

}  // namespace

int read_cubin(const void *data, const CudaTarget &target, Image *out) {
  Elf elf;
  if (!elf.open(data) || elf.header().e_machine != kMachineCuda) return kInvalidImage;
  const bool shifted = elf.header().e_ident[EI_OSABI] == kOsAbiNew;
  out->arch = static_cast<int>((elf.header().e_flags >> (shifted ? 8 : 0)) & 0xFF);
  out->size = elf.size();
  if (!is_known_abi(elf.header(), out->arch, target.driver_version)) return kInvalidImage;
  if (!cubin_runs_on(out->arch, target.arch)) return kNoBinaryForGpu;
  constexpr std::string_view kText = ".text.";
  for (const Section &section : elf.sections()) {
    if (section.name.rfind(kText, 0) != 0) continue;
    ImageKernel kernel;
    kernel.name = section.name.substr(kText.size());
    const Section *info = elf.section(".nv.info." + kernel.name);
    if (info == nullptr) continue;  // a function that kernels call, not a kernel
    for_each_record(elf.bytes(*info), [&](unsigned char attribute, std::string_view value) {
      take_record(attribute, value, &kernel);
    });
    const Section *all = elf.section(".nv.info");
    if (all != nullptr) read_module_info(elf, elf.bytes(*all), &kernel);
    const Section *shared = elf.section(".nv.shared." + kernel.name);
    if (shared != nullptr) kernel.shared_bytes = static_cast<uint32_t>(shared->header.sh_size);
    out->kernels.push_back(std::move(kernel));
  }
  return kSuccess;
}

int read_cuda_image(const void *data, const CudaTarget &target, Image *out) {
  if (std::memcmp(data, ELFMAG, SELFMAG) == 0) return read_cubin(data, target, out);
  return read_ptx(data, target, out);
}

}  // namespace sim
