# shellcheck shell=bash
# metalloid lora, on the tiny Llama of METALLOID_STORIES260K or ../shared/data; without it there is nothing to teach, and
# the tests say nothing.

stories=${METALLOID_STORIES260K:-$source_folder/../shared/data/stories260k}/stories260K.bin
text=$source_folder/docs/cpu.md
lora() { metalloid lora -m "$stories" -t "$text" --length 64 "$@"; }

it_teaches_a_model_that_generate_then_uses() {
  [[ -e $stories ]] || return 0
  expect 0 lora -o adapter.safetensors --steps 10 --targets all
  expect_text stdout "held-out loss before"
  expect_text stdout "saved 'adapter.safetensors'"
  expect 0 metalloid generate -m "$stories" -p "Once upon a time" -n 20
  mv stdout without
  expect 0 metalloid generate -m "$stories" -p "Once upon a time" -n 20 --lora adapter.safetensors
  cmp -s stdout without && fail "the adapter changed nothing"
  expect 0 metalloid generate -m "$stories" -p "Once upon a time" -n 20 --lora adapter.safetensors --lora-scale 0
  cmp -s stdout without || fail "nothing of the adapter is not nothing"
}

it_goes_on_where_it_stopped_as_if_it_had_not() {
  [[ -e $stories ]] || return 0
  expect 0 lora -o whole.safetensors --steps 6
  expect 0 lora -o parts.safetensors --steps 3
  expect 0 lora -o parts.safetensors --steps 6 --resume
  expect_text stdout "goes on after step 3"
  cmp whole.safetensors parts.safetensors || fail "the adapters differ"
  expect 3 lora -o parts.safetensors --steps 9 --resume --rank 4
  expect_text stderr "it was begun with rank 8, which cannot become 4"
}

it_says_what_is_wrong_with_texts_and_places() {
  [[ -e $stories ]] || return 0
  : > empty.txt
  expect 1 metalloid lora -m "$stories" -t empty.txt -o a.safetensors
  expect_text stderr "the text is empty"
  expect 3 metalloid lora -m "$stories" -t missing.txt -o a.safetensors
  expect_text stderr "missing.txt"
  expect 3 lora -o no/such/folder/a.safetensors --steps 1
  expect_text stderr "cannot write"
  expect 3 lora -o a.safetensors --resume
  expect_text stderr "a.safetensors.training"
  expect 1 lora -o a.safetensors --rate 1e30 --steps 5 --targets all
  expect_text stderr "a smaller rate"
}
