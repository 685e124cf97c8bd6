# Installs BUILD into FOLDER, builds the project beside this file against it, and runs its program.
#   cmake -DBUILD=... -DFOLDER=... -P run.cmake
file(REMOVE_RECURSE ${FOLDER})
foreach(command
    "--install;${BUILD};--prefix;${FOLDER}/prefix"
    "-S;${CMAKE_CURRENT_LIST_DIR};-B;${FOLDER}/build;-DCMAKE_PREFIX_PATH=${FOLDER}/prefix"
    "--build;${FOLDER}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} ${command} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endforeach()
execute_process(COMMAND ${FOLDER}/build/embed COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS ${FOLDER}/build/on_tensors)
  execute_process(COMMAND ${FOLDER}/build/on_tensors COMMAND_ERROR_IS_FATAL ANY)
endif()
