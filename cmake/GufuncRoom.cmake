# SPDX-License-Identifier: Apache-2.0
# The few functions that every room's CMakeLists.txt is written with.

# gufunc_apply_warnings(<target>): the house's warnings, all of them errors.
function(gufunc_apply_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    # A {} for the rest of a C struct is how "append-only" reads at the caller.
    -Wno-missing-field-initializers)
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

# gufunc_set_test_properties(<test> [SLOW]): the label and environment every test has.
function(gufunc_set_test_properties name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "" "")
  set(label quick)
  set(timeout 120)
  if(arg_SLOW)
    set(label slow)
    set(timeout 1500)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout} ENVIRONMENT
    "UBSAN_OPTIONS=print_stacktrace=1;TSAN_OPTIONS=halt_on_error=1")
endfunction()

# gufunc_add_unit_test(<name> [SLOW] [LINK <library>...] <source>...): a GoogleTest executable
# `<name>_test` over the core archive; it sees what the core sees.
function(gufunc_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "" "LINK;SOURCES")
  add_executable(${name}_test ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE gufunc_core ${arg_LINK} GTest::gmock GTest::gtest_main)
  gufunc_register_test(${name} "${arg_SLOW}")
endfunction()

# gufunc_add_abi_test(<name> [SLOW] [LINK <library>...] <source>...): the same over libgufunc.so;
# it sees the installed headers only.
function(gufunc_add_abi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "" "LINK;SOURCES")
  add_executable(${name}_test ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE gufunc::gufunc ${arg_LINK} GTest::gmock
                                             GTest::gtest_main)
  add_dependencies(${name}_test gufunc_backend_cpu)
  gufunc_register_test(${name} "${arg_SLOW}")
endfunction()

# What the two above share: warnings, a place for the executable, the ctest line.
function(gufunc_register_test name slow)
  gufunc_apply_warnings(${name}_test)
  set_target_properties(${name}_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/tests")
  add_test(NAME ${name} COMMAND ${name}_test)
  if(slow)
    gufunc_set_test_properties(${name} SLOW)
  else()
    gufunc_set_test_properties(${name})
  endif()
endfunction()
