"""The universities have LUBM's profile, and its 14 questions the answers that the generator's own books foretell."""

from collections import Counter
from hashlib import sha256
from itertools import islice

import pyoxigraph as ox
import pytest

from tidings.bench.workloads import universities as lubm
from tidings.bench.workloads.universities import Department, ns
from tidings.bench.workloads.university_queries import QUERIES, expected
from tidings.model.terms import RDF_TYPE, Triple

SCALE = 1.2


@pytest.fixture(scope="module")
def plans() -> list[Department]:
    return list(lubm.departments(SCALE))


@pytest.fixture(scope="module")
def triples() -> list[Triple]:
    return list(lubm.universities(SCALE))


@pytest.fixture(scope="module")
def store(triples: list[Triple]) -> ox.Store:
    """The universities in an independent engine."""
    store = ox.Store()
    store.bulk_load("".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode(), ox.RdfFormat.N_TRIPLES)
    return store


def digest(triples: list[Triple]) -> str:
    return sha256("".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode()).hexdigest()


def within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]


@pytest.mark.parametrize("name", list(QUERIES))
@pytest.mark.parametrize("scale", [0.05, SCALE])
def test_a_question_has_as_many_answers_as_the_books_say(store: ox.Store, name: str, scale: float) -> None:
    if scale != SCALE:
        store = ox.Store()
        lines = "".join(f"{s} {p} {o} .\n" for s, p, o in lubm.universities(scale))
        store.bulk_load(lines.encode(), ox.RdfFormat.N_TRIPLES)
    solutions = store.query(QUERIES[name])
    assert isinstance(solutions, ox.QuerySolutions)
    rows = [tuple(str(term) for term in row) for row in solutions]
    assert len(rows) == expected(scale)[name]
    assert len(set(rows)) == len(rows)


def test_every_question_has_answers_and_there_are_fourteen() -> None:
    counts = expected(SCALE)
    assert list(counts) == [f"Q{number}" for number in range(1, 15)]
    assert all(counts.values())


def test_the_departments_have_the_published_ranges(plans: list[Department]) -> None:
    # LUBM's profile: 7-10 full, 10-14 associate and 8-11 assistant professors, 5-7 lecturers, 10-20 research groups.
    members = {
        "FullProfessor": (7, 10),
        "AssociateProfessor": (10, 14),
        "AssistantProfessor": (8, 11),
        "Lecturer": (5, 7),
    }
    for plan in plans:
        counts = Counter(teacher.kind for teacher in plan.teachers)
        assert set(counts) == set(members)
        assert all(within(counts[kind], limits) for kind, limits in members.items())
        assert within(plan.groups, (10, 20))
        assert plan.teachers[plan.head].kind == "FullProfessor"


def test_students_are_in_the_published_ratios(plans: list[Department]) -> None:
    # Undergraduates : faculty = 8-14 : 1; graduates : faculty = 3-4 : 1; teaching assistants 1/5-1/4 of the graduates,
    # of pairwise different courses; research assistants 1/4-1/3; an advisor for 1/5 of the undergraduates.
    for plan in plans:
        faculty, graduates = len(plan.teachers), len(plan.graduates)
        assisted = [each.assists for each in plan.graduates if each.assists is not None]
        assert within(len(plan.undergraduates) / faculty, (8, 14))
        assert within(graduates / faculty, (3, 4))
        assert within(len(assisted) / graduates, (1 / 5, 1 / 4))
        assert len(set(assisted)) == len(assisted)
        assert within(sum(each.researches for each in plan.graduates) / graduates, (1 / 4, 1 / 3))
        assert all(plan.teachers[each.advisor].is_professor for each in plan.graduates)
    undergraduates = [each for plan in plans for each in plan.undergraduates]
    advised = sum(each.advisor is not None for each in undergraduates)
    assert advised / len(undergraduates) == pytest.approx(1 / 5, abs=0.02)


def test_courses_are_taught_by_one_and_taken_by_some(plans: list[Department]) -> None:
    # Each of the faculty teaches 1-2 courses and 1-2 graduate courses; an undergraduate takes 2-4, a graduate 1-3.
    for plan in plans:
        for level in ("courses", "graduate_courses"):
            taught = [getattr(teacher, level) for teacher in plan.teachers]
            assert all(len(courses) in {1, 2} for courses in taught)
            numbers = [number for courses in taught for number in courses]
            assert numbers == list(range(len(numbers)))
        assert all(len(set(each.courses)) in {2, 3, 4} for each in plan.undergraduates)
        assert all(len(set(each.graduate_courses)) in {1, 2, 3} for each in plan.graduates)


def test_publications_are_in_the_published_ranges(plans: list[Department]) -> None:
    # Full professors 15-20, associate 10-18, assistant 5-10, lecturers 0-5; a graduate joins 0-5 of them.
    limits = {
        "FullProfessor": (15, 20),
        "AssociateProfessor": (10, 18),
        "AssistantProfessor": (5, 10),
        "Lecturer": (0, 5),
    }
    for plan in plans:
        papers = Counter(paper.teacher for paper in plan.papers)
        joined = Counter(number for paper in plan.papers for number in paper.graduates)
        assert all(within(papers[n], limits[teacher.kind]) for n, teacher in enumerate(plan.teachers))
        assert max(joined.values()) == 5


def test_a_university_has_15_to_25_departments() -> None:
    counts = lubm.department_counts(50)
    assert min(counts) == 15
    assert max(counts) == 25


def test_a_department_has_about_as_many_triples_as_lubms(plans: list[Department], triples: list[Triple]) -> None:
    # LUBM(50, 0): 6,888,642 triples in about 1,000 departments.
    assert len(triples) / len(plans) == pytest.approx(6_888_642 / 1000, rel=0.1)
    assert len(triples) / len(plans) == pytest.approx(lubm.TRIPLES_PER_DEPARTMENT, rel=0.1)


def test_no_triple_comes_twice_and_every_name_is_described(triples: list[Triple]) -> None:
    assert len(set(triples)) == len(triples)
    typed = {s for s, p, _ in triples if p == RDF_TYPE}
    assert {s for s, _, _ in triples} == typed
    assert {o for _, p, o in triples if p != RDF_TYPE and o.startswith("<")} <= typed


def test_terms_are_canonical(triples: list[Triple]) -> None:
    document = "".join(f"{s} {p} {o} .\n" for s, p, o in triples[:20_000]).encode()
    quads = islice(ox.parse(document, ox.RdfFormat.N_TRIPLES), 20_000)
    assert [(str(q.subject), str(q.predicate), str(q.object)) for q in quads] == triples[:20_000]


def test_the_same_seed_gives_the_same_triples_and_another_seed_others() -> None:
    small = list(lubm.universities(0.1))
    assert list(lubm.universities(0.1, seed=lubm.SEED)) == small
    assert set(lubm.universities(0.1, seed=1)) != set(small)


def test_the_triples_stay_what_they_were_from_version_to_version() -> None:
    assert digest(list(lubm.universities(0.05))) == "ed254ed8311c72b4572adf0036ab0d53aa3eff34b66df98b3a9833fd3eb65e51"


def test_more_universities_contain_fewer(triples: list[Triple]) -> None:
    assert set(lubm.universities(0.5)) < set(triples)


def test_a_fraction_is_a_number_of_departments() -> None:
    whole = lubm.department_counts(1)[0]
    assert lubm.department_counts(0.5) == [round(whole / 2)]
    assert lubm.department_counts(0.0001) == [1]
    assert len(lubm.department_counts(2.5)) == 3
    assert lubm.department_counts(1.5)[0] == whole


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
def test_no_universities_are_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        next(lubm.universities(scale))


def test_a_head_leads_the_department(triples: list[Triple]) -> None:
    heads = [o for _, p, o in triples if p == ns("headOf")]
    assert len(set(heads)) == len(heads) == sum(lubm.department_counts(SCALE))
