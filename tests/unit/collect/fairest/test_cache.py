"""The last few answers are kept, and no more."""

from evenhand.collect.fairest.optimum import Recent


def test_the_oldest_answer_is_forgotten_first():
    """Memory must not grow with the number of questions."""
    kept, made = Recent(2), []

    def ask(key):
        return kept.get(key, lambda: made.append(key) or key)

    for key in "abacab":
        ask(key)

    assert made == ["a", "b", "c", "b"]
    kept.clear()
    ask("a")
    assert made[-1] == "a"
