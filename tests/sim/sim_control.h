// SPDX-License-Identifier: Apache-2.0
// Functions that a simulated driver exports for tests, in addition to its vendor's functions. Both
// libraries export these functions. A test resolves them with dlsym on the handle of the library
// that it uses. Calls of these functions do not count as driver calls.
#ifndef GUFUNC_TESTS_SIM_SIM_CONTROL_H
#define GUFUNC_TESTS_SIM_SIM_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes a setting. `name` is the name of the GUFUNC_SIM_* variable without its prefix. DEVICES,
   MEMORY, UNITS, ARCH, ORDER, SEED, VERSION, MISSING, EMPTY and DEVICE_CHECK take effect at the
   next reset. EMPTY has no effect after the first launch. Returns 0, or 1 for an unknown setting or
   an invalid value. */
int gufunc_sim_set(const char *name, const char *value);

/* Waits for all work, then deletes every object, context, device, fault and counter. The next init
   uses the current settings. Pointers to contexts and streams become invalid. */
void gufunc_sim_reset(void);

/* Adds faults of the form "function:nth:code[:sticky]", separated by commas. nth is the number of
   the call that fails, counted from now on. 0 means every call. exec_kernel, exec_copy and
   exec_fill inject the fault when a kernel, copy or fill runs. Returns 0, or 1 for a syntax error.
   Faults before the syntax error may have been added. */
int gufunc_sim_fault(const char *faults);
void gufunc_sim_clear_faults(void);

/* Waits for all work, and then clears permanent failures of contexts. No real driver can do this.
   Tests that inject several faults one after the other use this function. */
void gufunc_sim_heal(void);

/* Returns the current context of this thread as a number, or 0 if there is none. */
uint64_t gufunc_sim_current(void);

/* Returns the number of calls of a function since the last reset, or of all functions for null. */
uint64_t gufunc_sim_calls(const char *function);
void gufunc_sim_clear_calls(void);
/* Returns the name of the driver function with this index, or null after the last function. */
const char *gufunc_sim_function(uint32_t index);

/* Returns the number of live objects of a kind: "allocation" (device memory of any kind), "pinned",
   "registered", "stream", "event", "module", "library", "pool", "graph", "graph_exec" or "context"
   (where each reference of a primary context counts). For null, returns the sum of all kinds.
   Returns UINT64_MAX for an unknown kind. */
uint64_t gufunc_sim_live(const char *kind);

/* Returns the number of bytes of allocated device memory, without the unused memory of pools. */
uint64_t gufunc_sim_used_bytes(void);

/* Returns how much PTX was loaded since the last reset, in "texts", "bytes" or "entries". A real
   driver would have compiled this PTX. Returns UINT64_MAX for an unknown unit. */
uint64_t gufunc_sim_ptx(const char *what);

/* gufunc_sim_violations returns the number of violations of the driver's rules.
   gufunc_sim_violation returns the description of one violation, or null after the last. The texts
   are valid until the next reset. */
uint32_t gufunc_sim_violations(void);
const char *gufunc_sim_violation(uint32_t index);
void gufunc_sim_clear_violations(void);

/* Hides a function from dlsym and cuGetProcAddress (1), or shows it again (0). Returns 0, or 1 if
   no such function exists. A reset shows all functions that MISSING does not list. */
int gufunc_sim_hide(const char *function, int hidden);

/* Writes live objects, calls and violations as text. Returns the length of the text, as snprintf
   does. */
uint64_t gufunc_sim_report(char *text, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif /* GUFUNC_TESTS_SIM_SIM_CONTROL_H */
