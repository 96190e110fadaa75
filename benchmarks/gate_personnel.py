"""A database of `gate.py` that no rule was made for: personnel and payroll of a manufacturer, with histories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from gate_data import HERE, Chance, Row, write

_END: Final = date(2025, 2, 28)
_FIRST: Final = (
    *("Adele", "Boris", "Carla", "Dieter", "Edith", "Frida", "Goran", "Hilda", "Igor", "Judit", "Karin", "Leo"),
    *("Milena", "Norbert", "Olga", "Pavel", "Renata", "Stefan", "Tereza", "Ulrich", "Vera", "Walter", "Zoltan"),
)
_LAST: Final = (
    *("Aigner", "Benes", "Cermak", "Dorner", "Ebner", "Farkas", "Grill", "Horvath", "Illek", "Jelinek", "Kovacs"),
    *("Lindner", "Mayr", "Nagy", "Ott", "Pichler", "Rossi", "Szabo", "Tichy", "Urban", "Vesely", "Wimmer"),
)
_SITES: Final = (
    *(("Danube Works", "Linz", "Austria", date(1968, 5, 2)), ("Lech Works", "Augsburg", "Germany", date(1991, 9, 1))),
    *(
        ("Fulda Foundry", "Kassel", "Germany", date(1979, 4, 17)),
        ("Moravia Plant", "Brno", "Czechia", date(2004, 3, 1)),
    ),
    *(("Raba Plant", "Gyor", "Hungary", date(2011, 10, 3)), ("Head Office", "Vienna", "Austria", date(1985, 1, 7))),
    ("Adria Depot", "Trieste", "Italy", date(2024, 11, 4)),
)
_UNITS: Final = (  # name, parent and head
    *(("Executive Board", None, 1), ("Operations", 1, 2), ("Finance and Administration", 1, 3), ("Commercial", 1, 4)),
    *(("Machining", 2, 5), ("Assembly", 2, 6), ("Quality", 2, 7), ("Maintenance", 2, None), ("Logistics", 2, 8)),
    *(("Accounting", 3, 9), ("Human Resources", 3, 10), ("Information Technology", 3, 11), ("Sales", 4, 12)),
    *(("Customer Service", 4, 13), ("Engineering", 1, 14), ("Innovation Lab", 15, None)),
)
_JOBS: Final = (  # title, grade and its salaries in thousands
    *(("Managing Director", "E1", 150, 220), ("Division Director", "E2", 105, 150), ("Department Head", "L2", 72, 110)),
    *(("Shift Supervisor", "L1", 43, 52), ("Machine Operator", "T1", 34, 48), ("Assembler", "T1", 32, 46)),
    *(("Quality Inspector", "T2", 38, 54), ("Maintenance Technician", "T2", 39, 56), ("Warehouse Clerk", "T1", 30, 42)),
    *(("Accountant", "S2", 44, 66), ("Payroll Clerk", "S1", 35, 48), ("Recruiter", "S2", 42, 62)),
    *(("Systems Administrator", "S3", 50, 74), ("Sales Representative", "S2", 43, 78), ("Service Agent", "S1", 33, 45)),
    *(("Design Engineer", "S3", 52, 76), ("Senior Engineer", "S4", 68, 95), ("Management Assistant", "S1", 36, 50)),
)
_POSTS: Final = (  # the jobs of each department
    *((18,), (18,), (18,), (18,), (5, 5, 5, 8), (6, 6, 6, 5), (7,), (8,), (9,), (10, 11), (11, 12), (13,), (14,)),
    *((15,), (16, 17), (16,)),
)
_LEADERS: Final = (  # department, job and manager of the first 18 employees
    *((1, 1, None), (2, 2, 1), (3, 2, 1), (4, 2, 1), (5, 3, 2), (6, 3, 2), (7, 3, 2), (9, 3, 2), (10, 3, 3)),
    *((11, 3, 3), (12, 3, 3), (13, 3, 4), (14, 3, 4), (15, 3, 1), (5, 4, 5), (5, 4, 5), (6, 4, 6), (6, 4, 6)),
)
_COURSES: Final = (
    *(("Fire Protection", "Safework Academy", 1, 4, 90), ("Workplace Safety", "Safework Academy", 1, 8, 180)),
    *(("Data Privacy Basics", "Lexa Seminars", 1, 3, 120), ("Forklift Licence", "Safework Academy", 0, 24, 640)),
    *(("Welding Certificate", "Metallum Institute", 0, 40, 1250), ("Leading Teams", "Kairos", 0, 16, 980)),
    *(("Anti-Corruption", "Lexa Seminars", 1, 6, 340), ("Business English", "Kairos", 0, 60, 890)),
    *(("Export Control", "Lexa Seminars", 1, 8, 410), ("First Aid", "Safework Academy", 0, 16, 75)),
)
_PROJECTS: Final[Sequence[Row]] = (
    (1, "Robot Cell Upgrade", 15, 14, 480000, date(2023, 9, 1), None),
    (2, "Energy Audit", 2, 2, 65000, date(2024, 9, 2), date(2025, 1, 31)),
    (3, "Moravia Expansion", 2, 2, 1900000, date(2023, 4, 3), None),
    (4, "Scrap Reduction", 7, 7, 90000, date(2024, 5, 6), None),
    (5, "Payroll Migration", 11, 10, 150000, date(2024, 7, 1), date(2025, 1, 15)),
    (6, "Warehouse Scanners", 9, 8, 120000, date(2024, 10, 1), None),
    (7, "Trieste Launch", 9, 2, 340000, date(2024, 8, 19), None),
    (8, "Quiet Press", 15, 5, 260000, date(2025, 2, 17), None),
)


def write_personnel(file: Path) -> None:
    """The manufacturer, by seeded chance."""
    chance = Chance(83)
    posted: list[Row] = []
    paid: list[Row] = []
    employees = [_employee(chance, n, posted, paid) for n in range(1, 121)]
    jobs = [(title, grade, low * 1000, high * 1000) for title, grade, low, high in _JOBS]
    named = {"sites": _SITES, "departments": _UNITS, "jobs": jobs, "courses": _COURSES}
    base = {table: [(n, *row) for n, row in enumerate(rows, 1)] for table, rows in named.items()}
    staff = {"employees": employees, "assignments": posted, "salaries": paid, "projects": _PROJECTS}
    made = (_absences, _timesheets, _course_completions, _performance_reviews, _expense_claims)
    events = {make.__name__[1:]: make(chance, employees) for make in made}
    write(file, HERE / "personnel.sql", base | staff | events | _payslips(chance, employees, paid) | _hiring(chance))


def _employee(chance: Chance, n: int, posted: list[Row], paid: list[Row]) -> Row:
    """An employee, whose assignments and salaries are added: one after the other, up to the leaving date."""
    first, last = _FIRST[n % 23], _LAST[n * 5 % 22]
    hired = chance.day(date(2004, 1, 5), 3600) if n <= 18 else chance.day(date(2013, 1, 2), 4300)
    if n <= 18:
        dept, job, manager = _LEADERS[n - 1]
    else:
        dept = chance.pick((1, 2, 4, *range(5, 16), 5, 5, 5, 6, 6, 6, 7, 9, 15))
        job = chance.pick(_POSTS[dept - 1])
        manager = chance.pick({5: (15, 16), 6: (17, 18)}.get(dept, (_UNITS[dept - 1][2] or 2,)))
    left = hired + timedelta(days=chance.between(150, 3600)) if n > 18 and chance.between(0, 4) < 2 else None
    left = left if left and left < _END else None
    site = chance.pick((1, 1, 2, 2, 3, 4, 4, 5)) if dept in (5, 6, 7, 8, 9) else chance.pick((6, 6, 6, 1, 2))
    low, high = _JOBS[job - 1][2:]
    amount = low * 925 + (high - low) * chance.between(0, 95) * 10
    for start, end in reversed(_spans(chance, hired, left, 3, 11, 50)):
        posted.append((len(posted) + 1, n, dept, job, site, start, end))
        dept = chance.pick((dept, dept, *range(5, 16)))
        job, site = chance.pick(_POSTS[dept - 1]), chance.pick((site, site, 1, 2, 3, 4, 5, 6))
    for start, end in _spans(chance, hired, left, 5, 10, 34):
        paid.append((len(paid) + 1, n, amount // 20 * 20, start, end, manager))
        amount = amount * (1000 + chance.between(12, 75)) // 1000
    kind = "permanent" if n <= 18 else chance.pick(("permanent", "permanent", "permanent", "fixed-term", "part-time"))
    born = hired - timedelta(days=chance.between(6700, 13000))
    return (n, first, last, f"{first}.{last}@ferrotec.example".lower(), born, hired, left, manager, kind)


def _spans(chance: Chance, hired: date, left: date | None, most: int, *months: int) -> list[tuple[date, date | None]]:
    """Spans one after the other from the first day on, each so many months long, the last one up to the leaving."""
    days = [hired]
    while len(days) < most and chance.between(0, 4):
        month = days[-1].year * 12 + days[-1].month - 1 + chance.between(*months)
        if (day := date(month // 12, month % 12 + 1, 1)) >= (left or _END):
            break
        days.append(day)
    return list(zip(days, [*(day - timedelta(days=1) for day in days[1:]), left], strict=True))


def _there(employee: Row, day: date) -> bool:
    return bool(employee[5] <= day <= (employee[6] or _END))


def _absences(chance: Chance, employees: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for _ in range(480):
        person, day = chance.pick(employees[: chance.between(24, 120)]), chance.day(date(2023, 1, 9), 770)
        if _there(person, day) and person[0] % 17:
            kind = chance.pick((*("vacation", "sick") * 4, "special leave", "unpaid leave"))
            days = chance.between(2, 24) / 2 if kind == "vacation" else chance.between(1, 9)
            rows.append((len(rows) + 1, person[0], kind, day, days, None if kind == "sick" else person[7]))
    return rows


def _timesheets(chance: Chance, employees: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for _ in range(740):
        person, day = chance.pick(employees), chance.day(date(2024, 9, 2), 178)
        project = _PROJECTS[chance.between(0, 6) * chance.between(40, 100) // 100]
        open_then = project[5] <= day <= (project[6] or _END) and day.weekday() < 5
        if _there(person, day) and open_then and person[0] not in (2, 10):
            rows.append((len(rows) + 1, person[0], project[0], day, chance.between(2, 32) / 4))
    return rows


def _course_completions(chance: Chance, employees: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for person in employees:
        keen = chance.pick((0, 3, 4, 5, 6, 9))
        for n, course in enumerate(_COURSES, 1):
            day, score = chance.day(date(2021, 2, 1), 1480), chance.between(48, 100)
            if chance.between(0, 14) < keen * (1 + course[2]) and n != 8 and _there(person, day):
                rows.append((len(rows) + 1, n, person[0], day, score))
                again = day + timedelta(days=chance.between(20, 90))
                if score < 60 and _there(person, again):
                    rows.append((len(rows) + 1, n, person[0], again, score + chance.between(5, 30)))
    return rows


def _performance_reviews(chance: Chance, employees: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    for year in (2022, 2023, 2024):
        for person in employees[1:]:
            if _there(person, date(year, 12, 1)) and chance.between(0, 6):
                reviewer = person[7] if chance.between(0, 7) or person[0] < 15 else chance.between(2, 14)
                words = chance.pick(("Solid year.", "Needs support.", "Exceeded targets.", None))
                rows.append((len(rows) + 1, person[0], reviewer, year, chance.pick((1, 2, 2, 3, 3, 3, 4, 4, 5)), words))
    return rows


def _payslips(chance: Chance, employees: Sequence[Row], salaries: Sequence[Row]) -> dict[str, Sequence[Row]]:
    rows: list[Row] = []
    for day in (date(2024, 11, 1), date(2024, 12, 1), date(2025, 1, 1), date(2025, 2, 1)):
        for pay in salaries:
            if pay[3] <= day <= (pay[4] or _END) and _there(employees[pay[1] - 1], day):
                gross = round(
                    pay[2] / 12 + (day.month == 12 and pay[1] % 4 == 1) * 900 + chance.pick((0, 0, 0, 0, 120, 250)), 2
                )
                off = round(gross * (26 + pay[2] // 9000) / 100, 2)
                rows.append((len(rows) + 1, pay[1], day.year, day.month, gross, off, round(gross - off, 2)))
    return {"payslips": rows}


def _expense_claims(chance: Chance, employees: Sequence[Row]) -> list[Row]:
    rows: list[Row] = []
    kinds = (*(("travel", 1800),) * 2, ("meals", 160), ("lodging", 900), ("equipment", 700))
    for _ in range(360):
        person, day = chance.pick(employees), chance.day(date(2023, 7, 3), 600)
        if _there(person, day):
            kind, most = chance.pick(kinds)
            states = ("paid", "paid", "paid", "approved", "rejected") if day.year < 2025 else ("pending", "approved")
            status, chief = chance.pick(states), person[7] or 3
            by = None if status == "pending" else chance.pick((chief, chief, 9 if person[0] != 9 else 3))
            decided = min(day + timedelta(days=chance.between(1, 21)), _END) if by else None
            amount = chance.between(most // 12, most) + chance.pick((0, 0.5, 0.25))
            rows.append((len(rows) + 1, person[0], kind, amount, day, status, by, decided))
    return rows


def _hiring(chance: Chance) -> dict[str, Sequence[Row]]:
    """Openings with applicants: a filled one has one who was hired, some open ones have no applicant yet."""
    openings: list[Row] = []
    rows: list[Row] = []
    sources = (*("job board",) * 3, "referral", "company website", "company website", "agency")
    for n in range(1, 37):
        dept = chance.pick((5, 5, 6, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 16))
        job, day = chance.pick(_POSTS[dept - 1]), chance.day(date(2024, 1, 8), 400)
        status = "open" if day > date(2024, 9, 15) else chance.pick(("filled", "filled", "cancelled", "open"))
        closed = min(day + timedelta(days=chance.between(25, 150)), _END) if status != "open" else None
        openings.append((n, job, dept, chance.between(1, 7), chance.pick((10, 10, 11, 12)), day, closed, status))
        for place in range(chance.pick((1, 2, 4, 6, 7) if status == "filled" else (0, 1, 3, 5, 8))):
            came = chance.day(day, max(((closed or _END) - day).days - 1, 0))
            stage = chance.pick(("applied", "interview", "offer", "rejected")) if status == "open" else "rejected"
            stage = "hired" if status == "filled" and place == 0 else stage
            rows.append((len(rows) + 1, n, chance.pick(_FIRST), chance.pick(_LAST), came, chance.pick(sources), stage))
    return {"job_openings": openings, "applicants": rows}
