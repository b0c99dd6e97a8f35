"""The looks of the roles of a passage, as CSS."""

from nfh_tui.widgets.lanes import lane_css

LOOKS = """
PassageView {
    overflow-x: hidden;
    scrollbar-size-vertical: 1;
    scrollbar-gutter: stable;
}
PassageView > .passage--gutter { text-style: dim; }
PassageView > .passage--gutter-here { color: $text-primary; }
PassageView > .passage--rule { color: $text-secondary; text-style: dim; }
PassageView > .passage--heat { background: $accent; }
PassageView > .passage--cool { background: $primary; }
PassageView > .passage--heat-sign { color: $text-accent; }
PassageView > .passage--cool-sign { color: $text-primary; }
PassageView > .passage--undecided { text-style: dim underline; }
PassageView > .passage--decided { text-style: dim underline; }
PassageView > .passage--decided-sign { text-style: dim not underline; }
PassageView > .passage--gold { color: $text-warning; text-style: italic; }
PassageView > .passage--gold-sign { color: $text-warning; text-style: not italic; }
PassageView > .passage--differs { text-style: underline; }
PassageView > .passage--differs-sign { text-style: bold reverse not underline; }
PassageView > .passage--proposed { color: $text-primary; text-style: underline; }
PassageView > .passage--proposed-sign {
    color: $text-primary; text-style: bold not underline;
}
PassageView > .passage--anchor {
    color: $primary; background: $background; text-style: bold reverse;
}
PassageView > .passage--anchor-sign { color: $primary; text-style: bold not reverse; }
PassageView > .passage--head { color: $text-success; text-style: underline; }
PassageView > .passage--noun { text-style: bold; }
PassageView > .passage--added { color: $text-success; text-style: underline; }
PassageView > .passage--head-sign {
    color: $text-success; text-style: bold not underline;
}
PassageView > .passage--removed { text-style: dim strike; }
PassageView > .passage--removed-sign { color: $text-error; }
PassageView > .passage--offered { color: $text-warning; text-style: underline; }
PassageView > .passage--span { background: $secondary-muted; text-style: underline; }
PassageView > .passage--span-sign {
    color: $text-secondary; text-style: bold not underline;
}
PassageView > .passage--cursor {
    color: $accent; background: $background; text-style: bold reverse underline;
}
PassageView > .passage--cursor-sign {
    color: $accent; text-style: bold not reverse not underline;
}
PassageView:ansi > .passage--span { background: transparent; }
PassageView > .passage--hint {
    color: $warning; background: $background; text-style: bold reverse;
}
PassageView > .passage--hushed { text-style: dim; }
PassageView > .passage--foot { background: $panel; }
PassageView > .passage--foot-faint { text-style: dim; }
""" + lane_css("PassageView", "passage")
"""The default CSS of the passage."""
