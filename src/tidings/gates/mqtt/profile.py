"""The part of an application profile that is about MQTT, read. What is wrong with it is said by its path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import regex  # type: ignore[import-untyped]

from tidings.client.jsap.mistakes import BadProfile, Mistake
from tidings.client.jsap.primitives import Primitive
from tidings.client.jsap.profile import Jsap, load
from tidings.engine.updates.operations import PreparedUpdate
from tidings.gates.mqtt.mapping import Mapped, MappedAnswer, MappedTopic
from tidings.gates.mqtt.templates import Name, Template, read_template
from tidings.gates.mqtt.topics import check_filter, overlap
from tidings.model.errors import BadRequest
from tidings.protocol.messages import Graphs
from tidings.sparql.algebra import Dataset
from tidings.sparql.binding import Bindable

PATH = "$.extended.mqtt"

Prepare: TypeAlias = Callable[[str, Dataset | None], Bindable[PreparedUpdate]]


class _Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    topic: str
    update: str
    bindings: dict[str, str] = {}
    pattern: str | None = None


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    query: str
    topic: str
    payload: str | None = None
    bindings: dict[str, str] = {}
    values: dict[str, str | int | float | bool] = {}
    retain: bool = True
    qos: int = 1


class _Mqtt(msgspec.Struct, frozen=True):
    """Other members are other applications'."""

    updates: list[_Topic] = []
    answers: list[_Answer] = []


def read_mapping(source: Path, prepare: Prepare, base: str, prefix: str) -> Mapped:
    """What a profile maps; nothing below the prefix, which is the gate's own. Raises BadProfile."""
    profile = load(source)
    extended: Any = profile.extended or {}
    try:
        content = msgspec.convert(extended.get("mqtt") or {} if isinstance(extended, dict) else {}, _Mqtt)
    except msgspec.ValidationError as error:
        raise BadProfile([Mistake(PATH, str(error))]) from error
    topics = []
    for number, each in enumerate(content.updates):
        with_path = f"{PATH}.updates[{number}]"
        topics.append(_checked(with_path, lambda each=each: _topic(profile, each, prepare, base)))  # type: ignore[misc]
    answers = []
    for number, one in enumerate(content.answers):
        with_path = f"{PATH}.answers[{number}]"
        answers.append(_checked(with_path, lambda one=one: _answer(profile, one, base)))  # type: ignore[misc]
    mapped = Mapped(tuple(topics), tuple(answers))
    _check_apart(mapped, f"{prefix}/#")
    return mapped


def _check_apart(mapped: Mapped, own: str) -> None:
    """What the gate says must not come back to it as something to be done."""
    for filter_ in (*(each.filter for each in mapped.updates), *(each.filter for each in mapped.answers)):
        if overlap(filter_, own):
            raise BadProfile([Mistake(PATH, f"{filter_} covers topics of {own}, which are those of the gate")])
    for answer in mapped.answers:
        for topic in mapped.updates:
            if overlap(answer.filter, topic.filter):
                said = f"the rows of {answer.query} would come back as updates of {topic.primitive.name}"
                raise BadProfile([Mistake(f"{PATH}.answers", said)])


def _checked(path: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except BadProfile:
        raise
    except BadRequest as error:
        raise BadProfile([Mistake(path, str(error))]) from error


def _topic(profile: Jsap, given: _Topic, prepare: Prepare, base: str) -> MappedTopic:
    primitive = profile.update(given.update)
    filter_, levels = _levels(given.topic)
    pattern = None if given.pattern is None else _pattern(given.pattern)
    bindings = {name: read_template(text) for name, text in given.bindings.items()}
    for name in primitive.bindings:  # what is not said is what goes by the same name
        bindings.setdefault(name, Template((Name(name),)))
    if unknown := bindings.keys() - set(primitive.variables):
        raise BadRequest(f"the update {given.update} has no variable ?{min(unknown)}")
    known = {name for name in levels if name is not None} | set(() if pattern is None else pattern.groupindex)
    prepared = prepare(primitive.text, _dataset(primitive, base))
    _check_names(given, bindings, known)
    return MappedTopic(filter_, levels, primitive, prepared, bindings, pattern)


def _levels(topic: str) -> tuple[str, tuple[str | None, ...]]:
    """The filter of a topic whose levels may have names, and these; `{+1}` is what the first `+` is called."""
    levels: list[str] = []
    names: list[str | None] = []
    wild = 0
    for level in topic.split("/"):
        template = read_template(level) if "{" in level or "}" in level else Template((level,))
        if template.alone is not None:
            levels.append("+")
            names.append(template.alone)
        elif template.names:
            raise BadRequest(f"a level of a topic has a name or a text, not both: {level!r}")
        else:
            wild += level == "+"
            levels.append(level)
            names.append(f"+{wild}" if level == "+" else "#" if level == "#" else None)
    if len(given := [name for name in names if name is not None]) > len(set(given)):
        raise BadRequest(f"two levels of {topic!r} have the same name")
    return check_filter("/".join(levels)), tuple(names)


def _check_names(given: _Topic, bindings: dict[str, Template], known: set[str]) -> None:
    """A name of wildcards has to be one; all others may be members of the payload."""
    for variable, template in bindings.items():
        for name in template.names:
            if name not in known and name[:1] in {"+", "#"}:
                raise BadRequest(f"?{variable}: the topic {given.topic} has no {name}")


def _pattern(text: str) -> Any:
    try:
        return regex.compile(text, regex.MULTILINE)
    except regex.error as error:
        raise BadRequest(f"{text!r} is no pattern: {error}") from error


def _answer(profile: Jsap, given: _Answer, base: str) -> MappedAnswer:
    primitive = profile.query(given.query)
    topic = read_template(given.topic)
    check_filter(topic.fill(lambda _: "x"))
    if any(sign in given.topic for sign in "+#"):
        raise BadRequest("a topic that is published to has no wildcards; {name} stands for a value of the row")
    if given.qos not in {0, 1, 2}:
        raise BadRequest(f"qos is 0, 1 or 2, not {given.qos}")
    payload = None if given.payload is None else read_template(given.payload)
    bindings = {name: read_template(text) for name, text in given.bindings.items()}
    for name, template in bindings.items():
        if template.names != (name,):
            raise BadRequest(f"bindings.{name} is what ?{name} looks like, with {{{name}}} for its level of the topic")
    text = primitive.bind(dict(given.values))
    return MappedAnswer(given.query, text, _dataset(primitive, base), topic, payload, bindings, given.retain, given.qos)


def _dataset(primitive: Primitive, base: str) -> Dataset | None:
    return Graphs(primitive.dataset.default, primitive.dataset.named).dataset(base)
