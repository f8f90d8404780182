"""The common style of all charts (size, greys, colours, labels), and their output as SVG and PNG.

The extras `bench` and `spark` install matplotlib, which is imported when the first chart is drawn.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, cast

from tidings.extras import needing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Colours: TypeAlias = Mapping[str, str]
_Given = ParamSpec("_Given")

OKABE_ITO = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8f6b00")
"""People with any kind of colour blindness can distinguish these colours, on paper and on a dark screen."""
WIDTH, HEIGHT = 5.0, 2.9
"""Inches. At half the width of a desktop report, and on a phone, a chart's text is about as large as the page's."""
PNG_DPI = 200


@dataclass(frozen=True, slots=True)
class Ink:
    """The greys of a chart. `inline` replaces them by the colours of the page, for its light and its dark mode."""

    ink: str = "#23272e"
    faint: str = "#d8dbe0"


GRID = Ink()


STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and takes the page's font
    "svg.hashsalt": "tidings",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so widths are the same everywhere
    "font.size": 9,
    "text.color": GRID.ink,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlepad": 9,
    "axes.edgecolor": GRID.faint,
    "axes.labelcolor": GRID.ink,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID.faint,
    "grid.linewidth": 0.7,
    "xtick.color": GRID.faint,
    "ytick.color": GRID.faint,
    "xtick.labelcolor": GRID.ink,
    "ytick.labelcolor": GRID.ink,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "ytick.major.size": 0,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, drawn when asked for."""

    title: str
    about: str
    """A description of the chart for those who cannot see it."""
    figure: "Figure"
    axes: "Axes"

    def svg(self) -> str:
        """The chart as an SVG file."""
        return self._drawn("svg", facecolor="white").decode()

    def png(self) -> bytes:
        return self._drawn("png", facecolor="white", dpi=PNG_DPI)

    def file(self, kind: str) -> bytes:
        """The chart as a file of kind `svg` or `png`."""
        return self.png() if kind == "png" else self.svg().encode()

    def inline(self, prefix: str) -> str:
        """The chart as SVG inside a page: with ids that begin with `prefix`, and the greys of the page."""
        text = self._drawn("svg", transparent=True).decode()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
        text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
        text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
        text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", text)
        text = text.replace(GRID.ink, "currentColor").replace(GRID.faint, "var(--line)")
        about = _escaped(self.about)
        return re.sub(
            r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', rf'<svg viewBox="\1" role="img" aria-label="{about}">', text, count=1
        )

    def _drawn(self, kind: str, **how: Any) -> bytes:
        output = BytesIO()
        about = {"Date": None, "Creator": None, "Title": self.title} if kind == "svg" else {"Software": None}
        with style():
            self.figure.savefig(output, format=kind, metadata=about, **how)
        return output.getvalue()


def _escaped(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("\\", "/")
    )


def colours_of(targets: Iterable[str]) -> dict[str, str]:
    """The colour of each target of a run, by its position in the configuration."""
    return {target: OKABE_ITO[place % len(OKABE_ITO)] for place, target in enumerate(targets)}


@contextmanager
def style() -> Iterator[None]:
    """Set the style of all charts, regardless of the user's matplotlibrc. Raises ExtraMissing."""
    with needing("charts need matplotlib", "bench"):
        import matplotlib as mpl
    with mpl.rc_context():
        mpl.rcdefaults()
        cast(Any, mpl.rcParams).update(STYLE)
        yield


def drawn(draw: Callable[_Given, Chart]) -> Callable[_Given, Chart]:
    """A decorator: draws in the common style, and fixes the layout, which would otherwise change with each writing."""

    @wraps(draw)
    def drawing(*arguments: _Given.args, **options: _Given.kwargs) -> Chart:
        with style():
            chart = draw(*arguments, **options)
            chart.figure.draw_without_rendering()
            chart.figure.set_layout_engine("none")
            return chart

    return drawing


def blank(title: str, across: str, up: str, about: str, height: float = HEIGHT) -> Chart:
    """A chart with empty axes, a title and units, for functions that are `drawn`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(f"{literal(title)}, {literal(up)}" if up else literal(title), loc="left")
    axes.set_xlabel(literal(across))
    return Chart(title, about, figure, axes)


def literal(text: str) -> str:
    """A text with escaped dollar signs, between which matplotlib would read mathematics."""
    return text.replace("$", r"\$")


def label_ends(axes: "Axes", ends: Mapping[str, tuple[float, float]], colours: Colours) -> None:
    """Write each name at the end of its line, and move names apart that would touch."""
    if not ends:
        return
    axes.autoscale_view()  # otherwise matplotlib computes the scale of the drawn lines only later
    height = axes.get_window_extent().height or 1.0
    room = 0.075 * 210 / height if height < 210 else 0.075
    places = {
        name: float(axes.transAxes.inverted().transform(axes.transData.transform(end))[1]) for name, end in ends.items()
    }
    last = -1.0
    for name in sorted(places, key=lambda name: places[name]):
        last = max(places[name], last + room)
        axes.annotate(
            literal(name),
            xy=(1.02, last),
            xycoords="axes fraction",
            color=colours[name],
            va="center",
            weight="bold",
            annotation_clip=False,
        )


def plain_ticks(axes: "Axes", *, x: bool = True, y: bool = True) -> None:
    """Few tick labels, written as 1,000 and not as 10³."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,.0f}" if value == int(value) else f"{value:,g}")
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if not wanted:
            continue
        if axis.get_scale() == "log":
            low, high = sorted(axis.get_view_interval())
            subs = (1.0,) if high / max(low, 1e-12) > 300 else (1.0, 2.0, 5.0)
            axis.set_major_locator(LogLocator(subs=subs, numticks=12))
            axis.set_minor_formatter(NullFormatter())
        else:
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(plain)
