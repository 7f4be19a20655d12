// SPDX-License-Identifier: Apache-2.0
// Detects the ISA level from cpuid and XCR0, and reads GUFUNC_CPU_ISA.
#include "backends/cpu/base/cpu_isa.h"

#include <cpuid.h>

#include <atomic>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {
namespace {

// cpuid.1:ecx
constexpr unsigned kSse3 = 1u << 0, kSsse3 = 1u << 9, kFma = 1u << 12, kCmpxchg16b = 1u << 13;
constexpr unsigned kSse41 = 1u << 19, kSse42 = 1u << 20, kMovbe = 1u << 22, kPopcnt = 1u << 23;
constexpr unsigned kOsxsave = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
// cpuid.7:ebx
constexpr unsigned kBmi1 = 1u << 3, kAvx2 = 1u << 5, kBmi2 = 1u << 8;
constexpr unsigned kAvx512f = 1u << 16, kAvx512dq = 1u << 17, kAvx512cd = 1u << 28;
constexpr unsigned kAvx512bw = 1u << 30, kAvx512vl = 1u << 31;
// cpuid.80000001:ecx
constexpr unsigned kLahf = 1u << 0, kLzcnt = 1u << 5;
// XCR0: the registers that the operating system saves at a context switch
constexpr unsigned long long kYmmState = 0x06, kZmmState = 0xe6;

constexpr bool has(unsigned long long word, unsigned long long bits) {
  return (word & bits) == bits;
}

unsigned long long read_xcr0() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<unsigned long long>(high) << 32 | low;
}

}  // namespace

CpuFeatures read_cpu_features() {
  CpuFeatures features;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) features.leaf1_ecx = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) features.leaf7_ebx = b;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d) != 0) features.extended1_ecx = c;
  if (has(features.leaf1_ecx, kOsxsave)) features.xcr0 = read_xcr0();
  return features;
}

int isa_level_of(const CpuFeatures &f) {
  const bool v2 = has(f.leaf1_ecx, kSse3 | kSsse3 | kCmpxchg16b | kSse41 | kSse42 | kPopcnt) &&
                  has(f.extended1_ecx, kLahf);
  if (!v2) return 1;
  const bool v3 = has(f.leaf1_ecx, kFma | kMovbe | kOsxsave | kAvx | kF16c) &&
                  has(f.leaf7_ebx, kBmi1 | kAvx2 | kBmi2) && has(f.extended1_ecx, kLzcnt) &&
                  has(f.xcr0, kYmmState);
  if (!v3) return 2;
  const bool v4 = has(f.leaf7_ebx, kAvx512f | kAvx512dq | kAvx512cd | kAvx512bw | kAvx512vl) &&
                  has(f.xcr0, kZmmState);
  return v4 ? 4 : 3;
}

int parse_isa_level(const char *text) {
  if (text == nullptr) return 0;
  if (std::strcmp(text, "x86-64") == 0) return 1;
  if (std::strncmp(text, "x86-64-", 7) == 0) text += 7;
  if (text[0] != 'v' || text[1] < '1' || text[1] > '4' || text[2] != '\0') return 0;
  return text[1] - '0';
}

int effective_isa_level(int machine, const char *requested) {
  if (requested == nullptr || *requested == '\0') return machine;
  const int level = parse_isa_level(requested);
  if (level < kLowestCompiledLevel) {
    host_log(LogLevel::kWarning, "GUFUNC_CPU_ISA '%.40s' is ignored; expected one of %s, %s, %s",
             requested, isa_target(2), isa_target(3), isa_target(4));
    return machine;
  }
  if (level > machine) {
    host_log(LogLevel::kWarning, "GUFUNC_CPU_ISA '%.40s' is ignored: this machine runs %s",
             requested, isa_target(machine));
    return machine;
  }
  return level;
}

int machine_isa_level() {
  static constinit std::atomic<int> read{0};
  int level = read.load(std::memory_order_acquire);
  if (level == 0) {
    level = isa_level_of(read_cpu_features());
    read.store(level, std::memory_order_release);
  }
  return level;
}

int isa_level() {
  static constinit std::atomic<int> chosen{0};
  int level = chosen.load(std::memory_order_acquire);
  if (level == 0) {
    level = effective_isa_level(machine_isa_level(), host_config("GUFUNC_CPU_ISA"));
    chosen.store(level, std::memory_order_release);
  }
  return level;
}

const char *isa_target(int level) {
  static constexpr const char *kTargets[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return kTargets[level - kLowestIsaLevel];
}

}  // namespace gufunc::cpu
