# shellcheck shell=bash
# xcrun

it_runs_the_metal_tools() {
  expect 0 xcrun -sdk macosx metal -c twice.metal -o twice.air
  expect 0 xcrun --sdk iphoneos metal-ar r kernels.metalar twice.air
  expect 0 xcrun metallib kernels.metalar -o out.metallib
  expect_functions out.metallib twice
}

it_runs_the_pipe_of_llama_cpp() {
  xcrun -sdk macosx metal -O3 -c twice.metal -o - | xcrun -sdk macosx metallib - -o default.metallib || fail "pipe"
  expect_functions default.metallib twice
}

it_answers_the_version_question_of_mlx() {
  echo "__METAL_VERSION__" | xcrun -sdk macosx metal -mmacosx-version-min=15.0 -E -x metal -P - | tail -1 >stdout
  expect_text stdout 320
}

it_finds_tools() {
  expect 0 xcrun --find metal
  [[ -x $(cat stdout) ]] || fail "$(cat stdout) is not there"
  expect 0 xcrun -sdk macosx -f metallib
  expect_text stdout /metallib
}

it_passes_exit_codes_on() {
  expect 1 xcrun metal -c wrong.metal -o wrong.air
  expect 3 xcrun metal -c missing.metal -o missing.air
  expect 7 xcrun bash -c 'exit 7'
}

it_says_which_tool_is_missing() {
  expect 72 xcrun -sdk macosx no_such_tool
  expect_text stderr "there is no tool 'no_such_tool'"
  expect 2 xcrun
  expect 2 xcrun --show-sdk-path
}

it_tells_the_sdk_version() {
  expect 0 xcrun -sdk macosx --show-sdk-version
  expect_text stdout 15.0
}
