"""What runs say of a claim: rules, statements, verdicts. docs/verdicts.md explains the grammar.

A claim is a list of statements; a statement is a quantity and a rule, which names the values that
make it true. The interval of what was measured decides: it lies within the rule's values, beside
them, or neither, and then more replications are needed.
"""

from anabranch.verdicts.claim import Claim, claim_from
from anabranch.verdicts.rule import Rule, at_least, at_most, less, more, near
from anabranch.verdicts.statement import Statement
from anabranch.verdicts.verdict import Verdict

__all__ = [
    "Claim",
    "Rule",
    "Statement",
    "Verdict",
    "at_least",
    "at_most",
    "claim_from",
    "less",
    "more",
    "near",
]
