"""With a key the same person gets the same answer, and the key is kept apart from the model."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.key import PersonKey
from unit.learn._parity_cases import GROUP, X, fitted


def test_a_person_gets_the_same_answer_at_every_call_and_in_every_place():
    """An answer that changes on asking again can be asked for until it is yes."""
    model = fitted(key=PersonKey(b"k" * 32))
    people = [f"case {i}" for i in range(len(X))]
    first = model.predict(X, group=GROUP, person=people)
    turned = model.predict(X[::-1], group=GROUP[::-1], person=people[::-1])
    one = model.predict(X[7:8], group=GROUP[7:8], person=people[7:8])

    assert np.array_equal(first, turned[::-1])
    assert one[0] == first[7]
    assert (fitted(key=PersonKey(b"j" * 32)).predict(X, group=GROUP, person=people) != first).any()
    shares = [np.mean(first[group == GROUP] == 1) for group in np.unique(GROUP)]
    assert shares == pytest.approx(model.rates_.target, abs=0.2)


def test_a_stored_model_has_no_key_and_answers_nobody_without_one():
    """Drawing anew because the key is gone would break the promise in silence."""
    secret = b"a very secret key of 32 bytes ok"
    model = fitted(key=PersonKey(secret))
    stored = pickle.dumps(model)
    again = pickle.loads(stored)
    people = list(range(len(X)))

    assert secret not in stored
    assert secret.hex().encode() not in stored
    assert again.key is None
    for given in ({"person": people}, {}):
        with pytest.raises(InvalidParameterError, match="the key is never stored with it"):
            again.predict(X, group=GROUP, **given)
    again.set_params(key=PersonKey(secret))
    assert np.array_equal(
        again.predict(X, group=GROUP, person=people), model.predict(X, group=GROUP, person=people)
    )


def test_a_key_needs_people_and_people_a_key():
    with pytest.raises(InvalidParameterError, match="Got a key, and no identifiers"):
        fitted(key=PersonKey.generate()).predict(X, group=GROUP)
    with pytest.raises(InvalidParameterError, match="Got identifiers, and no key"):
        fitted().predict(X, group=GROUP, person=np.arange(len(X)))
    with pytest.raises(InvalidParameterError, match=r"'person' parameter of ParityPostProcessor\.predict"):
        fitted(key=PersonKey.generate()).predict(X, group=GROUP, person=["a"])


def test_the_key_is_not_shown():
    secret = b"0123456789abcdef" * 2

    assert "0123456789abcdef" not in repr(fitted(key=PersonKey(secret)))
    assert clone(fitted(key=PersonKey(secret))).key == PersonKey(secret)
