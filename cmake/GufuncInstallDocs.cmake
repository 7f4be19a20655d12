# SPDX-License-Identifier: Apache-2.0
# Installs the documentation (README, pages, examples and the READMEs of the bindings) into the same
# folders as in the source tree. `cmake --install` runs this file with the variables source, build,
# docdir and includedir. Links to headers are changed to the installed headers. Links to files that
# are not installed, such as the pages for contributors, become plain text.
set(contributor_pages architecture hacking)
set(not_installed "(docs/)?(decisions|benchmarks)/" "CONTRIBUTING[.]md" "go[.]mod" "tests/"
    "(bindings/)?([a-z]+/)?(bench|corpus|programs)")
foreach(page IN LISTS contributor_pages)
  list(APPEND not_installed "(docs/)?${page}[.]md")
endforeach()

# install_page(<page>): installs a page. The path is relative to the root of the source tree.
function(install_page page)
  file(READ "${source}/${page}" text)
  cmake_path(GET page PARENT_PATH folder)
  file(RELATIVE_PATH headers "/${docdir}/${folder}" "/${includedir}")
  string(REGEX REPLACE "\\]\\([./]*((abi|kernels|bindings/cpp)/)?include/" "](${headers}/"
                       text "${text}")
  foreach(target IN LISTS not_installed)
    string(REGEX REPLACE "\\[([^][]+)\\]\\([./]*${target}[^)\n]*\\)" "\\1" text "${text}")
  endforeach()
  file(WRITE "${build}/doc/${page}" "${text}")
  file(INSTALL "${build}/doc/${page}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${docdir}/${folder}")
endfunction()

file(GLOB pages RELATIVE "${source}"
     "${source}/README.md" "${source}/CHANGELOG.md" "${source}/bindings/README.md"
     "${source}/docs/*.md" "${source}/bindings/*/*.md" "${source}/bindings/python/reference/*.md")
foreach(page IN LISTS pages)
  cmake_path(GET page STEM stem)
  if(NOT stem IN_LIST contributor_pages)
    install_page(${page})
  endif()
endforeach()
foreach(examples IN ITEMS examples bindings/cpp/examples bindings/go/examples
                          bindings/julia/examples bindings/python/examples
                          bindings/rust/gufunc/examples)
  cmake_path(GET examples PARENT_PATH folder)
  file(INSTALL "${source}/${examples}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${docdir}/${folder}"
       PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE)
endforeach()
