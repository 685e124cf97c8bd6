#pragma once

#include <stdexcept>
#include <string>

namespace tc::proof {

/// What the checker says of evidence.
enum class Outcome { Proved, Refused, NotDecided };

/// "proved", "refused", "not decided".
std::string to_string(Outcome outcome);

/// An outcome with its reason; of a proof, what was proved.
struct Verdict {
  Outcome outcome = Outcome::NotDecided;
  std::string law;        ///< that is broken, or not decided: "order", ...
  std::string statement;  ///< of the evidence, that breaks it; "" where none does alone
  std::string reason;     ///< one sentence
  double milliseconds = 0;
};

/// One line for people: "refused: law 'order', statement S1: ...".
std::string to_string(const Verdict& verdict);

/// Thrown inside of the checker: evidence that breaks a law.
struct Refusal : std::runtime_error {
  Refusal(std::string broken, std::string which, const std::string& why)
      : std::runtime_error(why), law(std::move(broken)), statement(std::move(which)) {}
  std::string law, statement;
};

/// Thrown inside of the checker: evidence of programs that it does not understand.
struct Undecided : std::runtime_error {
  Undecided(std::string open, const std::string& why) : std::runtime_error(why), law(std::move(open)) {}
  std::string law;
};

}  // namespace tc::proof
