"""Universities after LUBM (Guo, Pan, Heflin: "LUBM: A Benchmark for OWL Knowledge Base Systems", 2005).

    triples = sum over departments (about 6,900)        15 to 25 departments a university, about 138k triples

It follows the published profile of the data, with its own vocabulary and names. Every department has its own random
generator, so larger data contain smaller ones. `plan` makes a department before its triples are written, and
`university_queries` counts answers in the plans. An individual has only its most specific types, and there is no T-Box,
so that no inference is needed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tidings.model.terms import RDF_TYPE, Term, Triple, literal

NS = "http://tidings.example/universities#"
SEED = 2005

DEPARTMENTS = (15, 25)
GROUPS = (10, 20)
COURSES_TAUGHT = (1, 2)
"""Courses of a member of the faculty, at each level."""
UNDERGRADUATES_PER_FACULTY = (8, 14)
GRADUATES_PER_FACULTY = (3, 4)
COURSES_TAKEN = (2, 4)
GRADUATE_COURSES_TAKEN = (1, 3)
PAPERS_JOINED = (0, 5)
"""Papers of a graduate student, with members of the faculty."""
TEACHING_ASSISTANTS = (1 / 5, 1 / 4)
RESEARCH_ASSISTANTS = (1 / 4, 1 / 3)
ADVISED_UNDERGRADUATES = 1 / 5
ALMA_MATERS = 1000
"""The number of universities from which degrees come; most of them have no other data."""
INTERESTS = 30
TRIPLES_PER_DEPARTMENT = 6_900
"""About, for estimates: LUBM(50, 0) has 6,888,642 triples in some 1,000 departments."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The number of teachers of a rank in a department, and of the publications of each."""

    kind: str
    members: tuple[int, int]
    papers: tuple[int, int]


RANKS = (
    Rank("FullProfessor", members=(7, 10), papers=(15, 20)),
    Rank("AssociateProfessor", members=(10, 14), papers=(10, 18)),
    Rank("AssistantProfessor", members=(8, 11), papers=(5, 10)),
    Rank("Lecturer", members=(5, 7), papers=(0, 5)),
)
DEGREES = ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom")


@dataclass(frozen=True, slots=True)
class Teacher:
    kind: str
    number: int
    """Its number among the teachers of its rank, in the department."""
    courses: range
    graduate_courses: range
    degrees: tuple[int, ...]
    """The universities of `DEGREES`."""
    interest: int

    @property
    def is_professor(self) -> bool:
        return self.kind != "Lecturer"


@dataclass(frozen=True, slots=True)
class Undergraduate:
    courses: list[int]
    advisor: int | None
    """An index of the department's teachers, among which professors come first."""


@dataclass(frozen=True, slots=True)
class Graduate:
    graduate_courses: list[int]
    advisor: int
    degree: int
    assists: int | None
    """The course of a teaching assistant."""
    researches: bool


@dataclass(frozen=True, slots=True)
class Paper:
    teacher: int
    graduates: list[int]


@dataclass(frozen=True, slots=True)
class Department:
    """The plan of a department, in numbers."""

    university: int
    number: int
    teachers: list[Teacher]
    head: int
    groups: int
    undergraduates: list[Undergraduate]
    graduates: list[Graduate]
    papers: list[Paper]

    def name(self, kind: str, number: int) -> str:
        """The local name of something in the department."""
        return f"{kind}_{self.university}_{self.number}_{number}"

    def teacher(self, index: int) -> Term:
        teacher = self.teachers[index]
        return ns(self.name(teacher.kind, teacher.number))

    def alma_maters(self) -> set[int]:
        degrees = {degree for teacher in self.teachers for degree in teacher.degrees}
        return degrees | {graduate.degree for graduate in self.graduates}


def ns(name: str) -> Term:
    """The IRI of a name of the universities."""
    return f"<{NS}{name}>"


def universities(scale: float = 1.0, seed: int = SEED) -> Iterator[Triple]:
    """The triples of `scale` universities; for a fraction, that share of the departments (at least one)."""
    known: set[int] = set()
    for department in departments(scale, seed):
        mentioned = department.alma_maters() | {department.university}
        for number in sorted(mentioned - known):
            yield ns(f"University_{number}"), RDF_TYPE, ns("University")
            yield ns(f"University_{number}"), ns("name"), literal(f"University {number}")
        known |= mentioned
        yield from department_triples(department)


def departments(scale: float = 1.0, seed: int = SEED) -> Iterator[Department]:
    """The plans of all the departments, in order."""
    for university, count in enumerate(department_counts(scale, seed)):
        for number in range(count):
            yield plan(university, number, seed)


def department_counts(scale: float, seed: int = SEED) -> list[int]:
    """The number of departments of each university."""
    if not 0 < scale < math.inf:
        raise ValueError(f"a number of universities is greater than 0, not {scale:g}")
    counts = [Random(f"{seed}/{number}").randint(*DEPARTMENTS) for number in range(math.ceil(scale))]
    if rest := scale % 1:
        counts[-1] = max(1, round(rest * counts[-1]))
    return counts


def plan(university: int, number: int, seed: int = SEED) -> Department:
    rng = Random(f"{seed}/{university}/{number}")
    teachers = _teachers(rng)
    professors = sum(teacher.is_professor for teacher in teachers)
    courses = teachers[-1].courses.stop
    graduate_courses = teachers[-1].graduate_courses.stop
    graduates = _graduates(rng, len(teachers), professors, courses, graduate_courses)
    return Department(
        university=university,
        number=number,
        teachers=teachers,
        head=rng.randrange(sum(teacher.kind == "FullProfessor" for teacher in teachers)),
        groups=rng.randint(*GROUPS),
        undergraduates=_undergraduates(rng, len(teachers), professors, courses),
        graduates=graduates,
        papers=_papers(rng, teachers, len(graduates)),
    )


def _teachers(rng: Random) -> list[Teacher]:
    teachers: list[Teacher] = []
    courses = graduate_courses = range(0)
    for rank in RANKS:
        for number in range(rng.randint(*rank.members)):
            courses = range(courses.stop, courses.stop + rng.randint(*COURSES_TAUGHT))
            graduate_courses = range(graduate_courses.stop, graduate_courses.stop + rng.randint(*COURSES_TAUGHT))
            degrees = tuple(rng.randrange(ALMA_MATERS) for _ in DEGREES)
            teachers.append(Teacher(rank.kind, number, courses, graduate_courses, degrees, rng.randrange(INTERESTS)))
    return teachers


def _undergraduates(rng: Random, faculty: int, professors: int, courses: int) -> list[Undergraduate]:
    low, high = UNDERGRADUATES_PER_FACULTY
    return [
        Undergraduate(
            courses=rng.sample(range(courses), rng.randint(*COURSES_TAKEN)),
            advisor=rng.randrange(professors) if rng.random() < ADVISED_UNDERGRADUATES else None,
        )
        for _ in range(rng.randint(low * faculty, high * faculty))
    ]


def _graduates(rng: Random, faculty: int, professors: int, courses: int, graduate_courses: int) -> list[Graduate]:
    low, high = GRADUATES_PER_FACULTY
    count = rng.randint(low * faculty, high * faculty)
    assistants = rng.sample(range(count), _share(rng, count, TEACHING_ASSISTANTS))
    assisted = dict(zip(assistants, rng.sample(range(courses), len(assistants)), strict=True))  # one each
    researchers = set(rng.sample(range(count), _share(rng, count, RESEARCH_ASSISTANTS)))
    return [
        Graduate(
            graduate_courses=rng.sample(range(graduate_courses), rng.randint(*GRADUATE_COURSES_TAKEN)),
            advisor=rng.randrange(professors),
            degree=rng.randrange(ALMA_MATERS),
            assists=assisted.get(number),
            researches=number in researchers,
        )
        for number in range(count)
    ]


def _share(rng: Random, count: int, shares: tuple[float, float]) -> int:
    """A random share of a count, between these bounds."""
    return rng.randint(math.ceil(shares[0] * count), math.floor(shares[1] * count))


def _papers(rng: Random, teachers: list[Teacher], graduates: int) -> list[Paper]:
    counts = {rank.kind: rank.papers for rank in RANKS}
    papers = [Paper(index, []) for index, one in enumerate(teachers) for _ in range(rng.randint(*counts[one.kind]))]
    for graduate in range(graduates):
        for paper in rng.sample(papers, rng.randint(*PAPERS_JOINED)):
            paper.graduates.append(graduate)
    return papers


def department_triples(department: Department) -> Iterator[Triple]:
    """A department and all its people, courses and publications."""
    here = ns(f"Department_{department.university}_{department.number}")
    yield here, RDF_TYPE, ns("Department")
    yield here, ns("name"), literal(f"Department {department.number}")
    yield here, ns("subOrganizationOf"), ns(f"University_{department.university}")
    yield department.teacher(department.head), ns("headOf"), here
    for number in range(department.groups):
        group = ns(department.name("ResearchGroup", number))
        yield group, RDF_TYPE, ns("ResearchGroup")
        yield group, ns("subOrganizationOf"), here
    for teacher in department.teachers:
        yield from _teacher(department, teacher, here)
    for number, undergraduate in enumerate(department.undergraduates):
        yield from _undergraduate(department, number, undergraduate, here)
    for number, graduate in enumerate(department.graduates):
        yield from _graduate(department, number, graduate, here)
    for number, paper in enumerate(department.papers):
        yield from _paper(department, number, paper)


def _teacher(department: Department, teacher: Teacher, here: Term) -> Iterator[Triple]:
    term = ns(department.name(teacher.kind, teacher.number))
    yield from _person(department, teacher.kind, teacher.number)
    yield term, ns("worksFor"), here
    for degree, university in zip(DEGREES, teacher.degrees, strict=True):
        yield term, ns(degree), ns(f"University_{university}")
    if teacher.is_professor:
        yield term, ns("researchInterest"), literal(f"Research {teacher.interest}")
    for kind, numbers in (("Course", teacher.courses), ("GraduateCourse", teacher.graduate_courses)):
        for number in numbers:
            course = ns(department.name(kind, number))
            yield course, RDF_TYPE, ns(kind)
            yield course, ns("name"), literal(f"{kind} {number}")
            yield term, ns("teacherOf"), course


def _undergraduate(department: Department, number: int, student: Undergraduate, here: Term) -> Iterator[Triple]:
    term = ns(department.name("UndergraduateStudent", number))
    yield from _person(department, "UndergraduateStudent", number)
    yield term, ns("memberOf"), here
    for course in student.courses:
        yield term, ns("takesCourse"), ns(department.name("Course", course))
    if student.advisor is not None:
        yield term, ns("advisor"), department.teacher(student.advisor)


def _graduate(department: Department, number: int, student: Graduate, here: Term) -> Iterator[Triple]:
    term = ns(department.name("GraduateStudent", number))
    yield from _person(department, "GraduateStudent", number)
    yield term, ns("memberOf"), here
    yield term, ns("undergraduateDegreeFrom"), ns(f"University_{student.degree}")
    yield term, ns("advisor"), department.teacher(student.advisor)
    for course in student.graduate_courses:
        yield term, ns("takesCourse"), ns(department.name("GraduateCourse", course))
    if student.assists is not None:
        yield term, RDF_TYPE, ns("TeachingAssistant")
        yield term, ns("teachingAssistantOf"), ns(department.name("Course", student.assists))
    if student.researches:
        yield term, RDF_TYPE, ns("ResearchAssistant")


def _person(department: Department, kind: str, number: int) -> Iterator[Triple]:
    term = ns(department.name(kind, number))
    host = f"department{department.number}.university{department.university}.example"
    yield term, RDF_TYPE, ns(kind)
    yield term, ns("name"), literal(f"{kind} {number}")
    yield term, ns("emailAddress"), literal(f"{kind.lower()}{number}@{host}")
    yield term, ns("telephone"), literal(f"{department.university:03}-{department.number:03}-{number:04}")


def _paper(department: Department, number: int, paper: Paper) -> Iterator[Triple]:
    term = ns(department.name("Publication", number))
    yield term, RDF_TYPE, ns("Publication")
    yield term, ns("name"), literal(f"Publication {number}")
    yield term, ns("publicationAuthor"), department.teacher(paper.teacher)
    for graduate in paper.graduates:
        yield term, ns("publicationAuthor"), ns(department.name("GraduateStudent", graduate))
