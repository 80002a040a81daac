# METALLOID_PORTABLE builds programs that can be copied, with their libraries, to a machine with nothing installed but
# glibc (scripts/bundle packs them). LLVM and Clang become one library of ours, made of their static archives with only
# the code generators that we use: half of what Debian's shared libraries have, and small enough to travel. Our other
# libraries link it under the names of those that it takes the place of.
option(METALLOID_PORTABLE "Build programs that can be copied to machines without LLVM" OFF)
if(NOT METALLOID_PORTABLE)
  return()
endif()

# The same folders here and there. The dynamic linker looks into an RPATH, unlike a RUNPATH, for what libraries of
# others need, too.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR} $ORIGIN/../../${CMAKE_INSTALL_LIBDIR} $ORIGIN)
add_link_options(-Wl,--disable-new-dtags)

find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
execute_process(
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libs
          # src/bitcode, src/cpu, src/nvidia
          asmparser bitreader bitwriter irreader linker orcjit passes x86codegen aarch64codegen nvptxcodegen
          # Clang
          coverage frontenddriver frontendhlsl frontendopenmp lto option windowsdriver
  OUTPUT_VARIABLE names OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(names)
list(TRANSFORM names REPLACE "^-l" "")
list(APPEND names clangFrontend clangSerialization clangParse clangSema clangAnalysis clangAnalysisLifetimeSafety clangAST
     clangASTMatchers clangEdit clangLex clangBasic clangCodeGen clangDriver clangOptions clangSupport clangAPINotes)
list(REMOVE_ITEM names Polly PollyISL LLVMExtensions)

# All of each, for anything may be called from outside; but what is needed of those that, whole, would need more.
set(partly_needed LLVMSupport LLVMLTO clangAnalysis)
list(REMOVE_ITEM names ${partly_needed})
list(TRANSFORM names REPLACE "(.+)" "${LLVM_LIBRARY_DIRS}/lib\\1.a")
list(TRANSFORM partly_needed REPLACE "(.+)" "${LLVM_LIBRARY_DIRS}/lib\\1.a")
add_library(metalloid_llvm SHARED cmake/portable_llvm.cpp)
target_include_directories(metalloid_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_options(metalloid_llvm PRIVATE -B${LLVM_TOOLS_BINARY_DIR} -fuse-ld=lld -Wl,-Bsymbolic-functions -Wl,-z,defs)
target_link_libraries(metalloid_llvm PRIVATE -Wl,--whole-archive ${names} -Wl,--no-whole-archive ${partly_needed}
                      z zstd ${CMAKE_DL_LIBS})

foreach(library LLVM-22 clang-cpp)
  add_library(${library} INTERFACE)
  target_link_libraries(${library} INTERFACE metalloid_llvm)
endforeach()
