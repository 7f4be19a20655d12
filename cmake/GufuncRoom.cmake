# SPDX-License-Identifier: Apache-2.0
# The few functions that every room's CMakeLists.txt is written with.

# gufunc_apply_warnings(<target>): the project's warnings, all of them errors.
function(gufunc_apply_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    # A {} for the rest of a C struct is how "append-only" reads at the caller.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overruns inside its own std::string and std::vector at -O3 (GCC bug 105329 and
    # its like).
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # std::stable_sort of libstdc++ 12 uses a function that C++17 deprecates.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
endfunction()

# gufunc_join_sources(<target>): ten sources at once where GUFUNC_JOIN_SOURCES asks for it. The
# headers of the standard library take most of a source's time.
function(gufunc_join_sources target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${GUFUNC_JOIN_SOURCES} UNITY_BUILD_BATCH_SIZE 10)
  # A joined source is an included file for g++, which then warns of classes that have members of an
  # anonymous namespace's types, as if a header defined them.
  if(GUFUNC_JOIN_SOURCES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gufunc_apply_tool_options(<target>): the warnings, and little optimization: most of the time that
# these programs take to build goes into their parsers of options, which run once.
function(gufunc_apply_tool_options target)
  gufunc_apply_warnings(${target})
  if(GUFUNC_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# gufunc_apply_library_rules(<target>): what every shared object of ours has besides (ABI Q14, Q15):
# no STB_GNU_UNIQUE, no undefined symbol, no re-exported archive, never unmapped.
function(gufunc_apply_library_rules target)
  gufunc_apply_warnings(${target})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:-z,now
                                        LINKER:-z,relro)
  # clang's sanitizer runtimes live in the executable and stay undefined in shared objects.
  if(NOT (GUFUNC_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

# gufunc_set_test_properties(<test> [SLOW] [THREADS]): the labels and environment every test has.
# SLOW ones run after all quick ones; those with THREADS run under TSan too.
function(gufunc_set_test_properties name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW;THREADS" "" "")
  set(labels quick)
  set(timeout 300)
  if(arg_SLOW)
    set(labels slow)
    set(timeout 1500)
  endif()
  if(arg_THREADS)
    list(APPEND labels threads)
  endif()
  # The sanitizers of g++ 12 misread the size of a thread-local block that begins 16 bytes into a
  # page, as one block in 256 does: they take unrelated bytes before the block for its size. Then
  # ThreadSanitizer clears the shadow of unrelated memory, and LeakSanitizer crashes at the end of
  # the program. The option turns that code off.
  set(environment UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=intercept_tls_get_addr=0
                  "TSAN_OPTIONS=halt_on_error=1 intercept_tls_get_addr=0")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
                                          ENVIRONMENT "${environment}")
endfunction()

# gufunc_simulate_devices(<test> [<items file>...]): runs a test with the simulated drivers in the
# place of the vendors', their devices' kernels out of the standard library's sidecars and those
# given.
function(gufunc_simulate_devices name)
  set(items ${ARGN})
  foreach(vendor IN ITEMS cuda roc)
    foreach(part IN ITEMS kernels moves)
      if(TARGET gufunc_${vendor}_${part})
        list(APPEND items $<TARGET_PROPERTY:gufunc_${vendor}_${part},GUFUNC_ITEMS_FILE>)
      endif()
    endforeach()
  endforeach()
  list(JOIN items ":" items)
  # LeakSanitizer reads memory of the devices that are no more; the drivers count leaks themselves.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/sim" "GUFUNC_SIM_ITEMS=${items}"
    "ASAN_OPTIONS=detect_leaks=0")
endfunction()

# What gufunc_add_module is asked for beside a module that simulated devices run: its sidecar, and
# in presets with AddressSanitizer one for gufunc_check_devices.
set(GUFUNC_TEST_ITEMS ITEMS)
if(GUFUNC_SANITIZE MATCHES "address")
  list(APPEND GUFUNC_TEST_ITEMS ITEMS_ASAN)
endif()

# gufunc_check_devices(<test> [<module target>...]): the same as gufunc_simulate_devices, but it is
# kernels that AddressSanitizer watches: device memory has its exact ends for them, and is not
# guarded from the host. The plugins cache nothing, since a cached block is larger than was asked.
function(gufunc_check_devices name)
  set(items "")
  foreach(module IN LISTS ARGN ITEMS gufunc_cuda_kernels gufunc_cuda_moves gufunc_roc_kernels
                                     gufunc_roc_moves)
    list(APPEND items $<TARGET_PROPERTY:${module},GUFUNC_ASAN_ITEMS_FILE>)
  endforeach()
  list(JOIN items ":" items)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/sim" "GUFUNC_SIM_ITEMS=${items}"
    "ASAN_OPTIONS=detect_leaks=0" GUFUNC_SIM_DEVICE_CHECK=1 GUFUNC_NO_MEMORY_CACHE=1)
endfunction()

# gufunc_add_unit_test(<name> [SLOW] [THREADS] [OPTIMIZED] [LINK <library>...] <source>...):
# a GoogleTest executable `<name>_test` over the core archive; it sees what the core sees.
function(gufunc_add_unit_test name)
  gufunc_add_gtest(${name} gufunc_core ${ARGN})
endfunction()

# gufunc_add_abi_test(<name> [SLOW] [THREADS] [OPTIMIZED] [LINK <library>...] <source>...):
# the same over libgufunc.so; it sees the installed headers only.
function(gufunc_add_abi_test name)
  gufunc_add_gtest(${name} gufunc::gufunc ${ARGN})
  add_dependencies(${name}_test gufunc_backend_cpu)
endfunction()

# What the two share.
function(gufunc_add_gtest name library)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SLOW;THREADS;OPTIMIZED" "" "LINK;SOURCES")
  add_executable(${name}_test ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${library} ${arg_LINK} GTest::gmock GTest::gtest_main)
  gufunc_apply_warnings(${name}_test)
  # What is tested is optimized as the preset says; test programs build in half the time without,
  # but for those that compute much themselves.
  if(NOT arg_OPTIMIZED)
    target_compile_options(${name}_test PRIVATE -O0)
    target_precompile_headers(${name}_test REUSE_FROM gufunc_test_headers)
  endif()
  set_target_properties(${name}_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/tests")
  add_test(NAME ${name} COMMAND ${name}_test)
  set(flags "")
  if(arg_SLOW)
    list(APPEND flags SLOW)
  endif()
  if(arg_THREADS)
    list(APPEND flags THREADS)
    add_dependencies(thread_tests ${name}_test)
  endif()
  gufunc_set_test_properties(${name} ${flags})
endfunction()
