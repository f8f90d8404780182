"""Terms and Python values of every kind, for Hypothesis."""

from datetime import timedelta, timezone

from hypothesis import strategies as st

from tidings.client.terms import IRI, BNode, Literal
from tidings.client.values import Native

characters = st.characters(exclude_categories=["Cs"])
texts = st.text(characters)
iris = st.builds("http://example.org/{}".format, st.text("abcé/#?=-._~%20", max_size=12)).map(IRI)
labels = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?", fullmatch=True)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
literals = st.one_of(
    st.builds(Literal, texts),
    st.builds(Literal, texts, datatype=iris),
    st.builds(Literal, texts, language=st.sampled_from(["en", "pt-BR", "de-1996"])),
)
any_term = st.one_of(iris, st.builds(BNode, labels), literals)
natives: st.SearchStrategy[Native] = st.one_of(
    texts,
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.datetimes(timezones=st.none() | zones),
    st.dates(),
    st.times(timezones=st.none() | zones),
    st.timedeltas(),
    st.binary(),
)
