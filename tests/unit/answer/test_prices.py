"""What a remedy costs is said by the limit that it breaks."""

from evenhand.answer.compose import compose
from unit.answer._tables import exact, in_all, remedy, right


def test_a_right_for_nearly_everybody_is_not_told_as_two_percent_more():
    """If not, nobody sees why a remedy that adds so little fails a limit on what is granted."""
    lost = exact("refused", small=(127, 0, 1_200), large=(40, 0, 90_000))
    kept = exact("refused", option="cure", small=(1, 0, 1_200), large=(1, 0, 90_000))
    near, wide = (
        compose(right(lost, kept, in_all("in_all", 1_950, noise=1_900, cure=given), options=(remedy(),)))
        for given in (1_998, 1_955)
    )

    assert [each.tag for each in (near.remedies[1], wide.remedies[1])] == ["trade-off", "recommended"]
    assert near.remedies[1].price == "999 of 1,000 people get the same answer"
    assert wide.remedies[1].price == "no new harm"
