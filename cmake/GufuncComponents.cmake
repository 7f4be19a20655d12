# SPDX-License-Identifier: Apache-2.0
# Functions for the CMakeLists.txt of the components.

# The build tree has the include folder of an installation, made of links. gufcc finds the headers
# of the dialect there, next to its own folder.
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
    # A {} leaves the rest of a C struct zero: structs grow by appended fields.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 reports false overruns inside std::string and std::vector at -O3 (GCC bug 105329 and
    # similar ones).
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # std::stable_sort of libstdc++ 12 uses a function that C++17 deprecates.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
endfunction()

# gufunc_join_sources(<target>): with GUFUNC_JOIN_SOURCES, compiles ten sources at once, because
# parsing the headers of the standard library takes most of the time.
function(gufunc_join_sources target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${GUFUNC_JOIN_SOURCES} UNITY_BUILD_BATCH_SIZE 10)
  # g++ treats a joined source as a header. It warns about classes whose members have types of an
  # unnamed namespace.
  if(GUFUNC_JOIN_SOURCES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gufunc_apply_tool_options(<target>): the warnings, and little optimization. Most of the build time
# of these programs goes into their option parsers, which run once.
function(gufunc_apply_tool_options target)
  gufunc_apply_warnings(${target})
  if(GUFUNC_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# gufunc_apply_library_rules(<target>): sets the options of all shared objects of the project:
# no STB_GNU_UNIQUE, no undefined symbols, no re-exported archive, never unmapped.
function(gufunc_apply_library_rules target)
  gufunc_apply_warnings(${target})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:-z,now
                                        LINKER:-z,relro)
  # clang's sanitizer runtimes are in the executable and stay undefined in shared objects.
  if(NOT (GUFUNC_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

# gufunc_set_test_properties(<test> [SLOW] [THREADS]): sets the labels and the environment of a
# test. SLOW tests run after all quick ones. THREADS tests also run under TSan.
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
  # page, which is true of one block in 256: they read unrelated bytes before the block as its size.
  # ThreadSanitizer then clears the shadow of unrelated memory, and LeakSanitizer crashes at the end
  # of the program. The option turns this code off.
  set(environment UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=intercept_tls_get_addr=0
                  "TSAN_OPTIONS=halt_on_error=1 intercept_tls_get_addr=0")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
                                          ENVIRONMENT "${environment}")
endfunction()

# gufunc_simulate_devices(<test> [<emulation file>...]): runs a test with the simulated drivers
# instead of the vendors'. The simulated devices run the kernels in the --emulate files of the
# standard library and in the given ones.
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
  # LeakSanitizer reads memory of devices that no longer exist. The simulated drivers count leaks
  # themselves.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/sim" "GUFUNC_SIM_EMULATION=${emulation}"
    "ASAN_OPTIONS=detect_leaks=0")
endfunction()

# Options of gufunc_add_module for modules that simulated devices run: an --emulate file and, in
# presets with AddressSanitizer, an instrumented one for gufunc_check_devices.
set(GUFUNC_TEST_EMULATE EMULATE)
if(GUFUNC_SANITIZE MATCHES "address")
  list(APPEND GUFUNC_TEST_EMULATE EMULATE_ASAN)
endif()

# gufunc_check_devices(<test> [<module target>...]): like gufunc_simulate_devices, but
# AddressSanitizer checks the kernels. They see the exact bounds of device memory, which is not
# protected from the host. The plugins' memory caches are off, because a cached block may be larger
# than requested.
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
# GoogleTest executable `<name>_test` that links the core archive and may include its headers.
function(gufunc_add_unit_test name)
  gufunc_add_gtest(${name} gufunc_core ${ARGN})
endfunction()

# gufunc_add_abi_test(<name> [SLOW] [THREADS] [OPTIMIZED] [LINK <library>...] <source>...): the same
# with libgufunc.so. It may include installed headers only.
function(gufunc_add_abi_test name)
  gufunc_add_gtest(${name} gufunc::gufunc ${ARGN})
  add_dependencies(${name}_test gufunc_backend_cpu)
endfunction()

# Common part of the two functions above.
function(gufunc_add_gtest name library)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SLOW;THREADS;OPTIMIZED" "" "LINK;SOURCES")
  add_executable(${name}_test ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${library} ${arg_LINK} GTest::gmock GTest::gtest_main)
  gufunc_apply_warnings(${name}_test)
  # The tested libraries are optimized as the preset requests. Test programs are not, which halves
  # their build time, except OPTIMIZED ones, which compute much themselves.
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
