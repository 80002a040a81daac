#include "msl/rewrite/outline.hpp"

namespace metalloid::msl {

namespace tok = clang::tok;

Outline::Outline(const TokenStream& tokens) : tokens_(tokens), kinds_(tokens.size(), ScopeKind::initializer) {
  build();
}

// One walk over all tokens. A frame stands for an open brace; `current` is the statement that is being read in it.
void Outline::build() {
  struct Frame {
    ScopeKind kind;
    size_t brace;
    size_t current;  // index into statements_, or no_token between statements
    bool ends_statement;
  };
  std::vector<Frame> frames{{ScopeKind::namespace_, no_token, no_token, false}};

  auto close_statement = [&](Frame& frame, size_t end) {
    if (frame.current == no_token) return;
    Statement& statement = statements_[frame.current];
    statement.end = end;
    if (statement.stop == no_token) statement.stop = end == statement.begin ? end : end - 1;
    frame.current = no_token;
  };

  for (size_t i = 0; i < tokens_.size() && !tokens_.is(i, tok::eof); ++i) {
    Frame& frame = frames.back();
    if (tokens_.is(i, tok::r_brace)) {
      if (tokens_.match(i) == no_token) continue;
      while (frames.size() > 1 && frames.back().brace != tokens_.match(i)) {
        close_statement(frames.back(), i);
        frames.pop_back();
      }
      if (frames.size() == 1) continue;
      close_statement(frames.back(), i);
      bool ends_statement = frames.back().ends_statement;
      frames.pop_back();
      if (ends_statement) close_statement(frames.back(), i + 1);
      continue;
    }

    bool fresh = frame.current == no_token;
    if (fresh && frame.kind != ScopeKind::initializer && !tokens_.is(i, tok::semi)) {
      frame.current = statements_.size();
      statements_.push_back({i, no_token, tokens_.size() - 1, frame.kind, frame.brace});
    }

    bool top = tokens_.enclosing(i) == frame.brace;
    if (tokens_.is(i, tok::l_brace) && tokens_.opens(i)) {
      Statement none;
      Statement& head = frame.current == no_token ? none : statements_[frame.current];
      ScopeKind kind = classify(i, head, fresh);
      kinds_[i] = kind;
      bool lambda = kind == ScopeKind::function && (!top || ends_lambda_head(i));
      bool body = top && kind != ScopeKind::initializer && !lambda && frame.current != no_token;
      if (body && head.stop == no_token) head.stop = i;
      bool ends = body && kind != ScopeKind::class_;
      frames.push_back({kind, i, no_token, ends});
    } else if (top && frame.current != no_token) {
      if (tokens_.is(i, tok::semi)) {
        Statement& statement = statements_[frame.current];
        if (statement.stop == no_token) statement.stop = i;
        close_statement(frame, i + 1);
      } else if (tokens_.is(i, tok::colon)) {
        size_t begin = statements_[frame.current].begin;
        bool label = frame.kind == ScopeKind::class_
                         ? tokens_.is(i - 1, tok::kw_public, tok::kw_private, tok::kw_protected)
                         : frame.kind == ScopeKind::function &&
                               (tokens_.is(begin, tok::kw_case, tok::kw_default) || begin + 1 == i);
        if (label) close_statement(frame, i + 1);
      }
    }
  }
  while (!frames.empty()) {
    close_statement(frames.back(), tokens_.size() - 1);
    frames.pop_back();
  }
}

// A pair of braces is recognised by the token in front of it and by the words at the start of its statement.
ScopeKind Outline::classify(size_t brace, const Statement& head, bool fresh) const {
  size_t around = tokens_.enclosing(brace);
  if (around != head.scope_brace && around != no_token) {
    // Inside parentheses or square brackets: a lambda's body, a GNU statement expression, or an initialiser.
    bool statement_expression = tokens_.is(around, tok::l_paren) && around + 1 == brace;
    return statement_expression || ends_lambda_head(brace) ? ScopeKind::function : ScopeKind::initializer;
  }
  if (head.scope == ScopeKind::initializer) return ends_lambda_head(brace) ? ScopeKind::function : head.scope;
  if (fresh) return head.scope == ScopeKind::function ? ScopeKind::function : head.scope;
  if (ends_lambda_head(brace)) return ScopeKind::function;

  bool class_key = false, enumeration = false, assigned = false, parameters = false, constructor = false;
  size_t begin = tokens_.skip_template_headers(head.begin, brace);
  for (size_t k = begin; k < brace;) {
    size_t past_attributes = tokens_.skip_attributes(k);
    if (past_attributes != k) {
      k = past_attributes;
      continue;
    }
    if (tokens_.is(k, tok::kw_namespace)) return ScopeKind::namespace_;
    if (tokens_.is(k, tok::kw_extern) && tokens_.is(k + 1, tok::string_literal) && k + 2 == brace)
      return ScopeKind::namespace_;
    if (tokens_.is(k, tok::kw_operator)) {
      parameters = true;
      while (k < brace && !tokens_.is(k, tok::l_paren)) ++k;
      continue;
    }
    if (tokens_.is(k, tok::kw_decltype) && tokens_.opens(k + 1)) {
      k = tokens_.next(k + 1);
      continue;
    }
    if (tokens_.is(k, tok::less)) {
      size_t past = tokens_.skip_angles(k, brace);
      if (past != no_token && past > k) {
        k = past;
        continue;
      }
    }
    if (tokens_.is(k, tok::kw_struct, tok::kw_class, tok::kw_union)) class_key = true;
    if (tokens_.is(k, tok::kw_enum)) enumeration = true;
    if (tokens_.is(k, tok::equal)) assigned = true;
    if (tokens_.is(k, tok::l_paren) && !assigned) parameters = true;
    if (tokens_.is(k, tok::colon) && parameters) constructor = true;
    k = tokens_.next(k);
  }

  size_t before = brace - 1;
  if (assigned) return ScopeKind::initializer;
  if (enumeration && !parameters) return ScopeKind::initializer;
  if (class_key && !parameters) return ScopeKind::class_;
  if (head.scope != ScopeKind::function) {
    if (!parameters) return ScopeKind::initializer;
    // `S() : a{1} {}`: the first pair initialises a member.
    bool member = constructor && (tokens_.is(before, tok::identifier, tok::greater));
    return member ? ScopeKind::initializer : ScopeKind::function;
  }
  bool block = tokens_.is(before, tok::r_paren, tok::kw_else, tok::kw_do, tok::kw_try, tok::colon) ||
               tokens_[before].isAnnotation() || tokens_.is(before, tok::r_square);
  return block ? ScopeKind::function : ScopeKind::initializer;
}

// Whether the brace at `i` follows `[...]`, `[...](...)` and what may stand between that and a lambda's body.
bool Outline::ends_lambda_head(size_t i) const {
  size_t k = i;
  for (size_t steps = 0; k > 0 && steps < 64; ++steps) {
    size_t before = k - 1;
    if (tokens_.is(before, tok::r_square)) {
      size_t open = tokens_.match(before);
      if (open == no_token) return false;
      if (open > 0 && tokens_.match(open - 1) == before + 1) return false;
      if (tokens_.enclosing(open) != no_token && tokens_.is_attribute(open - 1)) return false;
      bool subscript = open > 0 && (tokens_.is(open - 1, tok::identifier, tok::r_paren, tok::r_square, tok::r_brace) ||
                                    tokens_.is(open - 1, tok::string_literal, tok::kw_this, tok::kw_operator));
      return !subscript && !tokens_.is_attribute(open);
    }
    if (tokens_.is(before, tok::r_paren)) {
      size_t open = tokens_.match(before);
      if (open == no_token || open == 0) return false;
      if (tokens_.is(open - 1, tok::r_square)) {
        k = open;
        continue;
      }
      if (tokens_.is(open - 1, tok::kw_noexcept, tok::kw_decltype)) {
        k = open - 1;
        continue;
      }
      return false;
    }
    bool trailing = tokens_.is(before, tok::kw_mutable, tok::kw_noexcept, tok::kw_constexpr, tok::arrow, tok::star,
                               tok::amp, tok::coloncolon, tok::greater, tok::less, tok::comma) ||
                    tokens_.is(before, tok::numeric_constant, tok::greatergreater) || !tokens_.word(before).empty();
    bool statement = tokens_.is(before, tok::kw_else, tok::kw_do, tok::kw_return, tok::kw_try);
    if (!trailing || statement) return false;
    // A trailing return type needs its arrow; anything else is a brace after an ordinary name.
    if (tokens_.is(before, tok::kw_mutable, tok::kw_noexcept, tok::kw_constexpr, tok::arrow) ||
        tokens_.is_word(before, "thread")) {
      k = before;
      continue;
    }
    size_t arrow = before;
    while (arrow > 0 && before - arrow < 48 && !tokens_.is(arrow, tok::arrow, tok::semi, tok::l_brace, tok::equal))
      --arrow;
    if (!tokens_.is(arrow, tok::arrow)) return false;
    k = arrow;
  }
  return false;
}

size_t Outline::enclosing_brace(size_t i) const {
  size_t around = tokens_.enclosing(i);
  while (around != no_token && !tokens_.is(around, tok::l_brace)) around = tokens_.enclosing(around);
  return around;
}

ScopeKind Outline::scope(size_t i) const {
  size_t brace = enclosing_brace(i);
  return brace == no_token ? ScopeKind::namespace_ : kinds_[brace];
}

bool Outline::in_function(size_t i) const {
  for (size_t brace = enclosing_brace(i); brace != no_token; brace = enclosing_brace(brace))
    if (kinds_[brace] != ScopeKind::initializer) return kinds_[brace] == ScopeKind::function;
  return false;
}

std::optional<FunctionHead> Outline::function_head(const Statement& statement) const {
  size_t stop = statement.stop;
  for (size_t k = tokens_.skip_template_headers(statement.begin, stop); k < stop;) {
    size_t past_attributes = tokens_.skip_attributes(k);
    if (past_attributes != k) {
      k = past_attributes;
      continue;
    }
    if (tokens_.is(k, tok::equal, tok::colon) || tokens_.is(k, tok::kw_using, tok::kw_typedef)) return std::nullopt;
    if (tokens_.is(k, tok::kw_decltype, tok::kw_explicit, tok::kw_noexcept) && tokens_.opens(k + 1)) {
      k = tokens_.next(k + 1);
      continue;
    }
    if (tokens_.is(k, tok::kw_operator)) {
      size_t open = k + 1;
      if (tokens_.is(open, tok::l_paren)) open = tokens_.next(open);  // operator()
      while (open < stop && !tokens_.is(open, tok::l_paren)) ++open;
      if (open >= stop || !tokens_.opens(open)) return std::nullopt;
      return FunctionHead{k, open, tokens_.match(open)};
    }
    if (tokens_.is(k, tok::less)) {
      size_t past = tokens_.skip_angles(k, stop);
      if (past != no_token && past > k) {
        k = past;
        continue;
      }
    }
    if (tokens_.is(k, tok::l_paren) && tokens_.opens(k)) {
      if (k == statement.begin || tokens_.is(k + 1, tok::star, tok::amp)) return std::nullopt;
      size_t name = k - 1;
      if (tokens_.is(name, tok::greater)) {
        while (name > statement.begin && !tokens_.is(name, tok::less)) --name;
        --name;
      }
      if (!tokens_.is(name, tok::identifier)) return std::nullopt;
      while (name >= statement.begin + 2 && tokens_.is(name - 1, tok::coloncolon) &&
             tokens_.is(name - 2, tok::identifier))
        name -= 2;
      if (name > statement.begin && tokens_.is(name - 1, tok::tilde)) --name;
      return FunctionHead{name, k, tokens_.match(k)};
    }
    k = tokens_.next(k);
  }
  return std::nullopt;
}

bool Outline::is_explicit_instantiation(const Statement& statement) const {
  return tokens_.is(statement.begin, tok::kw_template) && !tokens_.is(statement.begin + 1, tok::less);
}

}  // namespace metalloid::msl
