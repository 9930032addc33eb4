"""After a fit the parameters of an estimator change nothing that it draws, predicts or promises.

What is drawn and told comes from the fit, whatever the parameters are set to later.
"""

import pytest
from sklearn.linear_model import LogisticRegression

from contract._estimator_cases import (
    FRAME,
    GROUP,
    LABEL,
    NOT_FITTED,
    SCHEMA,
    fitted,
    is_same,
    parametrize,
    told_by,
)
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.errors import PrivacyWarning
from evenhand.learn import FairProjection, ParityPostProcessor

# --- parameters set after a fit -------------------------------------------------------------------


@parametrize
def test_every_parameter_is_among_those_that_are_changed(case):
    """A parameter that is left out here is one that nobody has looked at."""
    named = set(case.make().get_params(deep=False))

    assert named - NOT_FITTED.get(case.name, set()) == {name for name in case.others if "__" not in name}


@parametrize
@pytest.mark.parametrize("way", ["set_params", pytest.param("attribute", marks=pytest.mark.figures)])
def test_a_parameter_set_after_a_fit_changes_nothing_that_is_drawn_or_told(case, way):
    """A model that draws at epsilon 8 and claims 1/10 makes a false promise."""
    changes = [name for name in case.others if way == "set_params" or "__" not in name]
    kept = fitted(case)
    told, used, told_after = told_by(kept), case.use(kept), told_by(kept)
    for name in changes:
        changed = fitted(case)
        if way == "set_params":
            changed.set_params(**{name: case.others[name]})
        else:
            setattr(changed, name, case.others[name])

        assert told_by(changed) == told, name
        assert is_same(case.use(changed), used), name
        assert told_by(changed) == told_after, name


@parametrize
def test_all_parameters_changed_at_once_wait_for_the_next_fit(case):
    kept, changed = fitted(case), fitted(case)
    for name, value in case.others.items():
        if "__" not in name:
            setattr(changed, name, value)

    assert told_by(changed) == told_by(kept)
    assert is_same(case.use(changed), case.use(kept))
    assert told_by(changed) == told_by(kept)


def test_the_next_fit_takes_the_new_parameters():
    privatizer = LocalPrivatizer(epsilon="1/10", schema=SCHEMA, columns="a", rng=7).fit(FRAME)
    privatizer.transform(FRAME)
    privatizer.set_params(epsilon=8).fit(FRAME)
    with pytest.warns(PrivacyWarning, match="epsilon = 8.1"):
        privatizer.transform(FRAME)

    assert privatizer.guarantee_per_collection_.epsilon == 8
    assert str(privatizer.guarantee_.epsilon) == "81/10"


@pytest.mark.parametrize(
    "make",
    [
        lambda base: ParityPostProcessor(base, epsilon="1/10", held_out=True, groups=[0, 1], rng=7),
        lambda base: FairProjection(base, prefit=True, public_rows=True),
    ],
    ids=["ParityPostProcessor", "FairProjection"],
)
def test_a_classifier_that_is_fitted_again_elsewhere_changes_nothing(make):
    """What was counted and promised was counted for the classifier as it was."""
    base = LogisticRegression().fit(FRAME, LABEL)
    model = make(base).fit(FRAME[:100].copy(), LABEL[:100], group=GROUP[:100])
    before = model.predict_proba(FRAME, group=GROUP)
    base.fit(FRAME, 1 - LABEL)

    assert (model.predict_proba(FRAME, group=GROUP) == before).all()
