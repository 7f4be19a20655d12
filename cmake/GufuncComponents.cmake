# SPDX-License-Identifier: Apache-2.0
# Defines functions for the CMakeLists.txt of the components.

# The build tree has the same include folder as an installation, but with links to the headers.
# gufcc finds the headers of the dialect in this folder, which is next to the folder of gufcc.
file(REMOVE_RECURSE "${PROJECT_BINARY_DIR}/include")

# gufunc_add_headers(<name> <file>...): defines the interface library gufunc::<name> of public
# headers, which are in include/gufunc/ of the current folder.
function(gufunc_add_headers name)
  set(include "${CMAKE_CURRENT_SOURCE_DIR}/include")
  foreach(file IN LISTS ARGN)
    set(link "${PROJECT_BINARY_DIR}/include/gufunc/${file}")
    cmake_path(GET link PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${include}/gufunc/${file}" "${link}" SYMBOLIC)
  endforeach()
  list(TRANSFORM ARGN PREPEND "${include}/gufunc/" OUTPUT_VARIABLE files)
  add_library(gufunc_${name} INTERFACE)
  add_library(gufunc::${name} ALIAS gufunc_${name})
  target_sources(gufunc_${name} INTERFACE FILE_SET HEADERS BASE_DIRS "${include}" FILES ${files})
  set_target_properties(gufunc_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

# gufunc_apply_warnings(<target>): enables the project's warnings, as errors.
function(gufunc_apply_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    # `{}` initializes the omitted fields of a C struct with zero, and structs grow by appended
    # fields.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 reports false overruns inside std::string and std::vector at -O3 (for example GCC bug
    # 105329).
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # std::stable_sort of libstdc++ 12 uses a function that C++17 deprecates.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
endfunction()

# gufunc_join_sources(<target>): if GUFUNC_JOIN_SOURCES is set, compiles ten sources of the target
# as one translation unit, because most of the compile time is spent on headers of the standard
# library.
function(gufunc_join_sources target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${GUFUNC_JOIN_SOURCES} UNITY_BUILD_BATCH_SIZE 10)
  # g++ treats a joined source as a header, and warns about classes whose members have types of an
  # unnamed namespace.
  if(GUFUNC_JOIN_SOURCES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gufunc_apply_tool_options(<target>): enables the warnings, and little optimization. With full
# optimization, most of the build time of a tool would be spent on optimizing its option parser,
# which runs once.
function(gufunc_apply_tool_options target)
  gufunc_apply_warnings(${target})
  if(GUFUNC_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# gufunc_apply_gnu_options(<target>): sets the options of g++ for all code of shared objects: no
# STB_GNU_UNIQUE symbols, and fast clearing of structs.
function(gufunc_apply_gnu_options target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # PERF  By default, g++ clears structs of more than 64 bytes with `rep stos`, which is slow to
    #       start. With plain stores, guf_resolve and a call with a new shape take 6 % less time.
    set(option "-mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${option}>)
  endif()
endfunction()

# gufunc_apply_library_rules(<target>): sets the options of all shared objects of the project. A
# shared object has no STB_GNU_UNIQUE and no undefined symbols, exports no symbols of archives, and
# is never unmapped.
function(gufunc_apply_library_rules target)
  gufunc_apply_warnings(${target})
  gufunc_apply_gnu_options(${target})
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:-z,now
                                        LINKER:-z,relro)
  # clang links sanitizer runtimes only into executables, so shared objects have undefined symbols.
  if(NOT (GUFUNC_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

# gufunc_set_test_properties(<test> [SLOW] [THREADS]): sets the labels and the environment of a
# test. SLOW tests run after all other tests. THREADS tests also run under ThreadSanitizer.
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
  # The sanitizers of g++ 12 fail if a thread-local block begins 16 bytes after the start of a page,
  # as one block in 256 does: the sanitizers interpret the bytes before the block as the block's
  # size. ThreadSanitizer then clears the shadow of other memory, and LeakSanitizer crashes at the
  # end of the program. intercept_tls_get_addr=0 disables this code of the sanitizers.
  set(environment UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=intercept_tls_get_addr=0
                  "TSAN_OPTIONS=halt_on_error=1 intercept_tls_get_addr=0")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
                                          ENVIRONMENT "${environment}")
endfunction()

# gufunc_simulate_devices(<test> [<emulation file>...]): runs a test with the simulated drivers
# instead of the vendors' drivers. The simulated devices run kernels from the emulation files of the
# standard library and from the given emulation files.
function(gufunc_simulate_devices name)
  set(emulation ${ARGN})
  foreach(vendor IN ITEMS cuda roc)
    foreach(part IN ITEMS kernels copy_cast)
      if(TARGET gufunc_${vendor}_${part})
        list(APPEND emulation $<TARGET_PROPERTY:gufunc_${vendor}_${part},GUFUNC_EMULATION_FILE>)
      endif()
    endforeach()
  endforeach()
  list(JOIN emulation ":" emulation)
  # LeakSanitizer would read memory of devices that no longer exist. The simulated drivers count
  # leaks instead.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/sim" "GUFUNC_SIM_EMULATION=${emulation}"
    "ASAN_OPTIONS=detect_leaks=0")
endfunction()

# Options of gufunc_add_module for modules that simulated devices run: an emulation file and, in
# presets with AddressSanitizer, an instrumented emulation file for gufunc_check_devices.
set(GUFUNC_TEST_EMULATE EMULATE)
if(GUFUNC_SANITIZE MATCHES "address")
  list(APPEND GUFUNC_TEST_EMULATE EMULATE_ASAN)
endif()

# gufunc_check_devices(<test> [<module target>...]): like gufunc_simulate_devices, but
# AddressSanitizer checks the kernels against the exact bounds of device memory. Device memory is
# not protected from the host. The plugins' memory caches are off, because a cached block may be
# larger than requested.
function(gufunc_check_devices name)
  set(emulation "")
  foreach(module IN LISTS ARGN ITEMS gufunc_cuda_kernels gufunc_cuda_copy_cast gufunc_roc_kernels
                                     gufunc_roc_copy_cast)
    list(APPEND emulation $<TARGET_PROPERTY:${module},GUFUNC_ASAN_EMULATION_FILE>)
  endforeach()
  list(JOIN emulation ":" emulation)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/sim" "GUFUNC_SIM_EMULATION=${emulation}"
    "ASAN_OPTIONS=detect_leaks=0" GUFUNC_SIM_DEVICE_CHECK=1 GUFUNC_NO_MEMORY_CACHE=1)
endfunction()

# gufunc_add_unit_test(<name> [SLOW] [THREADS] [OPTIMIZED] [LINK <library>...] <source>...): adds a
# GoogleTest executable `<name>_test` that links the core archive and may include the core's
# headers.
function(gufunc_add_unit_test name)
  gufunc_add_gtest(${name} gufunc_core ${ARGN})
endfunction()

# gufunc_add_abi_test(<name> [SLOW] [THREADS] [OPTIMIZED] [LINK <library>...] <source>...): adds a
# GoogleTest executable `<name>_test` that links libgufunc.so and includes only installed headers
# and tests/support.
function(gufunc_add_abi_test name)
  gufunc_add_gtest(${name} gufunc::gufunc ${ARGN})
  add_dependencies(${name}_test gufunc_backend_cpu)
endfunction()

# Common part of gufunc_add_unit_test and gufunc_add_abi_test.
function(gufunc_add_gtest name library)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SLOW;THREADS;OPTIMIZED" "" "LINK;SOURCES")
  add_executable(${name}_test ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${library} ${arg_LINK} GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_test PRIVATE "${PROJECT_SOURCE_DIR}")  # tests/support
  gufunc_apply_warnings(${name}_test)
  # The tested libraries are optimized as the preset specifies. Test programs are not optimized,
  # which halves their build time, except OPTIMIZED test programs, whose own computations take most
  # of their time.
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
