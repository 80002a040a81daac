# What `cmake --install` puts into a prefix: the libraries, the headers, the programs, and what CMake and pkg-config
# need to find them. `libraries` is the one list of the libraries we publish.
include(CMakePackageConfigHelpers)

set(libraries foundation library formats cache device bitcode msl cpu nvidia metal mps macos)
if(METALLOID_PORTABLE)
  list(PREPEND libraries llvm)
endif()
list(TRANSFORM libraries PREPEND metalloid_ OUTPUT_VARIABLE library_targets)

foreach(library IN LISTS libraries)
  set_target_properties(metalloid_${library} PROPERTIES EXPORT_NAME ${library} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(library MATCHES "^(foundation|metal|mps|macos)$")
    target_compile_features(metalloid_${library} PUBLIC cxx_std_17)  # as programs written for metal-cpp are
  else()
    target_compile_features(metalloid_${library} PUBLIC cxx_std_20)
  endif()
  target_include_directories(metalloid_${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
endforeach()

# The umbrella, for those who want everything of ours. Apple's headers that are not Metal's are for those who ask for
# them by name: other programs would mistake them for signs of a Mac.
set(umbrella_targets ${library_targets})
list(REMOVE_ITEM umbrella_targets metalloid_macos)
add_library(metalloid_all INTERFACE)
add_library(Metalloid::Metalloid ALIAS metalloid_all)
set_target_properties(metalloid_all PROPERTIES EXPORT_NAME Metalloid)
target_link_libraries(metalloid_all INTERFACE ${umbrella_targets})

install(TARGETS ${library_targets} metalloid_all metalloid EXPORT Metalloid
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS metalloid_mps_cpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})  # opened at run time, beside the others
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Metalloid)
install(EXPORT Metalloid NAMESPACE Metalloid:: FILE MetalloidTargets.cmake DESTINATION ${package_directory})
configure_package_config_file(cmake/MetalloidConfig.cmake.in ${PROJECT_BINARY_DIR}/MetalloidConfig.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/MetalloidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/MetalloidConfig.cmake ${PROJECT_BINARY_DIR}/MetalloidConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/MetalloidShaders.cmake
        DESTINATION ${package_directory})

list(TRANSFORM umbrella_targets PREPEND -l OUTPUT_VARIABLE pkgconfig_libraries)
list(REVERSE pkgconfig_libraries)
list(JOIN pkgconfig_libraries " " pkgconfig_libraries)
configure_file(cmake/metalloid.pc.in metalloid.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/metalloid.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
