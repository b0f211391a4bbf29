"""Known items: the heading of each rule, to the rule."""

from eval.queries.known_items.sets import KnownItems, heading_set


def sets() -> tuple[KnownItems, ...]:
    """One set; make it with ``tam queries make house-rule-heading --year 2024``."""
    return (
        heading_set(
            "house-rule-heading",
            "Heading of a house rule to the rule.",
            "house",
            "house_rule_heading",
            lambda section: section.kind == "rule",
        ),
    )
