"""How much of a question's words its answers share: the check of the labels, and the report.

Usage: python benchmarks/ranking/overlap.py

English words are compared by their Snowball stems, without function words, numbers as digits.
Korean words are cut back by their particles and endings, repeatedly and never below a syllable, and
then compared by their pairs of syllables. A `paraphrase` must share nothing with any answer, a
`lexical` question something with each. Exit code 1 if one does not hold.
"""

from __future__ import annotations

import re
import statistics
import sys
import unicodedata
from collections.abc import Callable

import snowballstemmer
from questions import LANGUAGES, Dataset, LabelledEntry, Question, load
from rich.console import Console
from rich.table import Table

Units = Callable[[str], set[str]]

_STEM = snowballstemmer.stemmer("english").stemWord
_ENGLISH_WORDS = """
a an the and or but if nor so as than then that this these those there here i me my mine
myself we us our ours ourselves you your yours he him his himself she her hers herself
it its itself they them their theirs who whom whose which what when where why how am is
are was were be been being do does did doing done have has had having will would shall
should can could may might must ought not no don doesn didn isn aren wasn weren won
wouldn couldn shouldn hasn haven hadn ain of in on at to for from with without by about
into onto over under up down out off through between against during before after until
while since because again also just only too very more most such same own some any all
each every both few other s t ll re ve d m
"""
_ENGLISH_STOP = set(_ENGLISH_WORDS.split())
_NUMBER_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty
"""
_NUMBERS = dict(
    zip(
        _NUMBER_WORDS.split(),
        map(str, range(21)),
        strict=True,
    )
)
_SUFFIX_LIST = """
은 는 이 가 을 를 의 에 에서 에게 한테 께 께서 으로 로 와 과 랑 이랑 하고 도 만 까지
부터 마다 마저 조차 보다 처럼 같이 밖에 뿐 이나 나 라도 이라도 든지 요 이요 에는 에도
에만 에게는 에게서 한테는 한테서 으로는 로는 으로도 이며 이고 이라 이라고 라고 라는
이라는 이다 입니다 이에요 예요 였다 이었다 이었고 였고 였지 였죠 였지요 였더라 이었지
이야 야 였어 지 죠 이지 이죠 였나요 인데 하다 한다 하는 하고 하기 하기로 하지 하면
하려고 하려면 해 해서 해야 했다 했고 했지 했죠 했더라 했었지 한 할 함 하며 하던 해요
합니다 되다 된다 되는 되고 되어 돼 돼서 됐다 됐고 됐지 됐죠 된 될 됨 되면 되게 되더라
되었다 다 는다 습니다 었다 았다 었고 았고 었지 았지 었죠 았죠 었더라 았더라 었던 았던 던
더라 고 어 아 어서 아서 어야 아야 어도 아도 면 으면 려고 으려고 려면 으려면 거나 지만
는데 은데 니 으니 기 기로 기에 음 게 도록 자고 자 네 냐 나요 지요 었지요 대 래 었어 았어
신다 시고 시는 셨다 셨고 들 들은 들이 들을 들과 들하고 씨 님 쯤 씩 짜리 때 때는 간 동안
"""
_SUFFIXES = sorted(
    _SUFFIX_LIST.split(),
    key=len,
    reverse=True,
)
_KOREAN_WORDS = """
있 없 하 되 돼 않 안 못 아니 것 거 게 걸 건 수 줄 데 적 점 뭐 뭘 뭣 무엇 무슨 어떤 어느
어떻 어떻게 어디 어디서 어디다 언제 누구 누가 왜 얼마 몇 며칠 나 내 내가 제 제가 저
나한테 우리 당신 그 그거 그게 이 이거 저거 그때 좀 다시 또 더 잘 다 및 때문 때문에 위해
대해 관련 이번 이번에 지금 지금은 그리고 그런데 그래서 했 됐 할 한 함 해 주 준 줘 달 둔
두었 둬 놨 싶 보 볼 봤 가 갈 간 갔 오 왔 온 와 말 말고 같 같은 라 고 지 때 뒤 후 년 월
일 시 분 원 개 번 명 알려 알려줘 알려주 라고 했지 였지 뭐였지 정도 쪽 중 매 각각 전부
"""
_KOREAN_STOP = set(_KOREAN_WORDS.split())
_KOREAN_PAIRS = """
기로 하기 라고 으로 에서 에게 까지 부터 려고 려면 다가 는데 지만 때문 하고 하는 하면
해서 했다 했지 였다 이고 니다 습니 입니 합니 이다 는다 았다 었다 았고 었고 에는 이랑
마다 어서 아서 고는 다고 자고 지는 아야 어야 해야 들이 들은 보다 하려 하지 하던 되던
되는 됐던 했던 않는 이라 라서 면서 다는 어떻 떻게 있는 있고 있지 없는 없이 없어 그만
기에 이나 들한
"""
_KOREAN_STOP_PAIRS = set(_KOREAN_PAIRS.split())
_WORD = re.compile(r"[가-힣]+|[A-Za-z][A-Za-z0-9]*|[0-9][0-9.,]*")


def english_units(text: str) -> set[str]:
    """Return the stems of a text's content words."""
    plain = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    plain = re.sub(r"(?<=\d)[,.](?=\d)", "", plain).replace("_", " ")
    words = (word for word in re.findall(r"[a-z]+|\d+", plain) if word not in _ENGLISH_STOP)
    return {_STEM(_NUMBERS.get(word, word)) for word in words}


def korean_units(text: str) -> set[str]:
    """Return the syllable pairs of a text's words without their endings, and its other words."""
    units: set[str] = set()
    for word in _WORD.findall(text):
        if not "가" <= word[0] <= "힣":
            units.add(word.lower().strip(".,"))
            continue
        stem = _cut(word)
        if stem and stem not in _KOREAN_STOP:
            pairs = {stem[at : at + 2] for at in range(len(stem) - 1)}
            units |= pairs or {stem}
    return units - _KOREAN_STOP_PAIRS


def _cut(word: str) -> str:
    while word not in _KOREAN_STOP:
        shorter = (word[: -len(s)] for s in _SUFFIXES if len(word) > len(s) and word.endswith(s))
        cut = next(shorter, None)
        if cut is None:
            return word
        word = cut
    return ""


UNITS: dict[str, Units] = {"en": english_units, "ko": korean_units}


def shared(question: Question, entry: LabelledEntry, units: Units) -> float:
    """Return which share of a question's units an entry has."""
    asked = units(question.question)
    return len(asked & units(f"{entry.content}\n{entry.description}")) / max(1, len(asked))


def faults(dataset: Dataset) -> list[str]:
    """Return the ids of questions whose label does not hold."""
    units = UNITS[dataset.language]
    entries = {entry.id: entry for entry in dataset.entries}
    found = []
    for question in dataset.questions:
        shares = [shared(question, entries[answer], units) for answer in question.answers]
        right = all(shares) if question.kind == "lexical" else not any(shares)
        if not right:
            found.append(question.id)
    return found


def main() -> int:
    """Print the report; return the exit code."""
    table = Table("language", "kind", "questions", "tune", "held", "mean share of words in answer")
    wrong: list[str] = []
    for language in LANGUAGES:
        dataset, units = load(language), UNITS[language]
        entries = {entry.id: entry for entry in dataset.entries}
        wrong += faults(dataset)
        for kind in ("paraphrase", "lexical"):
            asked = [each for each in dataset.questions if each.kind == kind]
            shares = [max(shared(q, entries[a], units) for a in q.answers) for q in asked]
            split = [sum(each.split == half for each in asked) for half in ("tune", "held")]
            mean = f"{statistics.mean(shares):.3f}"
            table.add_row(language, kind, str(len(asked)), *map(str, split), mean)
    Console().print(table)
    for name in wrong:
        print(f"label does not hold: {name}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
