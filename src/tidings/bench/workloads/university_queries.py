"""The 14 queries of LUBM, for these universities and without inference, with the number of answers of each.

LUBM needs a reasoner for subclasses (a Student, a Professor, a Person), subproperties (memberOf for worksFor), inverses
(hasAlumnus), transitivity (subOrganizationOf) and a definition (Chair). Here a query names the classes and properties
that are stored, so that plain matching finds the answers that LUBM means.
"""

from collections import Counter

from tidings.bench.workloads.universities import NS, SEED, Department, departments

PREFIX = f"PREFIX ns: <{NS}>\n"
_STUDENT = "VALUES ?kind { ns:UndergraduateStudent ns:GraduateStudent } ?student a ?kind"
_PROFESSOR = "VALUES ?kind { ns:FullProfessor ns:AssociateProfessor ns:AssistantProfessor } ?professor a ?kind"
_DEGREE = "VALUES ?degree { ns:undergraduateDegreeFrom ns:mastersDegreeFrom ns:doctoralDegreeFrom }"

QUERIES = {
    name: PREFIX + text
    for name, text in {
        "Q1": "SELECT ?student WHERE { ?student a ns:GraduateStudent ; ns:takesCourse ns:GraduateCourse_0_0_0 }",
        "Q2": (
            "SELECT ?student ?university ?department WHERE {\n"
            "  ?student a ns:GraduateStudent . ?university a ns:University . ?department a ns:Department .\n"
            "  ?student ns:memberOf ?department . ?department ns:subOrganizationOf ?university .\n"
            "  ?student ns:undergraduateDegreeFrom ?university }"
        ),
        "Q3": (
            "SELECT ?publication WHERE {\n"
            "  ?publication a ns:Publication ; ns:publicationAuthor ns:AssistantProfessor_0_0_0 }"
        ),
        "Q4": (
            f"SELECT ?professor ?name ?email ?telephone WHERE {{\n  {_PROFESSOR} ; ns:worksFor ns:Department_0_0 ;\n"
            "    ns:name ?name ; ns:emailAddress ?email ; ns:telephone ?telephone }"
        ),
        "Q5": (
            "SELECT ?person WHERE {\n"
            "  { ?person ns:memberOf ns:Department_0_0 } UNION { ?person ns:worksFor ns:Department_0_0 } }"
        ),
        "Q6": f"SELECT ?student WHERE {{ {_STUDENT} }}",
        "Q7": (
            f"SELECT ?student ?course WHERE {{\n  {_STUDENT} ; ns:takesCourse ?course .\n"
            "  ns:AssociateProfessor_0_0_0 ns:teacherOf ?course }"
        ),
        "Q8": (
            f"SELECT ?student ?department ?email WHERE {{\n"
            f"  {_STUDENT} ; ns:memberOf ?department ; ns:emailAddress ?email .\n"
            "  ?department a ns:Department ; ns:subOrganizationOf ns:University_0 }"
        ),
        "Q9": (
            "SELECT ?student ?teacher ?course WHERE {\n"
            f"  {_STUDENT} ; ns:advisor ?teacher ; ns:takesCourse ?course .\n"
            "  ?teacher ns:teacherOf ?course }"
        ),
        "Q10": f"SELECT ?student WHERE {{ {_STUDENT} ; ns:takesCourse ns:GraduateCourse_0_0_0 }}",
        "Q11": (
            "SELECT ?group WHERE {\n"
            "  ?group a ns:ResearchGroup ; ns:subOrganizationOf ?department .\n"
            "  ?department ns:subOrganizationOf ns:University_0 }"
        ),
        "Q12": (
            "SELECT ?chair ?department WHERE {\n"
            "  ?chair ns:headOf ?department . ?department a ns:Department ; ns:subOrganizationOf ns:University_0 }"
        ),
        "Q13": f"SELECT DISTINCT ?person WHERE {{ {_DEGREE} ?person ?degree ns:University_0 }}",
        "Q14": "SELECT ?student WHERE { ?student a ns:UndergraduateStudent }",
    }.items()
}


def expected(scale: float = 1.0, seed: int = SEED) -> dict[str, int]:
    """The number of answers of each query, counted in the plans of the departments."""
    counts = Counter(dict.fromkeys(QUERIES, 0))
    for department in departments(scale, seed):
        counts.update(_anywhere(department))
        if department.university == 0:
            counts.update(_at_university_0(department))
            if department.number == 0:
                counts.update(_in_department_0(department))
    return dict(counts)


def _students(department: Department) -> int:
    return len(department.undergraduates) + len(department.graduates)


def _anywhere(department: Department) -> dict[str, int]:
    undergraduates, graduates, teachers = department.undergraduates, department.graduates, department.teachers
    return {
        "Q2": sum(each.degree == department.university for each in graduates),
        "Q6": _students(department),
        "Q9": sum(
            course in teachers[each.advisor].courses
            for each in undergraduates
            if each.advisor is not None
            for course in each.courses
        )
        + sum(
            course in teachers[each.advisor].graduate_courses for each in graduates for course in each.graduate_courses
        ),
        "Q13": sum(0 in each.degrees for each in teachers) + sum(each.degree == 0 for each in graduates),
        "Q14": len(undergraduates),
    }


def _at_university_0(department: Department) -> dict[str, int]:
    return {"Q8": _students(department), "Q11": department.groups, "Q12": 1}


def _in_department_0(department: Department) -> dict[str, int]:
    teachers = department.teachers
    associate = next(each for each in teachers if each.kind == "AssociateProfessor")
    assistant = next(index for index, each in enumerate(teachers) if each.kind == "AssistantProfessor")
    in_graduate_course_0 = sum(0 in each.graduate_courses for each in department.graduates)
    return {
        "Q1": in_graduate_course_0,
        "Q3": sum(paper.teacher == assistant for paper in department.papers),
        "Q4": sum(each.is_professor for each in teachers),
        "Q5": len(teachers) + _students(department),
        "Q7": sum(course in associate.courses for each in department.undergraduates for course in each.courses)
        + sum(
            course in associate.graduate_courses for each in department.graduates for course in each.graduate_courses
        ),
        "Q10": in_graduate_course_0,  # no undergraduate takes a course for graduates
    }
