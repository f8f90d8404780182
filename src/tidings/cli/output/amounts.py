"""Formats numbers of bytes and lengths of time for people."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(number: float) -> str:
    """Bytes for people."""
    for unit in _UNITS:
        if number < 1024 or unit == _UNITS[-1]:
            break
        number /= 1024
    return f"{number:,.0f} {unit}" if unit == "B" else f"{number:,.1f} {unit}"


def duration(seconds: float) -> str:
    """A length of time for people: its two largest units."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [
        f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")) if number
    ]
    return " ".join(parts[:2]) or "0 s"
