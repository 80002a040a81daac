// tokenizer.json of Hugging Face, for models of the kind BPE: both those made from SentencePiece (spaces marked, bytes
// for unknown characters) and byte-level ones. What a file asks for that is not here is an error that names it, since a
// text split otherwise than in training is worse than none.
#include <fmt/format.h>

#include "formats/byte_letters.hpp"
#include "formats/json.hpp"
#include "formats/marked_text.hpp"
#include "formats/tokenizer.hpp"
#include "library/file.hpp"

namespace metalloid::formats {
namespace {

constexpr size_t largest_gap = 1 << 16;  // of numbers that are no token's

class HuggingFaceReader {
 public:
  explicit HuggingFaceReader(const Json& file) : file_(file) {}

  Result<TokenizerRules> read(const std::vector<Token>& ends) {
    const Json& model = file_.at("model");
    if (const std::string type = model.value("type", "BPE"); type != "BPE")
      return Error{fmt::format("its model is of the type '{}', which is not supported; 'BPE' is", type)};
    for (const Status& step : {read_normalizer(part("normalizer")), read_pre_tokenizer(part("pre_tokenizer")),
                               read_vocabulary(model), read_merges(model), read_added_tokens()})
      if (!step) return Error{step.error()};
    read_post_processor(part("post_processor"));
    rules_.ends = ends;
    return std::move(rules_);
  }

 private:
  const Json& part(const char* name) const {
    static const Json none;
    return file_.contains(name) ? file_.at(name) : none;
  }

  static Error unsupported(const char* what, const Json& part) {
    return Error{
        fmt::format("its {} has the type '{}' or options that are not supported", what, part.value("type", ""))};
  }

  Status read_normalizer(const Json& part) {
    if (part.is_null()) return success();
    const std::string type = part.at("type");
    if (type == "Sequence") {
      for (const Json& step : part.at("normalizers"))
        if (const Status read = read_normalizer(step); !read) return read;
      return success();
    }
    const auto is_mark = [&](const char* key) { return part.at(key) == sentencepiece_space; };
    if (type == "Prepend" && is_mark("prepend")) {
      rules_.prefix = SpacePrefix::every;
      return success();
    }
    if (type == "Replace" && is_mark("content") && part.at("pattern") == Json{{"String", " "}}) {
      rules_.space_mark = sentencepiece_space;
      return success();
    }
    return unsupported("normalizer", part);
  }

  Status read_pre_tokenizer(const Json& part) {
    if (part.is_null()) return success();
    const std::string type = part.at("type");
    if (type == "Sequence") {
      for (const Json& step : part.at("pretokenizers"))
        if (const Status read = read_pre_tokenizer(step); !read) return read;
      return success();
    }
    if (type == "ByteLevel") return read_byte_level(part);
    if (type == "Metaspace") return read_metaspace(part);
    if (type == "Split") return read_split(part);
    if (type == "Digits")
      return rules_.splitter.add_expression(part.value("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)");
    return unsupported("pre_tokenizer", part);
  }

  Status read_byte_level(const Json& part) {
    rules_.is_byte_level = true;
    if (part.value("add_prefix_space", true)) {
      rules_.prefix = SpacePrefix::every;
      rules_.prefix_only_where_missing = true;
    }
    return part.value("use_regex", true) ? rules_.splitter.add_expression(gpt2_words) : success();
  }

  Status read_metaspace(const Json& part) {
    if (part.at("replacement") != sentencepiece_space) return unsupported("pre_tokenizer", part);
    rules_.space_mark = sentencepiece_space;
    const std::string scheme = part.value("prepend_scheme", part.value("add_prefix_space", true) ? "always" : "never");
    rules_.prefix = scheme == "always"  ? SpacePrefix::every
                    : scheme == "first" ? SpacePrefix::first
                                        : SpacePrefix::none;
    rules_.prefix_only_where_missing = true;
    return part.value("split", true) ? rules_.splitter.add_expression("\u2581[^\u2581]*") : success();
  }

  Status read_split(const Json& part) {
    using Matches = WordSplitter::Matches;
    using Rest = WordSplitter::Rest;
    const std::string behaviour = part.at("behavior");
    const bool removes = behaviour == "Removed", inverts = part.value("invert", false);
    if (!removes && behaviour != "Isolated") return unsupported("pre_tokenizer", part);
    const Json& pattern = part.at("pattern");
    const Matches matches = removes && !inverts ? Matches::removed : Matches::kept;
    if (pattern.contains("Regex"))
      return rules_.splitter.add_expression(pattern.at("Regex"), matches,
                                            removes && inverts ? Rest::removed : Rest::kept);
    if (inverts) return unsupported("pre_tokenizer", part);
    return rules_.splitter.add_literal(pattern.at("String"), matches);
  }

  Status read_vocabulary(const Json& model) {
    const Json& vocabulary = model.at("vocab");
    capacity_ = vocabulary.size() + part("added_tokens").size() + largest_gap;
    for (const auto& [spelling, number] : vocabulary.items()) {
      VocabularyEntry* entry = place(number);
      if (entry == nullptr) return Error{fmt::format("token '{}' has the number {}", spelling, number.dump())};
      entry->spelling = spelling;
      entry->text = rules_.is_byte_level ? bytes_of_letters(spelling) : text_of_marked(spelling);
    }
    if (const auto unknown = model.find("unk_token"); unknown != model.end() && unknown->is_string())
      if (const auto number = vocabulary.find(unknown->get<std::string>()); number != vocabulary.end())
        rules_.unknown = number->get<Token>();
    rules_.fuses_unknown = flag(model, "fuse_unk");
    rules_.prefers_whole_words = flag(model, "ignore_merges");
    return success();
  }

  // Null where the file says null as where it says nothing.
  static bool flag(const Json& model, const char* key) {
    const auto found = model.find(key);
    return found != model.end() && !found->is_null() && found->get<bool>();
  }

  VocabularyEntry* place(const Json& number) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() >= capacity_) return nullptr;
    const auto token = number.get<size_t>();
    if (token >= rules_.vocabulary.size()) rules_.vocabulary.resize(token + 1);
    return &rules_.vocabulary[token];
  }

  Status read_merges(const Json& model) {
    rules_.merges.emplace();
    for (const Json& merge : model.at("merges")) {
      if (merge.is_array() && merge.size() == 2) {
        rules_.merges->emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        continue;
      }
      const auto text = merge.get<std::string>();
      const size_t space = text.find(' ', 1);
      if (space == std::string::npos) return Error{fmt::format("its merge '{}' is no pair", text)};
      rules_.merges->emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    return success();
  }

  Status read_added_tokens() {
    for (const Json& added : part("added_tokens")) {
      VocabularyEntry* entry = place(added.at("id"));
      if (entry == nullptr) return Error{fmt::format("an added token has the number {}", added.at("id").dump())};
      entry->spelling = added.at("content");
      entry->text = flag(added, "special") ? "" : entry->spelling;
      entry->is_special = true;
      entry->takes_space_before = flag(added, "lstrip");
      entry->takes_space_after = flag(added, "rstrip");
      if (flag(added, "single_word"))
        return Error{
            fmt::format("its token '{}' is found between words only, which is not supported", entry->spelling)};
    }
    return success();
  }

  // The token before a text, if the template for single texts begins with one.
  void read_post_processor(const Json& part) {
    if (part.is_null()) return;
    if (part.value("type", "") == "Sequence")
      for (const Json& step : part.at("processors")) read_post_processor(step);
    if (part.value("type", "") != "TemplateProcessing" || part.at("single").empty()) return;
    const Json& first = part.at("single").at(0);
    if (!first.contains("SpecialToken")) return;
    const std::string name = first.at("SpecialToken").at("id");
    rules_.beginning = part.at("special_tokens").at(name).at("ids").at(0).get<Token>();
  }

  const Json& file_;
  TokenizerRules rules_;
  size_t capacity_ = 0;
};

}  // namespace

Result<Tokenizer> read_huggingface_tokenizer(const std::string& path, const std::vector<Token>& ends) {
  const auto error = [&](const std::string& what) { return Error{fmt::format("cannot read '{}': {}", path, what)}; };
  const Result<SharedBytes> mapped = map_file(path);
  if (!mapped) return Error{mapped.error()};
  const Result<Json> file = parse_json({reinterpret_cast<const char*>(mapped->bytes.data()), mapped->bytes.size()});
  if (!file) return error(file.error());
  try {
    Result<TokenizerRules> rules = HuggingFaceReader(*file).read(ends);
    if (!rules) return error(rules.error());
    Result<Tokenizer> made = Tokenizer::make(std::move(*rules));
    if (!made) return error(made.error());
    return made;
  } catch (const Json::exception& exception) {
    return error(fmt::format("it is no tokenizer of Hugging Face: {}", exception.what()));
  }
}

}  // namespace metalloid::formats
