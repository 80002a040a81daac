// `c ? a[i] : value` where the operands are objects of one class in different address spaces: Metal copies them out,
// Clang finds no common type. An operand that reads memory is wrapped in __metal_load, which copies an object out of
// its address space and hands everything else through.
#include "msl/rewrite/rules.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

namespace {

// A name, possibly dereferenced, subscripted or with members selected, and nothing else.
bool reads_memory(const TokenStream& tokens, size_t begin, size_t end) {
  while (begin < end && tokens.is(begin, tok::l_paren) && tokens.match(begin) == end - 1) ++begin, --end;
  if (begin >= end) return false;
  bool dereferenced = tokens.is(begin, tok::star);
  bool memory = dereferenced;
  for (size_t k = dereferenced ? begin + 1 : begin; k < end;) {
    if (tokens.is(k, tok::identifier, tok::coloncolon, tok::kw_this)) {
      ++k;
    } else if (tokens.is(k, tok::period, tok::arrow)) {
      memory = true;
      ++k;
    } else if (tokens.is(k, tok::l_paren, tok::l_square) && tokens.opens(k)) {
      memory |= tokens.is(k, tok::l_square);
      k = tokens.next(k);
    } else {
      return false;
    }
  }
  bool call = tokens.is(end - 1, tok::r_paren);
  return memory && (dereferenced || !call);
}

// A word, perhaps behind those of namespaces and classes: a reference into another address space, or a constant, for all
// that tokens tell. Beside a literal it is a scalar, and those Clang can join.
bool is_name(const TokenStream& tokens, size_t begin, size_t end) {
  while (begin + 2 < end && tokens.is(begin, tok::identifier) && tokens.is(begin + 1, tok::coloncolon)) begin += 2;
  return begin + 1 == end && tokens.is(begin, tok::identifier);
}

// From `?` to the `:` that belongs to it.
size_t find_colon(const TokenStream& tokens, size_t question) {
  size_t nested = 0;
  for (size_t k = question + 1; k < tokens.size(); k = tokens.next(k)) {
    if (tokens.is(k, tok::question))
      ++nested;
    else if (tokens.is(k, tok::colon) && nested-- == 0)
      return k;
    else if (tokens.is(k, tok::semi, tok::r_paren, tok::r_square, tok::r_brace, tok::eof))
      break;
  }
  return no_token;
}

size_t find_end(const TokenStream& tokens, size_t colon) {
  size_t k = colon + 1;
  while (k < tokens.size() && !tokens.is(k, tok::comma, tok::semi, tok::r_paren, tok::r_square, tok::r_brace,
                                         tok::colon, tok::question, tok::eof))
    k = tokens.next(k);
  return k;
}

// Whether the conditional's own address is wanted: it is assigned to, or a reference is bound to it.
bool is_used_as_lvalue(const TokenStream& tokens, size_t question, size_t end) {
  size_t k = question;
  while (k > 0 && !tokens.is(k - 1, tok::semi, tok::l_brace, tok::r_brace, tok::l_paren, tok::comma, tok::equal) &&
         !tokens.is(k - 1, tok::l_square, tok::kw_return)) {
    --k;
    if (!tokens.opens(k) && tokens.match(k) != no_token) k = tokens.match(k);
  }
  if (k == 0) return false;
  if (tokens.is(k - 1, tok::l_paren) && tokens.is(end, tok::r_paren)) {
    if (k > 1 && tokens.is(k - 2, tok::amp)) return true;
    size_t after = end + 1;
    while (tokens.is(after, tok::period, tok::l_square))
      after = tokens.is(after, tok::period) ? after + 2 : tokens.next(after);
    return tokens.is(after, tok::equal, tok::plusequal, tok::minusequal, tok::starequal, tok::slashequal, tok::plusplus,
                     tok::minusminus);
  }
  return tokens.is(k - 1, tok::equal) && k > 3 && tokens.is(k - 2, tok::identifier) &&
         tokens.is(k - 3, tok::amp, tok::ampamp);
}

}  // namespace

void load_conditional_operands(Rewriting& r) {
  const TokenStream& tokens = r.tokens;
  for (size_t question = 0; question < tokens.size(); ++question) {
    if (!tokens.is(question, tok::question) || tokens.verbatim(question)) continue;
    size_t colon = find_colon(tokens, question);
    if (colon == no_token) continue;
    size_t end = find_end(tokens, colon);
    if (is_used_as_lvalue(tokens, question, end)) continue;
    bool chained = tokens.is(end, tok::question);
    auto load = [&](size_t from, size_t to) {
      r.edits.insert_before(from, "__metal_load(");
      r.edits.insert_after(to - 1, ")");
    };
    bool literal = (colon == question + 2 && tokens[question + 1].isLiteral()) ||
                   (end == colon + 2 && tokens[colon + 1].isLiteral());
    auto worth_loading = [&](size_t from, size_t to) {
      return from < to && (reads_memory(tokens, from, to) || (!literal && is_name(tokens, from, to)));
    };
    if (worth_loading(question + 1, colon)) load(question + 1, colon);
    if (!chained && worth_loading(colon + 1, end)) load(colon + 1, end);
  }
}

}  // namespace metalloid::msl
