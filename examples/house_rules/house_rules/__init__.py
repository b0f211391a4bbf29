"""House rules: a source of one's own. A rule book in Markdown, an edition by year.

# House Rules, 2024
In force from 1 February 2024.
## Part A. Mornings
### Rule A.1. The kettle
Fill the kettle ... (see Rule B.3).
"""

from manuals.model.source import Source
from tam.plugins import Hook

SOURCE = Source(
    name="house",
    title="House Rules",
    corpus="house",
    files="house rules in Markdown",
    recognise=Hook("house_rules.manual:recognise"),
    parse=Hook("house_rules.manual:parse"),
    dates=Hook("house_rules.manual:dates"),
    parse_reference=Hook("house_rules.citations:parse_reference"),
    find_references=Hook("house_rules.citations:find_references"),
    known_items=Hook("house_rules.queries:sets"),
)
