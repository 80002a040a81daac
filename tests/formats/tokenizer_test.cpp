#include "formats/tokenizer.hpp"

#include <nlohmann/json.hpp>
#include <random>

#include "../support/stories260k.hpp"
#include "../support/temporary_folder.hpp"
#include "formats/gguf.hpp"
#include "gguf_writer.hpp"

namespace metalloid::formats {
namespace {

using Tokens = std::vector<Token>;

std::string decode(const Tokenizer& tokenizer, const Tokens& tokens) {
  std::string text;
  Token previous = no_token;
  for (const Token token : tokens) {
    text += tokenizer.decode(token, previous);
    previous = token;
  }
  return text;
}

Tokens encode(const Tokenizer& tokenizer, std::string_view text) {
  const auto tokens = tokenizer.encode(text);
  EXPECT_TRUE(tokens) << tokens.error();
  return tokens ? *tokens : Tokens{};
}

// A vocabulary as SentencePiece makes them: three special tokens, all bytes, then pieces with falling scores.
struct Pieces {
  std::vector<std::string> spellings = {"<unk>", "<s>", "</s>"};
  std::vector<float> scores = {0, 0, 0};
  std::vector<int32_t> types = {2, 3, 3};

  explicit Pieces(const std::vector<std::string>& pieces) {
    for (int byte = 0; byte < 256; ++byte) {
      char spelling[8];
      std::snprintf(spelling, sizeof spelling, "<0x%02X>", byte);
      add(spelling, 0, 6);
    }
    float score = 0;
    for (const std::string& piece : pieces) add(piece, --score, 1);
  }
  void add(const std::string& spelling, float score, int type) {
    spellings.push_back(spelling);
    scores.push_back(score);
    types.push_back(type);
  }
  Token operator[](std::string_view spelling) const {
    for (size_t i = 0; i < spellings.size(); ++i)
      if (spellings[i] == spelling) return static_cast<Token>(i);
    return no_token;
  }

  GgufWriter gguf() const {
    GgufWriter writer;
    writer.text("tokenizer.ggml.model", "llama");
    writer.texts("tokenizer.ggml.tokens", spellings);
    writer.numbers("tokenizer.ggml.scores", scores);
    writer.integers("tokenizer.ggml.token_type", types);
    return writer;
  }

  std::string llama2c() const {
    ByteWriter writer;
    writer.fixed32(32);
    for (size_t i = 0; i < spellings.size(); ++i) {
      std::string plain = spellings[i];
      for (size_t at; (at = plain.find("\u2581")) != std::string::npos;) plain.replace(at, 3, " ");
      writer.fixed32(std::bit_cast<uint32_t>(scores[i]));
      writer.fixed32(static_cast<uint32_t>(plain.size()));
      writer.append({reinterpret_cast<const uint8_t*>(plain.data()), plain.size()});
    }
    return {writer.bytes().begin(), writer.bytes().end()};
  }
};

const Pieces story({"\u2581t", "er", "in", "\u2581a", "he", "\u2581the", "\u2581", "e", "t", "a", "h", "r", "i", "n",
                    "\u00e4", "\u2581\u2581"});

Result<Tokenizer> from_gguf(const TemporaryFolder& folder, const GgufWriter& writer) {
  const auto gguf = Gguf::open(folder.write("model.gguf", writer.file()));
  if (!gguf) return Error{gguf.error()};
  return read_gguf_tokenizer(*gguf);
}

// What joining by scores means, without a queue.
Tokens join_slowly(const Pieces& pieces, std::vector<std::string> symbols) {
  while (true) {
    size_t best = symbols.size();
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Token token = pieces[symbols[i] + symbols[i + 1]];
      if (token != no_token &&
          (best == symbols.size() || pieces.scores[token] > pieces.scores[pieces[symbols[best] + symbols[best + 1]]]))
        best = i;
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
  Tokens tokens;
  for (const std::string& symbol : symbols) tokens.push_back(pieces[symbol]);
  return tokens;
}

TEST(Tokenizer, joins_by_scores_as_the_slow_way_does) {
  const TemporaryFolder folder;
  const auto tokenizer = from_gguf(folder, story.gguf());
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  std::mt19937 random(1);
  const std::string letters[] = {"\u2581", "e", "t", "a", "h", "r", "i", "n", "\u00e4"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> symbols = {"\u2581"};
    std::string text;
    for (size_t i = random() % 40; i > 0; --i) {
      symbols.push_back(letters[random() % std::size(letters)]);
      text += symbols.back() == "\u2581" ? " " : symbols.back();
    }
    if (text.empty()) continue;
    Tokens expected = join_slowly(story, symbols);
    expected.insert(expected.begin(), 1);
    ASSERT_EQ(encode(*tokenizer, text), expected) << text;
    EXPECT_EQ(decode(*tokenizer, expected), text);
  }
}

TEST(Tokenizer, files_of_llama2c_and_gguf_mean_the_same) {
  const TemporaryFolder folder;
  const auto gguf = from_gguf(folder, story.gguf());
  const auto llama2c = read_llama2c_tokenizer(folder.write("tok.bin", story.llama2c()), story.spellings.size());
  ASSERT_TRUE(gguf) << gguf.error();
  ASSERT_TRUE(llama2c) << llama2c.error();
  for (const char* text : {"", "the", " the in", "  theater\n", "x\u00e4\u20ac", "\xff\xc3"}) {
    EXPECT_EQ(encode(*gguf, text), encode(*llama2c, text)) << text;
    EXPECT_EQ(decode(*gguf, encode(*gguf, text)), text);
    EXPECT_EQ(decode(*llama2c, encode(*llama2c, text)), text);
  }
  EXPECT_EQ(encode(*gguf, "x"), (Tokens{1, story["\u2581"], story["<0x78>"]}));
  EXPECT_EQ(encode(*gguf, ""), Tokens{1});
  EXPECT_EQ(gguf->size(), story.spellings.size());
  EXPECT_EQ(gguf->beginning(), 1);
  EXPECT_TRUE(gguf->is_end(2));
  EXPECT_FALSE(gguf->is_end(5));
  EXPECT_EQ(gguf->decode(2, 5), "");
  EXPECT_EQ(gguf->decode(-5, 5), "");
  EXPECT_EQ(gguf->decode(1 << 30, 5), "");
}

TEST(Tokenizer, gguf_says_whether_a_space_and_a_beginning_come_first) {
  const TemporaryFolder folder;
  GgufWriter writer = story.gguf();
  writer.flag("tokenizer.ggml.add_space_prefix", false);
  writer.flag("tokenizer.ggml.add_bos_token", false);
  const auto tokenizer = from_gguf(folder, writer);
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(encode(*tokenizer, "he"), Tokens{story["he"]});
  EXPECT_EQ(decode(*tokenizer, {story["\u2581the"]}), " the");
}

TEST(Tokenizer, special_tokens_are_found_in_the_text) {
  const TemporaryFolder folder;
  const auto tokenizer = from_gguf(folder, story.gguf());
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(encode(*tokenizer, "the</s>the"), (Tokens{1, story["\u2581the"], 2, story["\u2581the"]}));
}

TEST(Tokenizer, long_texts_take_no_more_than_n_log_n) {
  const TemporaryFolder folder;
  const auto tokenizer = from_gguf(folder, story.gguf());
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  std::string text;
  while (text.size() < 1'000'000) text += "there in a tent ";
  EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, text)), text);
}

TEST(Tokenizer, knows_the_text_of_stories260k) {
  const auto folder = stories260k::folder();
  if (!folder) GTEST_SKIP() << stories260k::missing;
  const auto tokenizer = read_llama2c_tokenizer(*folder / "tok512.bin", 512);
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(decode(*tokenizer, stories260k::greedy_tokens), stories260k::greedy_text);
  EXPECT_EQ(encode(*tokenizer, "Once upon a time"), (Tokens{1, 403, 407, 261, 378}));
  EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, stories260k::greedy_text)), stories260k::greedy_text);
}

TEST(Tokenizer, wrong_files_of_llama2c_are_errors) {
  const TemporaryFolder folder;
  const auto message = [&](std::string_view content, size_t size) {
    const auto read = read_llama2c_tokenizer(folder.write("tok.bin", content), size);
    return read ? "opened" : read.error();
  };
  const std::string whole = story.llama2c();
  const size_t size = story.spellings.size();
  EXPECT_NE(message("", size).find("it has 0 whole tokens"), std::string::npos) << message("", size);
  EXPECT_NE(message(whole, size + 1).find("but the model has"), std::string::npos);
  EXPECT_NE(message(whole, size - 1).find("it has more than the model's"), std::string::npos);
  EXPECT_NE(message(whole.substr(0, whole.size() - 1), size).find("or was cut"), std::string::npos);
  EXPECT_NE(message(std::string(64, '\x7f'), size).find("it has 0 whole tokens"), std::string::npos);
}

// Byte-level tokens for words of "ab": single letters, and the pairs to join.
nlohmann::json byte_level(nlohmann::json pre_tokenizer) {
  using nlohmann::json;
  json vocabulary;
  const auto add = [&](const std::string& spelling) { vocabulary[spelling] = vocabulary.size(); };
  for (const char* letter : {"a", "b", "\u0120", "\u010a", "1", "2", "'", "s", "\u00c3", "\u00a4", "ab", "\u0120ab",
                             "12", "'s", "\u00c3\u00a4", "\u0120a", "bb"})
    add(letter);
  json file;
  file["model"] = {{"type", "BPE"},
                   {"vocab", vocabulary},
                   {"merges", {"a b", "\u0120 ab", "1 2", "' s", "\u00c3 \u00a4", "\u0120 a", "b b"}}};
  file["pre_tokenizer"] = std::move(pre_tokenizer);
  file["added_tokens"] = {{{"id", 17}, {"content", "<|begin|>"}, {"special", true}},
                          {{"id", 20}, {"content", "<|end|>"}, {"special", true}, {"rstrip", true}}};
  file["post_processor"] = {{"type", "Sequence"},
                            {"processors",
                             {{{"type", "ByteLevel"}},
                              {{"type", "TemplateProcessing"},
                               {"single", {{{"SpecialToken", {{"id", "<|begin|>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
                               {"special_tokens", {{"<|begin|>", {{"ids", {17}}}}}}}}}};
  return file;
}

const nlohmann::json gpt2_words_of_huggingface = {{"type", "ByteLevel"}, {"add_prefix_space", false}};

TEST(Tokenizer, byte_level_words_of_huggingface) {
  const TemporaryFolder folder;
  const auto path = folder.write("tokenizer.json", byte_level(gpt2_words_of_huggingface).dump());
  const auto tokenizer = read_huggingface_tokenizer(path, {20});
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(tokenizer->size(), 21u);
  EXPECT_EQ(tokenizer->beginning(), 17);
  EXPECT_TRUE(tokenizer->is_end(20));
  EXPECT_EQ(encode(*tokenizer, "ab ab's"), (Tokens{17, 10, 11, 13}));
  EXPECT_EQ(encode(*tokenizer, "abb"), (Tokens{17, 10, 1}));
  EXPECT_EQ(encode(*tokenizer, "  a"), (Tokens{17, 2, 15}));
  EXPECT_EQ(encode(*tokenizer, "12\n\u00e4"), (Tokens{17, 12, 3, 14}));
  EXPECT_EQ(encode(*tokenizer, "a<|end|>  a"), (Tokens{17, 0, 20, 0}));
  EXPECT_EQ(decode(*tokenizer, {17, 10, 11, 13, 14, 3, 20}), "ab ab's\u00e4\n");
  const auto unknown = tokenizer->encode("x");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("no token for 'x'"), std::string::npos);
}

TEST(Tokenizer, whole_words_are_preferred_where_the_file_says_so) {
  const TemporaryFolder folder;
  nlohmann::json file = byte_level(gpt2_words_of_huggingface);
  file["model"]["vocab"]["abb"] = 18;
  file["model"]["ignore_merges"] = true;
  const auto tokenizer = read_huggingface_tokenizer(folder.write("tokenizer.json", file.dump()), {});
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(encode(*tokenizer, "abb"), (Tokens{17, 18}));
}

TEST(Tokenizer, splits_by_the_expression_in_the_file) {
  const TemporaryFolder folder;
  const auto path =
      folder.write("tokenizer.json",
                   byte_level({{"type", "Sequence"},
                               {"pretokenizers",
                                {{{"type", "Split"}, {"pattern", {{"Regex", R"(\p{N}|a)"}}}, {"behavior", "Isolated"}},
                                 {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}})
                       .dump());
  const auto tokenizer = read_huggingface_tokenizer(path, {});
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(encode(*tokenizer, "abb12"), (Tokens{17, 0, 16, 4, 5}));
}

TEST(Tokenizer, sentencepiece_of_huggingface_old_and_new) {
  using nlohmann::json;
  const TemporaryFolder folder;
  json vocabulary;
  for (size_t i = 0; i < story.spellings.size(); ++i) vocabulary[story.spellings[i]] = i;
  json file;
  file["model"] = {{"type", "BPE"},
                   {"vocab", vocabulary},
                   {"unk_token", "<unk>"},
                   {"fuse_unk", true},
                   {"byte_fallback", true},
                   {"merges", json::array({json::array({"\u2581", "t"}), json::array({"e", "r"}), "i n", "\u2581 a",
                                           "h e", "\u2581t he", "\u2581 \u2581"})}};
  file["added_tokens"] = {{{"id", 1}, {"content", "<s>"}, {"special", true}},
                          {{"id", 2}, {"content", "</s>"}, {"special", true}}};
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
                            {"special_tokens", {{"<s>", {{"ids", {1}}}}}}};
  json older = file, newer = file;
  older["normalizer"] = {{"type", "Sequence"},
                         {"normalizers",
                          {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                           {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
  newer["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}, {"split", false}};

  const auto gguf = from_gguf(folder, story.gguf());
  const auto old_one = read_huggingface_tokenizer(folder.write("old.json", older.dump()), {2});
  const auto new_one = read_huggingface_tokenizer(folder.write("new.json", newer.dump()), {2});
  ASSERT_TRUE(gguf) << gguf.error();
  ASSERT_TRUE(old_one) << old_one.error();
  ASSERT_TRUE(new_one) << new_one.error();
  for (const char* text : {"the tin", "theater\nin  a tent", "x\u20ac\u00e4"}) {
    EXPECT_EQ(encode(*old_one, text), encode(*gguf, text)) << text;
    EXPECT_EQ(encode(*new_one, text), encode(*gguf, text)) << text;
    EXPECT_EQ(decode(*old_one, encode(*old_one, text)), text);
  }
  EXPECT_EQ(encode(*new_one, " the"), (Tokens{1, story["\u2581the"]}));
  EXPECT_EQ(encode(*new_one, "the</s>he"), (Tokens{1, story["\u2581the"], 2, story["he"]}));
}

TEST(Tokenizer, gguf_joins_by_merges_and_splits_as_its_name_says) {
  const TemporaryFolder folder;
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "llama-bpe");
  writer.texts("tokenizer.ggml.tokens",
               {"1", "2", "11", "112", "\u0120", "a", "\u0120a", "<|begin_of_text|>", "<|eot_id|>", "12", "1121"});
  writer.integers("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 1, 1, 3, 3, 1, 1});
  writer.texts("tokenizer.ggml.merges", {"1 1", "11 2", "\u0120 a", "1 2", "112 1"});
  writer.integer("tokenizer.ggml.bos_token_id", 7);
  const auto tokenizer = from_gguf(folder, writer);
  ASSERT_TRUE(tokenizer) << tokenizer.error();
  EXPECT_EQ(encode(*tokenizer, "1121 a<|eot_id|>"), (Tokens{7, 3, 0, 6, 8}));
  EXPECT_TRUE(tokenizer->is_end(8));
}

TEST(Tokenizer, wrong_tokenizers_of_gguf_are_errors) {
  const TemporaryFolder folder;
  const auto message = [&](const GgufWriter& writer) {
    const auto read = from_gguf(folder, writer);
    return read ? "opened" : read.error();
  };
  EXPECT_NE(message(GgufWriter()).find("it has no tokenizer"), std::string::npos);
  GgufWriter other;
  other.text("tokenizer.ggml.model", "t5");
  EXPECT_NE(message(other).find("tokenizer is 't5'"), std::string::npos);
  GgufWriter uneven;
  uneven.text("tokenizer.ggml.model", "llama");
  uneven.texts("tokenizer.ggml.tokens", {"a"});
  uneven.numbers("tokenizer.ggml.scores", {});
  EXPECT_NE(message(uneven).find("not as many scores"), std::string::npos);
  GgufWriter beyond = story.gguf();
  beyond.integer("tokenizer.ggml.bos_token_id", 100000);
  EXPECT_NE(message(beyond).find("beyond the"), std::string::npos);
  GgufWriter words;
  words.text("tokenizer.ggml.model", "gpt2");
  words.text("tokenizer.ggml.pre", "klingon");
  words.texts("tokenizer.ggml.tokens", {"a"});
  EXPECT_NE(message(words).find("as 'klingon' does"), std::string::npos);
}

TEST(Tokenizer, wrong_tokenizers_of_huggingface_are_errors_that_name_what_is_wrong) {
  using nlohmann::json;
  const TemporaryFolder folder;
  const auto message = [&](const json& file) {
    const auto read = read_huggingface_tokenizer(folder.write("tokenizer.json", file.dump()), {});
    return read ? "opened" : read.error();
  };
  const auto changed = [](const char* path, const json& value) {
    json file = byte_level(gpt2_words_of_huggingface);
    file[json::json_pointer(path)] = value;
    return file;
  };
  EXPECT_NE(message(json(3)).find("no tokenizer of Hugging Face"), std::string::npos);
  EXPECT_NE(message(changed("/model/type", "WordPiece")).find("'WordPiece'"), std::string::npos);
  EXPECT_NE(message(changed("/normalizer", {{"type", "NFC"}})).find("'NFC'"), std::string::npos);
  EXPECT_NE(message(changed("/model/vocab/x", 4000000000u)).find("token 'x' has the number 4000000000"),
            std::string::npos);
  EXPECT_NE(message(changed("/model/vocab/x", -1)).find("token 'x'"), std::string::npos);
  EXPECT_NE(message(changed("/model/merges/0", "x y")).find("'x' 'y'"), std::string::npos);
  EXPECT_NE(message(changed("/model/merges/0", "xy")).find("no pair"), std::string::npos);
  EXPECT_NE(
      message(changed("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}}))
          .find("regular expression '(a'"),
      std::string::npos);
  const auto empty = read_huggingface_tokenizer(folder.write("empty", ""), {});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().find("not JSON"), std::string::npos);
}

}  // namespace
}  // namespace metalloid::formats
