// docs/builtins.md is what devices implement. It and the standard headers must name the same builtins: the test reads
// the symbols that the headers declare, and the patterns of symbols in the document's tables, and compares them.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "compile_source.hpp"

namespace metalloid {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(METALLOID_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.push_back((*it)[1].str());
  return found;
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += by.size()) text.replace(at, part.size(), by);
  return text;
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "(?:" : "|") + word;
  return text + ")";
}

// The labels of the headers' declarations: __asm__("metal." "simd" "_" "sum" "." "f32").
std::set<std::string> declared_symbols() {
  const PreprocessResult headers = preprocess("#include <metal_stdlib>\n", without_cache());
  EXPECT_TRUE(headers.diagnostics.empty()) << format(headers.diagnostics);
  std::set<std::string> symbols;
  for (const std::string& label : matches(headers.text, R"(__asm__\(((?:\s*"[^"]*")+)\s*\))")) {
    std::string symbol;
    for (const std::string& piece : matches(label, "\"([^\"]*)\"")) symbol += piece;
    symbols.insert(symbol);
  }
  return symbols;
}

// A row of a table, with the words in backticks of its first cell and of the others.
struct Row {
  std::vector<std::string> first, rest;
};

std::vector<Row> rows_of(const std::string& section) {
  std::vector<Row> rows;
  std::istringstream lines(section);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t cell_end = line.find(" | ", 2);
    rows.push_back({matches(line.substr(0, cell_end), "`([^`]+)`"), matches(line.substr(cell_end), "`([^`]+)`")});
  }
  return rows;
}

// Those that are a name, and no symbol, signature or expression.
std::vector<std::string> plain_words(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) { return !std::regex_match(word, std::regex("[a-z0-9_]+")); });
  return words;
}

std::map<std::string, std::string> sections_of(const std::string& document) {
  std::map<std::string, std::string> sections;
  for (size_t at = document.find("\n## "); at != document.npos;) {
    const size_t next = document.find("\n## ", at + 1);
    const size_t line_end = document.find('\n', at + 1);
    sections[document.substr(at + 4, line_end - at - 4)] = document.substr(line_end, next - line_end);
    at = next;
  }
  return sections;
}

// The patterns of all symbols that the document lists.
std::vector<std::string> documented_patterns() {
  std::vector<std::string> patterns;
  const auto add = [&](std::string symbol, const std::map<std::string, std::string>& words) {
    symbol = replaced(symbol, ".", "\\.");
    for (const auto& [word, meaning] : words) symbol = replaced(symbol, word, meaning);
    symbol = replaced(symbol, "*", ".*");
    EXPECT_EQ(symbol.find('<'), symbol.npos) << symbol;
    patterns.push_back(symbol);
  };
  const std::string number = "(?:[iu](?:8|16|32|64)|f16|f32)", matrix = "(?:f16|bf16|f32)";
  for (const auto& [title, section] : sections_of(read("docs/builtins.md"))) {
    std::vector<std::string> names, operations;
    for (const Row& row : rows_of(section))
      for (const std::string& word : plain_words(row.first)) {
        if (title == "Math") names.push_back(word);
        if (title == "Textures") operations.push_back(word[0] == '_' ? "atomic_fetch" + word : word);
      }
    for (const Row& row : rows_of(section)) {
      for (const std::string& symbol : row.first) {
        if (!symbol.starts_with("metal.")) continue;
        std::map<std::string, std::string> words = {{"<space>", "(?:device|threadgroup|constant)"}};
        for (const char* operand : {"<a>", "<b>", "<c>"}) words[operand] = matrix;
        words["<type>"] = title == "Simdgroup matrices" ? matrix : number;
        words["<integer type>"] = "[iu](?:8|16|32|64)";
        if (symbol.find("<op>") != symbol.npos) words["<op>"] = alternatives(plain_words(row.rest));
        if (symbol.find("<name>") != symbol.npos) words["<name>"] = alternatives(names);
        add(symbol, words);
        if (title == "SIMD-groups" && symbol.starts_with("metal.simd_")) add(replaced(symbol, "simd_", "quad_"), words);
      }
    }
    if (title == "Textures") {
      const size_t begin = section.find("`<kind>` is");
      const std::string kinds = section.substr(begin, section.find('.', begin) - begin);
      add("metal.<kind>_<operation>.<element>", {{"<kind>", alternatives(matches(kinds, "`(texture_[a-z0-9_]+)`"))},
                                                 {"<operation>", alternatives(operations)},
                                                 {"<element>", "(?:f32|i32|u32|u64)"}});
    }
    if (title == "Not for kernels")
      for (const std::string& symbol : matches(section, "`(metal\\.[a-z.*]+)`")) add(symbol, {});
  }
  return patterns;
}

TEST(StdlibBuiltins, EveryBuiltinThatTheHeadersDeclareIsDocumented) {
  const std::set<std::string> symbols = declared_symbols();
  ASSERT_GT(symbols.size(), 900u);
  const std::vector<std::string> patterns = documented_patterns();
  ASSERT_GT(patterns.size(), 50u);
  const std::regex documented(alternatives(patterns));
  for (const std::string& symbol : symbols) EXPECT_TRUE(std::regex_match(symbol, documented)) << symbol;
}

TEST(StdlibBuiltins, EveryDocumentedBuiltinIsDeclared) {
  const std::set<std::string> symbols = declared_symbols();
  for (const std::string& pattern : documented_patterns()) {
    const std::regex regex(pattern);
    const auto is_meant = [&](const std::string& symbol) { return std::regex_match(symbol, regex); };
    EXPECT_TRUE(std::any_of(symbols.begin(), symbols.end(), is_meant)) << pattern;
  }
  const std::string math = sections_of(read("docs/builtins.md"))["Math"];
  for (const Row& row : rows_of(math))
    for (const std::string& name : plain_words(row.first))
      for (const std::string& symbol :
           {"metal." + name + ".f32", "metal.fast_" + name + ".f32", "metal." + name + ".f16"})
        EXPECT_TRUE(symbols.contains(symbol)) << symbol;
}

}  // namespace
}  // namespace metalloid
