"""Reading the guidelines: their text, how often each rule was used, and their versions."""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList

from nfh_db.guidelines import Guideline
from nfh_db.records import Annotator, Role
from nfh_tui.actions import Action
from nfh_tui.guidelines import GuidelinesError
from nfh_tui.guidelines.guide import (
    Guide,
    RuleCount,
    counts_of,
    guide_of,
    outdated_query,
    query_of,
)
from nfh_tui.guidelines.parts import Part, changes_of, parts_of
from nfh_tui.guidelines.words import by_words, change_lines, version_words
from nfh_tui.screens.side import PANE_ACTS, SideScreen
from nfh_tui.widgets.guideline_text import GuidelineText
from nfh_tui.widgets.query_bar import InputBar
from nfh_tui.widgets.rule_list import RuleList
from nfh_tui.widgets.status_line import Foot

MOST_IDS = 150
"""Items that one query may name."""

NONE = "This file has no guidelines, and none could be written to it."

RULE = "rule"
"""What the workbench remembers of this screen, or asks it to show: the id of a rule."""


class Reading(SideScreen):
    """The text and its versions, to read.

    versions: all there are, the last of which holds. shown: the one on the screen, None
    before it is read. guide: of what holds. counts: by rule. found: words looked for.
    """

    NAME = "Guidelines"
    PANE_ACTS = (
        *PANE_ACTS,
        *("side.older", "side.search", "side.search_next", "side.search_back"),
    )
    DEFAULT_CSS = """
    Reading {
        & #rules-panes { height: 1fr; }
        & #rules-text { width: 1fr; height: 1fr; }
        &.-narrow #rules-list { width: 16; }
        &.-medium #rules-list { width: 42; }
        &.-wide #rules-list { width: 48; }
    }
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as a side screen takes them
        self.versions: tuple[Guideline, ...] = ()
        self.shown: Guideline | None = None
        self.guide = Guide()
        self.counts: Mapping[str, RuleCount] = {}
        self.parts: Sequence[Part] = ()
        self.found = ""
        self.list = RuleList(id="rules-list")
        self.text = GuidelineText(id="rules-text")
        self.bar = InputBar(id="bar")

    def compose(self) -> ComposeResult:
        """Title, the rules beside the text of one, a line to type in, state, keys."""
        yield self.heading
        with Horizontal(id="rules-panes"):
            yield self.list
            yield self.text
        yield self.bar
        yield self.status_line
        yield self.key_line

    def on_mount(self) -> None:
        """Read what there is; acts wait for it."""
        self.act(self.load, group="load")

    @property
    def scroller(self) -> VerticalScroll:
        """What scrolls: the text of the part."""
        return self.text

    async def load(self, version: int | None = None) -> None:
        """Read all versions and the counts anew, and show one; the last where None."""
        self.versions = await self.client.guidelines()
        self.guide = guide_of(self.versions)
        tagged = await self.client.tagged_decisions(self._only, self.me)
        items = await self.client.tagged_items(self._only, self.me)
        self.counts = counts_of(self.guide, items, tagged)
        there = {one.version: one for one in self.versions}
        last = self.versions[-1] if self.versions else None
        self.shown = last if version is None else there.get(version, last)
        self._show_parts()

    @property
    def _only(self) -> Annotator | None:
        """Of whose answers alone the counts are: one's own, while one annotates."""
        return self.me if self.role is Role.ANNOTATOR else None

    def _show_parts(self) -> None:
        """Show the version chosen, standing on the rule one stood on."""
        shown = self.shown
        if shown is None:
            self.title_note("")
            self.refuse(NONE)
            return
        try:
            self.parts = parts_of(shown.body)
        except GuidelinesError as error:
            self.parts = (Part("", "The text", shown.body),)
            self.refuse(f"The rules cannot be told apart: {error}. e changes the text.")
        wanted = self.memory.get(RULE)
        ids = [part.id or part.title for part in self.parts]
        place = ids.index(str(wanted)) if wanted in ids else 0
        self.list.show(self.parts, self.counts, place)
        self.title_note(version_words(shown, self.versions))
        self._show_part(place)

    def _show_part(self, place: int) -> None:
        if not self.parts:
            return
        part = self.parts[place]
        self.memory[RULE] = part.id or part.title
        self.text.show(part.markdown, self.found)
        self._paint_state(part)

    def _paint_state(self, part: Part) -> None:
        """What the line of state says of the rule."""
        count = self.counts.get(part.id, RuleCount())
        by, done = (" by you", "answered") if self._only else ("", "decided")
        words = f"{part.id}: {count.items:,} tagged{by}" if part.id else ""
        if count.older:
            words += f", {count.older:,} {done} under another text (o)"
        self.set_status(mode=self.NAME.upper(), place=words)

    @property
    def part(self) -> Part | None:
        """Where one stands."""
        return self.parts[self.list.place] if self.parts else None

    # --- moving -------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """To the next part, or the one before."""
        self.list.go(self.list.place + by)

    def edge(self, *, last: bool) -> None:
        """To the last part, or the first."""
        self.list.go(len(self.parts) if last else 0)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the part that one stands on."""
        if event.option_index < len(self.parts):
            self._show_part(event.option_index)

    # --- reasons ------------------------------------------------------------------------

    def why_not(self, action: Action) -> str:
        """As the ground says, and what the rule and the versions do not allow."""
        if action.id in {"side.edit", "side.versions"} and self.shown is None:
            return NONE
        if action.id in {"side.search_next", "side.search_back"} and not self.found:
            return "/ asks for words first."
        if action.id == "side.difference" and len(self.versions) < 2:
            return "There is one version only, so nothing changed yet."
        if action.id == "side.open":
            return self._no_items()
        return self._no_older() if action.id == "side.older" else super().why_not(action)

    def _no_items(self) -> str:
        part = self.part
        if part is None or not part.id:
            return "Only a rule has items: j goes to the next one."
        if self.counts.get(part.id, RuleCount()).items:
            return ""
        what = "Nothing of yours" if self._only else "Nothing"
        return f"{what} is tagged with {part.id} yet: R in the workbench does that."

    def _no_older(self) -> str:
        part = self.part
        if part is None or not part.id:
            return ""  # of all rules: only the store knows
        if outdated_query(self.guide, part.id) is None:
            return "No earlier version says this otherwise."
        if self.counts.get(part.id, RuleCount()).older:
            return ""
        return f"Nothing was decided by {part.id} while it read otherwise."

    # --- the items of a rule ------------------------------------------------------------

    def do_side_open(self) -> None:
        """Open the items that are tagged with the rule."""
        if self.part is not None:
            self.dismiss(query_of(self.part.id))

    async def do_side_older(self) -> None:
        """Open the items that were decided while the rule, or any rule, read otherwise."""
        part = self.part
        if part is None or not part.id:
            await self._open_all_older()
            return
        self.dismiss(outdated_query(self.guide, part.id))

    async def _open_all_older(self) -> None:
        ids = await self.client.tagged_anchors(self.guide.outdated, self._only, self.me)
        if not ids:
            self.refuse("Nothing was decided by a rule that reads otherwise by now.")
        elif len(ids) > MOST_IDS:
            self.refuse(f"{len(ids):,} decisions: too many for one list. Go rule by rule.")
        else:
            self.dismiss(f"id:{','.join(map(str, ids))}")

    # --- words --------------------------------------------------------------------------

    async def do_side_search(self) -> None:
        """Ask for words, and go to where they stand next."""
        self.key_line.foot = Foot("", (("enter", "find"), ("esc", "as it was")))
        try:
            words = await self.bar.ask("/", self.found, selected=True, early=self.early)
        finally:
            self.paint_keys()
        if words is None:
            return
        self.found = words.strip()
        if self.found:
            self._find(1, 0)
        else:
            self._show_part(self.list.place)

    def do_side_search_next(self) -> None:
        """To the next part with the words."""
        self._find(1, 1)

    def do_side_search_back(self) -> None:
        """To the part before with the words."""
        self._find(-1, 1)

    def _find(self, step: int, first: int) -> None:
        """Go to the next part with the words, in steps from `first` on, round the end."""
        wanted, total = self.found.casefold(), len(self.parts)
        for distance in range(first, total + first):
            place = (self.list.place + step * distance) % total
            part = self.parts[place]
            if wanted in f"{part.name}\n{part.body}".casefold():
                self.list.go(place)
                self._show_part(place)
                again = sum(wanted in f"{p.name}\n{p.body}".casefold() for p in self.parts)
                self.say(f"“{self.found}” stands in {again} of {total}; n goes on")
                return
        self.refuse(f"“{self.found}” stands nowhere in this version.")

    # --- versions -----------------------------------------------------------------------

    async def do_side_versions(self) -> None:
        """Choose which version to read."""
        if not self.versions or self.shown is None:
            return
        options = [
            (f"Version {one.version}", by_words(one), str(one.version))
            for one in reversed(self.versions)
        ]
        chosen = await self.choose_from("Versions", options, start=str(self.shown.version))
        if chosen is not None:
            await self.load(int(chosen))
            self.say("d shows what changed; v goes back to another one")

    def do_side_difference(self) -> None:
        """Show what changed between the version shown and the one that holds.

        Of the one that holds: since the one before.
        """
        if self.shown is None:
            return
        last = self.versions[-1]
        earlier = self.versions[-2] if self.shown.version == last.version else self.shown
        found = changes_of(earlier.body, last.body)
        title = f"From version {earlier.version} to version {last.version}"
        self.show_text(title, "\n".join(change_lines(found)) or "Only white space changed.")
