# shellcheck shell=bash
# metalloid train rnn

# held_out: the measure of what was held out, as the last line of stdout has it.
held_out() { sed -n 's/^held out \([0-9.]*\) .*/\1/p' stdout; }
is_below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

text_run() {
  metalloid train rnn --limit 12000 --hidden 48 --length 20 --batch 16 --rate 0.01 "$@"
}

# Guessing the mean has twice the error.
learn_to_add() {
  expect 0 metalloid train rnn --task adding --cell "$1" --length 8 --hidden 24 --batch 32 --limit 3200 --rate 0.01 \
    --epochs 4
  is_below 2 "$(held_out)" || fail "the error is only $(held_out) times smaller than that of guessing"
}
it_learns_to_add_with_an_lstm() { learn_to_add lstm; }
it_learns_to_add_with_a_gru() { learn_to_add gru; }

# The characters by themselves have 4.0 bits.
learn_text() {
  expect 0 text_run --cell "$1" --layers "$2" --epochs 3
  is_below "$(held_out)" 4.0 || fail "a character takes $(held_out) bits"
  expect_text stdout "  | "
  for file in checkpoint.safetensors curves.png sample.txt log.json; do expect_file "rnn/$file"; done
}
it_learns_a_text_with_an_lstm() { learn_text lstm 1; }
it_learns_a_text_with_two_layers_of_gru() { learn_text gru 2; }

it_gives_the_same_numbers_if_it_is_interrupted() {
  expect 0 text_run --epochs 2 --output whole
  expect 0 text_run --epochs 1 --output parts
  expect 0 metalloid train rnn --epochs 2 --output parts --resume
  cmp whole/checkpoint.safetensors parts/checkpoint.safetensors || fail "the resumed training gave other numbers"
}

# Wherever it is: the checkpoint has what the layers remember, too.
it_goes_on_in_the_middle_of_an_epoch() {
  expect 0 text_run --epochs 8 --output whole
  metalloid train rnn --limit 12000 --hidden 48 --length 20 --batch 16 --rate 0.01 --epochs 8 --output parts >stdout &
  local trainer=$!
  until [[ -e parts/checkpoint.safetensors ]]; do sleep 0.02; done
  sleep 0.1
  kill -INT $trainer
  local code=0
  wait $trainer || code=$?
  ((code == 130)) || fail "it ended with $code, not 130"
  expect_text stdout "go on with: metalloid train rnn --output parts --epochs 8 --resume"
  expect 0 metalloid train rnn --epochs 8 --output parts --resume
  cmp whole/checkpoint.safetensors parts/checkpoint.safetensors || fail "the resumed training gave other numbers"
}

it_writes_samples_from_a_checkpoint() {
  expect 0 text_run --epochs 1
  expect 0 metalloid train rnn --sample 100 --seed 7
  (($(wc -c <stdout) == 101)) || fail "it wrote $(wc -c <stdout) bytes"
  cp stdout first
  expect 0 metalloid train rnn --sample 100 --seed 7
  cmp stdout first || fail "the same seed gave another sample"
  expect 0 metalloid train rnn --sample 100 --temperature 0
  expect_empty stderr
}

it_learns_any_bytes() {
  head -c 3000 /dev/urandom >bytes
  expect 0 metalloid train rnn --text bytes --hidden 8 --length 8 --batch 4 --epochs 1
}

it_refuses_texts_that_it_cannot_learn() {
  : >empty
  expect 3 metalloid train rnn --text empty
  expect_text stderr "0 bytes"
  echo "In the beginning" >short
  expect 2 metalloid train rnn --text short
  expect_text stderr "the text has 17 characters"
  expect 3 metalloid train rnn --text absent
  expect_text stderr "cannot learn from 'absent': No such file or directory"
  expect 3 metalloid train rnn --text .
  expect_text stderr "folder"
}

it_refuses_to_go_on_with_something_else() {
  expect 3 metalloid train rnn --resume
  expect_text stderr "there is no 'rnn/checkpoint.safetensors'"
  expect 0 metalloid train rnn --task adding --length 4 --hidden 8 --limit 64 --epochs 1
  expect 2 metalloid train rnn --resume --hidden 16
  expect_text stderr "--hidden 8"
  expect 2 metalloid train rnn --sample 10
  expect_text stderr "learned no text"
  expect 0 text_run --epochs 1 --output text
  cp "$source_folder/README.md" other
  expect 2 metalloid train rnn --resume --output text --text other
  expect_text stderr "another text"
  truncate -s 1000 text/checkpoint.safetensors
  expect 3 metalloid train rnn --resume --output text
  expect_text stderr "no checkpoint that training can go on from"
}

# Here it begins with numbers that are none: bytes that are all ones.
it_stops_at_a_loss_that_is_no_number() {
  expect 0 metalloid train rnn --task adding --length 4 --hidden 8 --limit 64 --epochs 1
  local end
  end=$(stat -c %s rnn/checkpoint.safetensors)
  printf '\xff%.0s' {1..16} | dd of=rnn/checkpoint.safetensors bs=1 seek=$((end - 16)) conv=notrunc status=none
  cp rnn/checkpoint.safetensors before
  expect 1 metalloid train rnn --resume --epochs 9
  expect_text stderr "the loss is no number any more in step"
  cmp before rnn/checkpoint.safetensors || fail "the checkpoint was written over"
}
