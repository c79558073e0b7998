# polygraph in a CMake build:
#
#     list(APPEND CMAKE_MODULE_PATH /usr/share/polygraph/cmake)
#     include(Polygraph)
#     add_executable(unit_tests …)
#     polygraph_add_check(unit_tests)
#
# adds a test "unit_tests.polygraph" to CTest, with the label "polygraph": `ctest -L polygraph` runs only such
# tests, `ctest -LE polygraph` all others.
#
#     polygraph_add_check(TARGET
#         [NAME name]                  # of the test
#         [BUDGET 30s]                 # time for it
#         [WORKING_DIRECTORY folder]
#         [OPTIONS option…]            # for polygraph, such as --baseline file
#         [ARGUMENTS argument…])       # for the target
#
# Where polygraph is not installed the test is there, but disabled. POLYGRAPH_EXECUTABLE names another one.
find_program(POLYGRAPH_EXECUTABLE polygraph DOC "polygraph, a lie detector for test suites")

function(polygraph_add_check target)
  cmake_parse_arguments(PARSE_ARGV 1 check "" "NAME;BUDGET;WORKING_DIRECTORY" "OPTIONS;ARGUMENTS")
  if(check_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "polygraph_add_check: unknown argument: ${check_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "polygraph_add_check: there is no target ${target}")
  endif()
  set(name ${target}.polygraph)
  if(check_NAME)
    set(name ${check_NAME})
  endif()
  set(options ${check_OPTIONS})
  if(check_BUDGET)
    list(APPEND options --budget ${check_BUDGET})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR})
  if(check_WORKING_DIRECTORY)
    set(folder ${check_WORKING_DIRECTORY})
  endif()
  set(program ${POLYGRAPH_EXECUTABLE})
  if(NOT program)
    set(program polygraph)
  endif()
  add_test(
    NAME ${name}
    COMMAND ${program} check ${options} -- $<TARGET_FILE:${target}> ${check_ARGUMENTS}
    WORKING_DIRECTORY ${folder}
  )
  # It uses all processors, and other tests would disturb what it measures.
  set_tests_properties(${name} PROPERTIES LABELS polygraph RUN_SERIAL TRUE)
  if(NOT POLYGRAPH_EXECUTABLE)
    message(STATUS "polygraph was not found: ${name} is disabled")
    set_tests_properties(${name} PROPERTIES DISABLED TRUE)
  endif()
endfunction()
