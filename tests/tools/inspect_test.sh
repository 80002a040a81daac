# shellcheck shell=bash
# metalloid inspect

it_shows_functions_and_their_arguments() {
  expect 0 metalloid compile twice.metal -o out.metallib
  expect 0 metalloid inspect out.metallib
  expect_text stdout twice
  expect_text stdout thread_position_in_grid
  expect_no_text stdout $'\e['
  expect_empty stderr
}

it_prints_json() {
  expect 0 metalloid compile twice.metal -o out.metallib
  expect 0 metalloid inspect out.metallib --json
  expect_text stdout '"name": "twice"'
  expect_text stdout '"grid_value": "thread_position_in_grid"'
}

it_shows_one_function_on_request() {
  expect 0 metalloid compile twice.metal thrice.metal -o out.metallib
  expect 0 metalloid inspect out.metallib --function thrice
  expect_text stdout thrice
  expect_no_text stdout twice
  expect 2 metalloid inspect out.metallib --function nonsense
  expect_text stderr nonsense
}

it_reads_air_files_and_archives() {
  expect 0 metal -c twice.metal -o twice.air
  expect 0 metal -c thrice.metal -o thrice.air
  expect 0 metal-ar rcs both.metalar twice.air thrice.air
  expect_functions twice.air twice
  expect_functions both.metalar twice thrice
}

it_exits_3_for_files_that_are_no_libraries() {
  expect 3 metalloid inspect missing.metallib
  expect_text stderr "missing.metallib"
  expect 3 metalloid inspect twice.metal
  expect_text stderr "twice.metal"
  printf 'MTLB and more' >apple.metallib
  expect 3 metalloid inspect apple.metallib
  expect_text stderr "Apple"
  : >empty.metallib
  expect 3 metalloid inspect empty.metallib
}

it_has_help_with_examples_and_exit_codes() {
  expect 0 metalloid inspect --help
  expect_text stdout "Examples:"
  expect_text stdout "--json"
  expect_text stdout "Exit codes:"
  expect 2 metalloid inspect
}
