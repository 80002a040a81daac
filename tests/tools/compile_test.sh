# shellcheck shell=bash
# metalloid compile
# shellcheck disable=SC2154

it_writes_a_library() {
  expect 0 metalloid compile twice.metal -o out.metallib
  expect_empty stdout
  expect_empty stderr
  expect_functions out.metallib twice
}

it_names_the_library_after_the_first_input() {
  expect 0 metalloid compile twice.metal thrice.metal
  expect_functions twice.metallib twice thrice
}

it_merges_sources_and_libraries() {
  expect 0 metalloid compile twice.metal -o first.metallib
  expect 0 metalloid compile first.metallib thrice.metal -o out.metallib
  expect_functions out.metallib twice thrice
}

it_rejects_two_functions_of_one_name() {
  cp twice.metal again.metal
  expect 1 metalloid compile twice.metal again.metal -o out.metallib
  expect_text stderr twice
  expect_no_file out.metallib
}

it_reads_standard_input_and_writes_standard_output() {
  metalloid compile - -o - <twice.metal >out.metallib || fail "compile"
  expect_functions out.metallib twice
  metalloid inspect - <out.metallib | grep -q twice || fail "inspect from standard input"
}

it_includes_from_the_current_folder_for_standard_input() {
  echo '#define FACTOR 4.0f' >factor.h
  metalloid compile - -o out.metallib <<'METAL' || fail "compile"
#include "factor.h"
kernel void scale(device float* x) { x[0] *= FACTOR; }
METAL
  expect_functions out.metallib scale
}

it_exits_1_and_leaves_no_file_when_the_source_has_errors() {
  expect 1 metalloid compile wrong.metal -o out.metallib
  expect_empty stdout
  expect_text stderr "wrong.metal:2:10: error:"
  expect_text stderr "x[0] = oops;"
  expect_no_file out.metallib
}

it_keeps_the_old_file_when_the_source_has_errors() {
  echo old >out.metallib
  expect 1 metalloid compile wrong.metal -o out.metallib
  expect_text out.metallib old
}

it_reports_the_errors_of_every_input() {
  sed s/oops/ouch/ wrong.metal >worse.metal
  expect 1 metalloid compile wrong.metal twice.metal worse.metal -o out.metallib
  expect_text stderr "wrong.metal:2:10"
  expect_text stderr "worse.metal:2:10"
}

it_exits_2_for_wrong_usage() {
  expect 2 metalloid compile
  expect_text stderr "no input files"
  expect 2 metalloid compile --nonsense twice.metal
  expect_text stderr "unknown option '--nonsense'"
  expect 2 metalloid compile twice.metal -o
  expect_text stderr "'-o' needs a value"
  expect 2 metalloid compile -O7 twice.metal
  expect_text stderr "known are 0 1 2 3 s"
  expect 2 metalloid compile -fmetal-math-mode=wild twice.metal
  expect_text stderr "known are fast relaxed safe"
}

it_exits_3_when_a_file_cannot_be_read() {
  expect 3 metalloid compile missing.metal -o out.metallib
  expect_text stderr "cannot read 'missing.metal': No such file or directory"
  mkdir folder.metal
  expect 3 metalloid compile folder.metal -o out.metallib
  expect_text stderr "Is a directory"
  expect_no_file out.metallib
}

it_exits_3_when_the_output_cannot_be_written() {
  expect 3 metalloid compile twice.metal -o no/such/folder/out.metallib
  expect_text stderr "no/such/folder/out.metallib"
  expect 3 bash -c 'metalloid compile twice.metal -o - >/dev/full'
  expect_text stderr "standard output"
}

it_writes_to_devices_in_place() {
  expect 0 metalloid compile twice.metal -o /dev/null
  [[ -c /dev/null ]] || fail "/dev/null was replaced by a file"
}

it_defines_and_undefines_macros() {
  cat >macros.metal <<'METAL'
#if !defined(FLAG) || FLAG != 1 || SIZE != 16 || defined(GONE)
#error macros
#endif
kernel void f(device float* x) { x[0] = SIZE; }
METAL
  expect 0 metalloid compile -DFLAG -D SIZE=16 -DGONE=1 -UGONE macros.metal -o out.metallib
  expect 1 metalloid compile macros.metal -o out.metallib
}

it_searches_include_directories() {
  mkdir -p first second
  echo '#define ONE 1' >first/one.h
  echo '#define TWO 2' >second/two.h
  printf '#include "one.h"\n#include <two.h>\nkernel void f(device int* x) { x[0] = ONE + TWO; }\n' >includes.metal
  expect 1 metalloid compile includes.metal -o out.metallib
  expect_text stderr one.h
  expect 0 metalloid compile -Ifirst -I second includes.metal -o out.metallib
}

it_knows_the_language_versions() {
  local pair
  for pair in metal3.2:320 metal3.1:310 metal3.0:300 macos-metal2.4:240 ios-metal2.4:240 macos-metal1.2:120; do
    echo __METAL_VERSION__ >version.metal
    expect 0 metalloid compile -E -P "-std=${pair%:*}" version.metal
    [[ $(tail -1 stdout) == "${pair#*:}" ]] || fail "$pair: $(tail -1 stdout)"
  done
  expect 2 metalloid compile -std=metal9.9 twice.metal
  expect_text stderr "unknown language version 'metal9.9'; known are"
  expect_text stderr "macos-metal2.4"
}

it_preprocesses() {
  printf '#define N 3\nint a[N];\n' >array.metal
  expect 0 metalloid compile -E array.metal
  expect_text stdout "int a[3];"
  expect_text stdout '# 1 "array.metal"'
  expect 0 metalloid compile -E -P array.metal -o array.i
  expect_empty stdout
  [[ $(tail -1 array.i) == "int a[3];" ]] || fail "array.i: $(cat array.i)"
  expect_no_text array.i '# 1'
}

it_makes_warnings_errors_or_silences_them() {
  printf '#warning careful\nkernel void f(device int* x) { x[0] = 1; }\n' >careful.metal
  expect 0 metalloid compile careful.metal -o out.metallib
  expect_text stderr "warning: careful"
  expect 0 metalloid compile -w careful.metal -o out.metallib
  expect_empty stderr
  rm out.metallib
  expect 1 metalloid compile -Werror careful.metal -o out.metallib
  expect_text stderr careful
  expect_no_file out.metallib
}

it_takes_all_levels_and_modes() {
  local option
  for option in -O0 -O1 -O2 -O3 -Os -g -ffast-math -fno-fast-math -fmetal-math-mode=fast -fmetal-math-mode=relaxed \
    -fmetal-math-mode=safe -fmetal-math-fp32-functions=fast -fmetal-math-fp32-functions=precise -Wall -Wextra; do
    expect 0 metalloid compile "$option" twice.metal -o out.metallib
    expect_empty stderr
    expect_functions out.metallib twice
  done
}

it_only_checks_with_fsyntax_only() {
  expect 0 metalloid compile -fsyntax-only twice.metal
  expect_no_file twice.metallib
  expect 1 metalloid compile -fsyntax-only wrong.metal
}

it_colours_diagnostics_on_request_only() {
  expect 1 metalloid compile wrong.metal -o out.metallib
  expect_no_text stderr $'\e['
  expect 1 metalloid compile -fcolor-diagnostics wrong.metal -o out.metallib
  expect_text stderr $'\e['
}

it_compiles_the_examples() {
  expect 0 metalloid compile "$source_folder"/examples/kernels/*.metal -o out.metallib
  expect_empty stderr
  expect 0 metalloid inspect out.metallib
  for function in saxpy softmax_rows matmul_float matmul_half matmul_bfloat histogram; do
    expect_text stdout "$function"
  done
}

it_has_help_with_examples_and_exit_codes() {
  expect 0 metalloid compile --help
  expect_text stdout "Examples:"
  expect_text stdout "-fmetal-math-mode="
  expect_text stdout "1 the source has errors"
  expect_empty stderr
}

it_puts_code_for_gpus_into_the_library() {
  expect 0 metalloid compile --device sm_90 twice.metal -o out.metallib
  expect_empty stderr
  expect 0 metalloid inspect out.metallib
  expect_text stdout 'made ahead of time for: sm_90 PTX'
  expect 0 metalloid compile out.metallib thrice.metal -o both.metallib
  expect 0 metalloid inspect both.metallib --function twice
  expect_text stdout 'made ahead of time for: sm_90 PTX'
}

it_says_which_kernels_are_left_for_later() {
  cat >scale.metal <<'METAL'
constant float factor [[function_constant(0)]];
kernel void scale(device float* x) { x[0] *= factor; }
METAL
  expect 0 metalloid compile --device=sm_90 scale.metal twice.metal -o out.metallib
  expect_text stderr '1 of 2 kernels take function constants'
}

it_needs_the_name_of_a_gpu() {
  expect 2 metalloid compile --device gfx90 twice.metal -o out.metallib
  expect_text stderr "unknown device 'gfx90'"
  expect 2 metalloid compile --cubin twice.metal -o out.metallib
  expect_text stderr '--cubin needs --device'
  expect_no_file out.metallib
}
