# What most sources include of the standard library, for PRECOMPILE.
set(TC_STANDARD_HEADERS <algorithm> <functional> <map> <memory> <optional> <set> <string> <vector>)

option(TC_UNITY "Compile neighbouring sources of a floor as one" ON)
# Sources of one translation unit: half the processor time of a build from nothing goes into what each one repeats,
# headers and instances of templates; more of them leave no work to share between processors.
set(TC_UNITY_BATCH 12)

# The same for tests, which are compiled without optimisation: there nearly all of the time goes into what is repeated.
set(TC_UNITY_BATCH_OF_TESTS 16)

# tc_unity(target batch [files...]): batch neighbouring sources of target are compiled as one, but each of the files alone
# because names of its unnamed namespace are also a neighbour's.
function(tc_unity target batch)
  if(TC_UNITY)
    # GCC exempts the file it is given from this, not those which that includes.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TC_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tc_library(NAME name SOURCES files... [ALONE files...] [DEPENDS targets...] [LINK_PRIVATE targets...]
#            [PRECOMPILE headers... | PRECOMPILE_AS floor] [QUICK])
#
# The static library tc_<name>, alias tc::<name>, of one floor. ALONE names the sources among them that are not compiled
# together with their neighbours. DEPENDS names the floors below it that its headers or
# sources include; LINK_PRIVATE third-party targets. PRECOMPILE names heavy headers that most of its sources include,
# PRECOMPILE_AS the floor that has compiled them. QUICK compiles with few optimisations what runs once in a compile, beside isl
# and LLVM.
function(tc_library)
  cmake_parse_arguments(ARG "QUICK" "NAME;PRECOMPILE_AS" "SOURCES;ALONE;DEPENDS;LINK_PRIVATE;PRECOMPILE" ${ARGN})
  if(NOT ARG_SOURCES)
    add_library(tc_${ARG_NAME} INTERFACE)
    target_include_directories(tc_${ARG_NAME} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(tc_${ARG_NAME} INTERFACE ${ARG_DEPENDS} ${ARG_LINK_PRIVATE})
  else()
    add_library(tc_${ARG_NAME} STATIC ${ARG_SOURCES})
    target_include_directories(tc_${ARG_NAME} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(tc_${ARG_NAME} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_LINK_PRIVATE} tc::warnings)
    # The same objects make the static and the shared library: which names that exports is told when it is linked.
    set_target_properties(tc_${ARG_NAME} PROPERTIES CXX_VISIBILITY_PRESET default)
    target_compile_options(tc_${ARG_NAME} PRIVATE -fno-semantic-interposition)
    tc_unity(tc_${ARG_NAME} ${TC_UNITY_BATCH} ${ARG_ALONE})
    if(ARG_QUICK)
      tc_compile_quickly(tc_${ARG_NAME})
    endif()
    if(ARG_PRECOMPILE)
      target_precompile_headers(tc_${ARG_NAME} PRIVATE ${ARG_PRECOMPILE})
    elseif(ARG_PRECOMPILE_AS)
      target_precompile_headers(tc_${ARG_NAME} REUSE_FROM tc_${ARG_PRECOMPILE_AS})
    endif()
  endif()
  add_library(tc::${ARG_NAME} ALIAS tc_${ARG_NAME})
endfunction()

# tc_compile_quickly(targets...): programs and libraries that run little code of their own are compiled with few optimisations,
# with which GCC takes members of variants for uninitialised.
function(tc_compile_quickly)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endforeach()
endfunction()

# tc_test(NAME name SOURCES files... [ALONE files...] [HOT files...] DEPENDS targets... [LABEL unit|cpu] [SHARDS n]
#         [SECONDS n] [PRECOMPILE headers... | PRECOMPILE_AS name])
#
# The GoogleTest program build/bin/<name>_test, one CTest test with a time limit; with SHARDS n of them, each of which
# runs every n-th case. SECONDS says how long each takes on an idle core, if that is more than a few. A test takes at most a
# minute on two idle cores, so that it has four times what it needs on a machine that gives it a quarter of them. Its sources
# are compiled without optimisation: what takes time in a test is the library. HOT names the exceptions, which simulate or
# enumerate much; ALONE those that are not compiled together with their neighbours; PRECOMPILE headers that most of them
# include, PRECOMPILE_AS the test that has compiled them.
function(tc_test)
  cmake_parse_arguments(ARG "" "NAME;LABEL;SHARDS;SECONDS;PRECOMPILE_AS" "SOURCES;ALONE;HOT;DEPENDS;PRECOMPILE" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${ARG_NAME}_test ${ARG_SOURCES})
  target_include_directories(${ARG_NAME}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${ARG_NAME}_test PRIVATE TC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${ARG_NAME}_test PRIVATE -O0)
  target_link_libraries(${ARG_NAME}_test PRIVATE ${ARG_DEPENDS} tc::gtest tc::warnings)
  tc_unity(${ARG_NAME}_test ${TC_UNITY_BATCH_OF_TESTS} ${ARG_ALONE} ${ARG_HOT})
  set_source_files_properties(${ARG_HOT} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  if(ARG_PRECOMPILE)
    target_precompile_headers(${ARG_NAME}_test PRIVATE ${ARG_PRECOMPILE})
  elseif(ARG_PRECOMPILE_AS)
    target_precompile_headers(${ARG_NAME}_test REUSE_FROM ${ARG_PRECOMPILE_AS}_test)
  endif()
  # The longest start first, so that no core is idle at the end: ctest knows no times of its own on a new clone.
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS 5)
  endif()
  set(properties LABELS ${ARG_LABEL} TIMEOUT 960 COST ${ARG_SECONDS})
  if(NOT ARG_SHARDS)
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME}_test)
    set_tests_properties(${ARG_NAME} PROPERTIES ${properties})
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${ARG_NAME}_${shard} COMMAND ${ARG_NAME}_test)
    set_tests_properties(${ARG_NAME}_${shard} PROPERTIES ${properties}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
