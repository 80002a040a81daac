# metalloid_add_shaders(<program> SOURCES <a.metal> ... [NAME <default>] [OPTIONS -DX=1 ...])
#
# Compiles Metal sources into <name>.metallib beside the program, whenever they change. A library called "default" is the
# one that MTL::Device::newDefaultLibrary() finds.
function(metalloid_add_shaders program)
  cmake_parse_arguments(PARSE_ARGV 1 shaders "" NAME "SOURCES;OPTIONS")
  if(NOT shaders_SOURCES)
    message(FATAL_ERROR "metalloid_add_shaders(${program}): name the Metal sources after SOURCES")
  endif()
  if(NOT shaders_NAME)
    set(shaders_NAME default)
  endif()
  set(sources)
  foreach(source IN LISTS shaders_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  set(built ${CMAKE_CURRENT_BINARY_DIR}/${program}_shaders/${shaders_NAME}.metallib)
  add_custom_command(
    OUTPUT ${built}
    COMMAND Metalloid::metalloid compile ${shaders_OPTIONS} -MD -MF ${built}.d ${sources} -o ${built}
    DEPENDS ${sources} Metalloid::metalloid DEPFILE ${built}.d
    COMMENT "Compiling ${shaders_NAME}.metallib for ${program}" VERBATIM)
  add_custom_target(${program}_shaders
    COMMAND ${CMAKE_COMMAND} -E make_directory $<TARGET_FILE_DIR:${program}>
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${built} $<TARGET_FILE_DIR:${program}>/${shaders_NAME}.metallib
    DEPENDS ${built} VERBATIM)
  add_dependencies(${program} ${program}_shaders)
endfunction()
