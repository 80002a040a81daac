# shellcheck shell=bash
# metal, with the command lines of existing build files

it_compiles_to_air_and_links_air_to_a_library() {
  expect 0 metal -c twice.metal -o twice.air
  expect 0 metal -c thrice.metal
  expect_file thrice.air
  expect 0 metal -mmacosx-version-min=14.0 twice.air thrice.air -o both.metallib
  expect_functions both.metallib twice thrice
}

it_links_a_source_directly() {
  expect 0 metal twice.metal -o out.metallib
  expect_functions out.metallib twice
  expect 0 metal thrice.metal
  expect_functions default.metallib thrice
}

it_reads_source_from_standard_input() {
  metal -x metal -c - -o out.air <twice.metal || fail "metal -"
  expect_functions out.air twice
}

it_takes_x_metal_for_files_of_any_name() {
  cp twice.metal twice.h
  expect 0 metal -x metal -c twice.h -o out.air
  expect_functions out.air twice
}

it_takes_the_flags_of_mlx() {
  expect 0 metal -x metal -Wall -Wextra -fno-fast-math -Wno-c++17-extensions -Wno-c++20-extensions \
    -Wmetal-addr-spaces -gline-tables-only -frecord-sources -fmetal-enable-logging -mmacosx-version-min=15.0 \
    -c twice.metal -I. -o out.air
  expect_empty stderr
  expect_functions out.air twice
}

it_takes_the_flags_of_llama_cpp() {
  expect 0 metal -fno-fast-math -fno-inline -g -mmacosx-version-min=13.3 -std=metal3.1 -c twice.metal -o out.air
  expect_empty stderr
}

it_takes_other_flags_seen_in_build_files() {
  expect 0 metal -target air64-apple-macos14.0 -isysroot /nowhere -isystem . -O3 -fpreserve-invariance -ffast-math \
    -serialize-diagnostics out.dia -arch air64 -Werror -Wno-unused -c twice.metal -o out.air
  expect_empty stderr
  expect_no_file out.dia
}

it_tells_the_language_version_of_a_deployment_target() {
  local pair
  for pair in -mmacosx-version-min=15.0:320 -mmacosx-version-min=14.5:310 -mmacosx-version-min=10.15:220 \
    -mmacosx-version-min=26.0:320 -mios-version-min=16.4:300 --target=air64-apple-ios17.0:310 \
    --target=air64-apple-macosx13.0.0:300; do
    echo __METAL_VERSION__ | metal "${pair%:*}" -E -x metal -P - >stdout || fail "$pair"
    [[ $(tail -1 stdout) == "${pair#*:}" ]] || fail "$pair: $(tail -1 stdout)"
  done
  echo __METAL_VERSION__ | metal -std=metal3.0 -mmacosx-version-min=15.0 -E -x metal -P - | tail -1 | grep -qx 300 ||
    fail "-std= counts more than the deployment target"
  expect 2 metal -mmacosx-version-min= -c twice.metal -o out.air
  expect_text stderr "'' is no version of a system"
}

it_lists_included_files() {
  mkdir inner
  echo '#include "deep.h"' >inner/near.h
  echo '#define DEEP 1' >inner/deep.h
  printf '#include <metal_stdlib>\n#include "near.h"\n' >includes.metal
  expect 0 metal -x metal -Iinner -E -P -CC -C -H includes.metal -w
  printf '. inner/near.h\n.. inner/deep.h\n' | diff - stderr >difference || fail "$(cat difference)"
}

it_writes_dependency_files() {
  echo '#define TWO 2' >two.h
  printf '#include <metal_stdlib>\n#include "two.h"\nkernel void f(device int* x) { x[0] = TWO; }\n' >depends.metal
  expect 0 metal -MD -c depends.metal -o depends.air
  expect_text depends.d "depends.air: depends.metal"
  expect_text depends.d "two.h"
  expect_no_text depends.d metal_stdlib
  expect 0 metal -MMD -MF rule.d -MT 'my target' -MP -c depends.metal -o depends.air
  expect_text rule.d 'my\ target: depends.metal'
  expect_text rule.d 'two.h:'
  expect 0 metal -M depends.metal
  expect_text stdout "depends.air: depends.metal"
}

it_makes_no_dependency_file_for_wrong_source() {
  expect 1 metal -MD -c wrong.metal -o wrong.air
  expect_no_file wrong.d
  expect_no_file wrong.air
}

it_rejects_what_it_does_not_know() {
  expect 2 metal -c --quux twice.metal
  expect_text stderr "unknown option '--quux'"
  expect 2 metal -x c++ -c twice.metal
  expect_text stderr "known are metal none"
  expect 2 metal -c twice.metal thrice.metal -o both.air
  expect_text stderr "-o names one file"
}

it_warns_of_unknown_f_options() {
  expect 0 metal -fquux -c twice.metal -o out.air
  expect_text stderr "warning: unknown option '-fquux'"
  expect 0 metal -w -fquux -c twice.metal -o out.air
  expect_empty stderr
}

it_prints_help_and_version() {
  expect 0 metal --help
  expect_text stdout "Examples:"
  expect 0 metal --version
  expect_text stdout "Metalloid"
}
