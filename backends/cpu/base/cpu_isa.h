// SPDX-License-Identifier: Apache-2.0
// The x86-64 microarchitecture level of this machine. The level is determined from feature bits,
// never from the model number.
#ifndef GUFUNC_BACKENDS_CPU_BASE_CPU_ISA_H
#define GUFUNC_BACKENDS_CPU_BASE_CPU_ISA_H

namespace gufunc::cpu {

inline constexpr int kLowestIsaLevel = 1;
inline constexpr int kHighestIsaLevel = 4;
// The lowest level for which gufcc compiles kernels and for which the plugin contains kernels.
inline constexpr int kLowestCompiledLevel = 2;

// The results of cpuid and the value of XCR0. They are plain data,
// so that tests can simulate other machines.
struct CpuFeatures {
  unsigned leaf1_ecx = 0, leaf7_ebx = 0, extended1_ecx = 0;
  unsigned long long xcr0 = 0;  // 0 if the system does not save extended registers
};
CpuFeatures read_cpu_features();

// Returns the highest n for which the features satisfy x86-64-v<n>. Level 1 is plain x86-64.
int isa_level_of(const CpuFeatures &features);

// Returns 1 for "x86-64", 3 for "x86-64-v3" and "v3", and so on; 0 for any other text.
int parse_isa_level(const char *text);

// Returns the machine's level, or a lower level that `requested` requests
// ("v2"; NULL or empty: no request). A request above the machine's level or below the lowest
// compiled level is logged and ignored.
int effective_isa_level(int machine, const char *requested);

// Returns the machine's level. The level is determined only once, because a virtual machine traps
// each cpuid, which takes 10 us.
int machine_isa_level();

// Returns the level for which loops are selected: the machine's level,
// or a lower one that GUFUNC_CPU_ISA requests. The level is determined only once.
int isa_level();
// Returns the name of the level, such as "x86-64-v3".
const char *isa_target(int level);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_CPU_ISA_H
