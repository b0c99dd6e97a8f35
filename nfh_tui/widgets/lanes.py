"""The colours of annotators' lanes, the same wherever a lane has its sign.

Each lane has a digit as well: the key that adopts the answer. So colours only help the eye.
"""

DARK = (
    *("#6fb1ff", "#ff9e64", "#e58bd8", "#d7d75f", "#5fd7d7", "#ff7b7b", "#b69cff"),
    *("#5fd787", "#cdb08a"),
)
LIGHT = (
    *("#0b5cad", "#a34000", "#9b1f87", "#6b5d00", "#00656b", "#b3202a", "#5a3fb0"),
    *("#1c6b2e", "#6b4f2a"),
)
TERMINAL = (
    *("ansi_blue", "ansi_red", "ansi_magenta", "ansi_yellow", "ansi_cyan", "ansi_green"),
    *("ansi_bright_blue", "ansi_bright_magenta", "ansi_bright_red"),
)
"""The colours of lanes 1 to 9: on a dark ground, on a light one, and the terminal's own."""


def lane_css(widget: str, prefix: str) -> str:
    """Rules for the component classes `PREFIX--lane-0` to `-lane-9` of a widget class.

    lane-0 is for annotators without a key: it has no colour.
    """
    rules = [f"{widget} > .{prefix}--lane-0 {{ text-style: bold; }}"]
    for look, colours in (("dark", DARK), ("light", LIGHT), ("ansi", TERMINAL)):
        for lane, colour in enumerate(colours, 1):
            rules.append(f"{widget}:{look} > .{prefix}--lane-{lane} {{ color: {colour}; }}")
    return "\n".join(rules)
