# shellcheck shell=bash
# metallib and metal-ar

make_air() {
  expect 0 metal -c twice.metal -o twice.air
  expect 0 metal -c thrice.metal -o thrice.air
}

it_links_air_files() {
  make_air
  expect 0 metallib twice.air thrice.air -o both.metallib
  expect_functions both.metallib twice thrice
  expect 0 metallib -o one.metallib twice.air
  expect_functions one.metallib twice
}

it_links_archives() {
  make_air
  expect 0 metal-ar r kernels.metalar twice.air thrice.air
  expect 0 metallib kernels.metalar -o both.metallib
  expect_functions both.metallib twice thrice
}

it_links_functions_that_files_call_of_each_other() {
  echo 'float curve(float x) { return 3 * x * x + 1; }' >curve.metal
  echo 'float curve(float x);
        kernel void bent(device float* x, uint i [[thread_position_in_grid]]) { x[i] = curve(x[i]); }' >bent.metal
  expect 0 metal -c curve.metal -o curve.air
  expect 0 metal -c bent.metal -o bent.air
  expect 0 metallib bent.air curve.air -o bent.metallib
  expect_functions bent.metallib bent
  expect 0 metalloid run bent.metallib bent --grid 3 -b x=inout:f32:2:3
  expect_text stdout 13
  expect 0 metalloid compile bent.metal curve.metal -o bent.metallib
  expect 0 metalloid run bent.metallib bent --grid 3 -b x=inout:f32:2:3
  expect_text stdout 13
  expect 1 metallib bent.air -o nothing.metallib
  expect_text stderr "'bent' calls 'curve(float)', which no file defines"
  expect 1 metalloid compile bent.metal
  expect_text stderr "'curve' is declared but has no definition"
}

it_reads_standard_input() {
  metal -c twice.metal -o - | metallib - -o out.metallib || fail "pipe"
  expect_functions out.metallib twice
}

it_replaces_members_of_an_archive() {
  make_air
  expect 0 metal-ar rcs kernels.metalar twice.air thrice.air
  sed -i s/twice/twofold/ twice.metal
  expect 0 metal -c twice.metal -o twice.air
  expect 0 metal-ar rcs kernels.metalar twice.air
  expect_functions kernels.metalar twofold thrice
}

it_lists_deletes_and_extracts_members() {
  make_air
  expect 0 metal-ar q kernels.metalar twice.air
  mv thrice.air a_file_with_a_rather_long_name.air
  expect 0 metal-ar q kernels.metalar a_file_with_a_rather_long_name.air
  expect 0 metal-ar t kernels.metalar
  printf 'twice.air\na_file_with_a_rather_long_name.air\n' | diff - stdout || fail "members"
  rm ./*.air
  expect 0 metal-ar x kernels.metalar
  expect_functions a_file_with_a_rather_long_name.air thrice
  expect 0 metal-ar d kernels.metalar twice.air
  expect_functions kernels.metalar thrice
}

it_makes_archives_that_ar_reads() {
  command -v ar >/dev/null || return 0
  make_air
  expect 0 metal-ar rcs kernels.metalar twice.air thrice.air
  expect 0 ar t kernels.metalar
  printf 'twice.air\nthrice.air\n' | diff - stdout || fail "members"
}

it_rejects_damaged_and_foreign_files() {
  make_air
  expect 3 metallib missing.air -o out.metallib
  expect_text stderr missing.air
  expect 3 metallib twice.metal -o out.metallib
  expect 3 metal-ar rcs kernels.metalar twice.metal
  expect 0 metal-ar rcs kernels.metalar twice.air
  head -c 100 kernels.metalar >short.metalar
  expect 3 metallib short.metalar -o out.metallib
  expect_text stderr "damaged archive"
  expect_no_file out.metallib
}

it_exits_2_for_wrong_usage() {
  expect 2 metallib
  expect 2 metallib --nonsense a.air
  expect_text stderr "unknown option"
  expect 2 metal-ar
  expect 2 metal-ar z kernels.metalar
  expect_text stderr "unknown operation"
}

it_has_help() {
  expect 0 metallib --help
  expect_text stdout "Usage: metallib"
  expect 0 metal-ar --help
  expect_text stdout "Usage: metal-ar"
}
