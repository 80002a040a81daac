# shellcheck shell=bash
# metalloid without a subcommand

it_prints_its_version() {
  expect 0 metalloid --version
  grep -qxE 'metalloid [0-9]+\.[0-9]+\.[0-9]+' stdout || fail "version"
}

it_has_help_with_examples_and_exit_codes() {
  expect 0 metalloid --help
  expect_text stdout compile
  expect_text stdout inspect
  expect_text stdout "Examples:"
  expect_text stdout "2 wrong usage"
}

it_exits_2_without_or_with_an_unknown_subcommand() {
  expect 2 metalloid
  expect 2 metalloid paint
  expect 2 metalloid --nonsense
}
