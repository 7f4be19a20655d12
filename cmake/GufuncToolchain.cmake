# SPDX-License-Identifier: Apache-2.0
# Sets the global build settings: standards, visibility, sanitizers, ccache, and output folders.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# The build tree has the layout of an installation, so that the library finds its plugins in the
# build tree in the same way as in an installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(GUFUNC_BUILD_PLUGIN_DIR "${PROJECT_BINARY_DIR}/lib/${GUFUNC_PLUGIN_SUBDIR}")
set(GUFUNC_INSTALL_PLUGIN_DIR "${CMAKE_INSTALL_LIBDIR}/${GUFUNC_PLUGIN_SUBDIR}")

find_program(GUFUNC_CCACHE ccache)
mark_as_advanced(GUFUNC_CCACHE)
# With CCACHE_DEPEND ccache uses the compiler's dependency files and need not preprocess uncached
# sources, which saves a quarter of the time of a fresh build. CCACHE_SLOPPINESS lets ccache cache
# sources that use precompiled headers, which is safe because these headers do not use __TIME__.
# CCACHE_BASEDIR and CCACHE_NOHASHDIR let several checkouts share the cache.
set(GUFUNC_LAUNCHER env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${GUFUNC_CCACHE}")
if(GUFUNC_CCACHE AND PROJECT_IS_TOP_LEVEL)
  foreach(lang IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${lang}_COMPILER_LAUNCHER)
      set(CMAKE_${lang}_COMPILER_LAUNCHER ${GUFUNC_LAUNCHER})
    endif()
  endforeach()
endif()

# In a process, either all code or no code must be built with sanitizers, so this setting applies to
# all targets.
if(GUFUNC_SANITIZE)
  add_compile_options(-fsanitize=${GUFUNC_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GUFUNC_SANITIZE})
endif()
if(GUFUNC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GUFUNC_FUZZ needs clang, which has libFuzzer; found ${CMAKE_CXX_COMPILER}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
