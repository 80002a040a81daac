# shellcheck shell=bash
# metalloid train cnn, on few images

train() { metalloid train cnn "$@"; }

it_learns_to_read_digits_and_draws_how() {
  expect 0 train --limit 2000 --batch 20 --epochs 1 --output out
  accuracy=$(grep -oP 'test accuracy \K[0-9]+(?=\.[0-9]+% after 1 epochs)' stdout) || fail "there is no test accuracy"
  ((accuracy >= 85)) || fail "the network reads only $accuracy% of the digits"
  for picture in curves misclassified confusion; do
    [[ $(head -c 4 "out/$picture.png" | tail -c 3) == PNG ]] || fail "$picture.png is no PNG file"
  done
  expect_text out/log.json '"test accuracy"'
  expect_file out/checkpoint.safetensors
}

it_gives_the_same_numbers_in_one_go_and_resumed() {
  expect 0 train --limit 640 --epochs 2 --seed 7 --output whole
  expect 0 train --limit 640 --epochs 1 --seed 7 --output parts
  expect 0 train --epochs 2 --resume --output parts
  expect_text stdout "going on after 1 epochs and 0 steps"
  cmp whole/checkpoint.safetensors parts/checkpoint.safetensors || fail "the resumed training has other numbers"
  expect 2 train --resume --seed 8 --output parts
  expect_text stderr "--seed 7"
}

it_saves_and_stops_when_it_is_interrupted() {
  metalloid train cnn --limit 640 --epochs 40 --output parts >stdout 2>stderr &
  until grep -q "^epoch 2/" stdout; do
    kill -0 $! || fail "it ended before it could be interrupted"
    sleep 0.05
  done
  kill -INT $!
  local code=0
  wait $! || code=$?
  ((code == 130)) || fail "it ended with $code, not 130"
  expect_text stdout "go on with: metalloid train cnn --output parts --epochs 40 --resume"
  local epoch
  epoch=$(grep -oP 'stopped in epoch \K[0-9]+' stdout)
  expect 0 train --epochs "$epoch" --resume --output parts
  expect 0 train --limit 640 --epochs "$epoch" --output whole
  cmp whole/checkpoint.safetensors parts/checkpoint.safetensors || fail "the interrupted training has other numbers"
}

it_refuses_checkpoints_that_are_not_its_own() {
  expect 3 train --resume --output nothing
  expect_text stderr "there is no 'nothing/checkpoint.safetensors' to resume from"
  mkdir out
  printf '\x02\0\0\0\0\0\0\0{}' >out/checkpoint.safetensors
  expect 3 train --resume --output out
  expect_text stderr "another program wrote it"
  expect 0 train --limit 64 --epochs 1 --output out
  truncate -s 1000000 out/checkpoint.safetensors
  expect 3 train --resume --output out
  expect_text stderr "'out/checkpoint.safetensors' is no checkpoint that training can go on from"
}

it_says_which_file_of_the_data_is_missing_or_damaged() {
  expect 3 train --data nowhere --output out
  expect_text stderr "cannot read 'nowhere/train-labels-idx1-ubyte.gz': No such file or directory"
  cp -rL "$source_folder/examples/train_cnn/data" data
  chmod u+w data/*
  truncate -s 100000 data/t10k-images-idx3-ubyte.gz
  expect 3 train --data data --output out
  expect_text stderr "'data/t10k-images-idx3-ubyte.gz' is not the file of MNIST that it should be"
  cp data/train-labels-idx1-ubyte.gz data/train-images-idx3-ubyte.gz
  expect 3 train --data data --output out
  expect_text stderr "its magic number is 2049, not 2051"
}

it_says_so_when_the_disk_is_full() {
  full() { (trap '' XFSZ && ulimit -f 1000 && metalloid train cnn --limit 64 --epochs 1 --output out); }
  expect 3 full
  expect_text stderr "the checkpoint is not saved"
  expect_no_file out/checkpoint.safetensors
}

it_stops_when_the_loss_is_no_number() {
  expect 1 train --limit 640 --rate 1e38 --output out
  expect_text stderr "the loss is no number any more"
  expect_text stderr "try a smaller one"
}

it_refuses_settings_that_make_no_sense() {
  expect 2 train --batch 0
  expect_text stderr "--batch"
  expect 2 train --limit 10 --batch 64 --output out
  expect_text stderr "--batch 64 is more than the 10 training images there are"
  expect 2 train --rate -1
  expect 1 train --device abacus --output out
  expect_text stderr abacus
  touch file
  expect 3 train --limit 64 --output file
  expect_text stderr "cannot make the folder 'file'"
}
