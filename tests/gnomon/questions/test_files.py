"""Files of questions in every format: read alike, and refused with all their faults at once."""

import base64
import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from gnomon.benchmarks.questions import questions
from gnomon.benchmarks.questions.benchmark import Questions
from gnomon.benchmarks.questions.question import displayed_in
from gnomon.benchmarks.questions.scorers.scorers import SCORERS
from gnomon.core.clusters import cluster_names
from gnomon.core.errors import DataError, FaultyFile, NotFound, SpecError
from gnomon.core.sample import ImageRef, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from tests.numbered import write_clip

ROWS: list[dict[str, Any]] = [
    {"id": "north", "question": "Which way\nis north?", "A": "up", "B": "down", "answer": "A", "task": "map"},
    {"id": "far", "question": 'How "far", in m?', "answer": "12", "scorer": '{"number": {"unit": "m"}}'},
    {"id": "name", "question": "Wie heißt der Platz?", "answer": '["Markt", "市場"]', "cluster": "de"},
]


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8-sig")


def write_json(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text(json.dumps({"questions": rows}), encoding="utf-8")


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter=delimiter, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)


def write_semicolons(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    write_csv(path, rows, ";")


def write_tsv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    write_csv(path, rows, "\t")


pytestmark = pytest.mark.usefixtures("parquet_read_here")


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: [row.get(name) for row in rows] for name in columns})
    pq.write_table(table, path, row_group_size=2)


Writer = Callable[[Path, Sequence[Mapping[str, Any]]], None]
FORMATS: list[tuple[str, Writer]] = [
    ("questions.jsonl", write_jsonl),
    ("questions.json", write_json),
    ("questions.csv", write_csv),
    ("semicolons.csv", write_semicolons),
    ("questions.tsv", write_tsv),
    ("questions.parquet", write_parquet),
]


def opened(
    path: Path,
    *,
    benchmark: Any = questions,
    protocol: Any = "official",
    **select: Any,
) -> Any:
    media = MediaStore(path.parent / "media" if path.is_file() else path / "media")
    return benchmark.open(data=path, select=Select(**select), protocol=protocol, media=media)


def samples_of(path: Path, **options: Any) -> dict[str, Sample]:
    samples = opened(path, **options)
    return {ref.sample_id: samples.get(ref.sample_id) for ref in samples.refs}


def prompt(sample: Sample) -> str:
    return "\n".join(part.content for part in sample.parts if isinstance(part.content, str))


def pictures(sample: Sample) -> list[ImageRef]:
    return [part.content for part in sample.parts if isinstance(part.content, ImageRef)]


def png(colour: str = "red", kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), colour).save(out, format=kind)
    return out.getvalue()


def faults_of(path: Path, **options: Any) -> list[str]:
    with pytest.raises(FaultyFile) as refused:
        opened(path, **options)
    assert refused.value.field == "data"
    return refused.value.message.splitlines()


@pytest.mark.parametrize(("name", "write"), FORMATS, ids=[name for name, _ in FORMATS])
def test_every_format_gives_the_same_questions(name: str, write: Writer, tmp_path: Path) -> None:
    write(tmp_path / name, ROWS)
    samples = samples_of(tmp_path)
    assert set(samples) == {"north", "far", "name"}
    north, far, square = samples["north"], samples["far"], samples["name"]
    assert "Question: Which way\nis north?\nOptions:\nA. up\nB. down\n" in prompt(north)
    assert 'How "far", in m?' in prompt(far)
    assert questions.score(north, "A", scoring="strict").value == 1
    assert questions.score(far, "Answer: 0.012 km", scoring="strict").value == 1
    assert questions.score(square, "市場", scoring="strict").value == 1
    assert [sample.ref.task for sample in (north, far)] == ["map", "question"]
    assert [sample.ref.cluster for sample in (north, square)] == ["north", "de"]


def test_a_list_of_options_lists_of_answers_and_names_that_are_common_elsewhere_are_read(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "index": 7,
            "question": "Where?",
            "choices": ["here", "there"],
            "answer": "There",
            "category": "place",
        },
        {"index": 8, "question": "Who?", "hint": "Two people.", "answer": ["Ann", "Bob"], "scorer": "set"},
    ]
    write_jsonl(tmp_path / "q.jsonl", rows)
    samples = samples_of(tmp_path)
    assert samples["7"].ref.cell == "place"
    assert displayed_in(samples["7"]).gold == "B"
    assert prompt(samples["8"]).startswith("Two people.\nQuestion: Who?")


@pytest.mark.parametrize(("name", "write"), FORMATS)
def test_letters_that_options_carry_are_shown_once_in_every_format(
    name: str, write: Writer, tmp_path: Path
) -> None:
    row = {
        "id": "v",
        "question": "Where?",
        "A": "A. back-right",
        "B": "B. back-left",
        "answer": "B. back-left",
    }
    write(tmp_path / name, [row])
    sample = samples_of(tmp_path)["v"]
    assert "Options:\nA. back-right\nB. back-left\n" in prompt(sample)
    assert questions.score(sample, "B", scoring="strict").value == 1
    write(tmp_path / name, [row, {**row, "id": "w", "A": "back-right"}])
    [fault] = faults_of(tmp_path)[1:]
    assert "options: carry the letters none, B; allowed: all carry theirs in order (A, B, …)" in fault


@pytest.mark.parametrize(("name", "write"), [FORMATS[0], FORMATS[-1]])
def test_choices_beside_their_labels_are_read_with_their_key(
    name: str, write: Writer, tmp_path: Path
) -> None:
    choices = {"text": ["ice", "steam", "water"], "label": ["1", "2", "3"]}
    write(tmp_path / name, [{"id": "arc", "question": "What is it?", "choices": choices, "answerKey": "2"}])
    benchmark = questions.reading({"answer": "answerKey"}, None)  # type: ignore[attr-defined]
    sample = samples_of(tmp_path, benchmark=benchmark)["arc"]
    assert "A. ice\nB. steam\nC. water\n" in prompt(sample)
    assert displayed_in(sample).gold == "B"


def test_the_cases_of_letters_and_indices_are_read_as_they_are_meant(cases_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "lettered-options.jsonl"  # pictures would be kept beside it
    path.write_bytes((cases_dir / path.name).read_bytes())
    samples = samples_of(path, protocol="guarded")
    for sample in samples.values():
        lines = prompt(sample).splitlines()
        options = lines[lines.index("Options:") + 1 :][:4]
        assert [line[:3] for line in options] == ["A. ", "B. ", "C. ", "D. "]
        assert not any(line[3:5] in ("A.", "B.", "C.", "D.") for line in options)
        assert questions.score(sample, displayed_in(sample).gold, scoring="strict").value == 1
    path = tmp_path / "index-or-text.jsonl"
    path.write_bytes((cases_dir / path.name).read_bytes())
    faults = faults_of(path)
    assert len(faults) == 3
    assert all("as an index from 0" in fault and "as the text '1'" in fault for fault in faults[1:])


def test_columns_have_the_names_that_the_spec_gives_them(tmp_path: Path) -> None:
    write_csv(tmp_path / "q.csv", [{"prompt": "How far?", "gold": "5", "question": "no", "nr": "x"}])
    benchmark = questions.reading({"question": "prompt", "answer": "gold", "id": "nr"}, "number")  # type: ignore[attr-defined]
    sample = samples_of(tmp_path, benchmark=benchmark)["x"]
    assert "Question: How far?" in prompt(sample)
    assert benchmark.score(sample, "5.0", scoring="strict").value == 1
    with pytest.raises(
        DataError, match="has no column 'goold'; it has: prompt, gold, question, nr"
    ) as refused:
        opened(tmp_path, benchmark=questions.reading({"answer": "goold"}, None))  # type: ignore[attr-defined]
    assert refused.value.field == "columns.answer"


def test_a_file_without_a_needed_column_is_told_once_with_what_it_has(tmp_path: Path) -> None:
    write_csv(tmp_path / "q.csv", [{"question": "How far?", "truth": "5"}] * 3)
    with pytest.raises(
        DataError, match=r"has no column 'answer'; it has: question, truth\. Say which"
    ) as refused:
        opened(tmp_path)
    assert not isinstance(refused.value, FaultyFile)


def test_everything_wrong_with_a_file_is_told_together_by_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "broken.png").write_bytes(b"no picture")
    lines = [
        {
            "id": "a",
            "question": "Q",
            "options": ["x", "y"],
            "answer": "z",
            "images": ["pics\\gone.png", "broken.png"],
        },
        {"id": "a", "answer": 5, "scorer": {"numbr": {}}},
        {"id": "b", "question": "Q", "options": ["x", "x"], "answer": "x", "images": "../secret.png"},
        {"id": "c", "question": "Q", "answer": "a", "images": "https://example.org/a.png", "video": "no.mp4"},
        {"id": "d", "question": "Q", "answer": "a", "scene": "no.geojson", "tags": 5},
        {"id": "e", "question": "Q", "answer": "a", "scene": {"type": "FeatureCollection"}},
        {"id": "f\u0007", "question": ["Q"], "answer": "\ud800"},
        {"id": "g", "question": "Q", "answer": "a", "images": "x" * 100},
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / "q.jsonl").write_bytes(
        f"{text}\n{{bad\n[1]\n[2]\n[3]\n[4]\n".encode() + b'{"question": "caf\xe9"}\n'
    )
    head, *faults = faults_of(folder)
    assert head == "q.jsonl: 23 faults in 14 of 14 lines"
    assert faults[-1] == "  and 3 more"
    assert len(faults) == 21
    assert faults[:8] == [
        "  line 1: answer: 'z' is not among the options; allowed: A, B, or the text of one",
        r"  line 1: images: no file 'pics\\gone.png' in the folder of the questions; write / between folders",
        "  line 1: images: 'broken.png' is no picture; allowed: PNG, JPEG, WEBP, GIF, BMP, TIFF",
        "  line 2: question: is missing or empty",
        f"  line 2: scorer: no 'numbr'; allowed: {', '.join(SCORERS)}",
        "  line 2: id: 'a' is also that of line 1",
        "  line 3: options: options A and B are the same text 'x'",
        "  line 3: images: no file '../secret.png' in the folder of the questions",
    ]
    for words in (
        "line 4: images: 'https://example.org/a.png' is an address; pictures are read from files",
        "line 4: video: no file 'no.mp4'",
        "line 5: scene: no file 'no.geojson'",
        "line 5: tags: is no list of words",
        "line 6: scene: gnomon: Field required",
        "line 7: id: holds a control character",
        "line 7: question: is no text but list",
        "line 7: answer: holds what no database can hold",
        "line 8: images: an embedded picture is no picture",
    ):
        assert any(words in fault for fault in faults), words


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.csv", b"question,answer\na,b,c\nd,e\n", "line 2: has 3 fields where the header names 2"),
        ("q.csv", b'question,answer\na,b\n"d,e\nf,g\n', "line 3: cannot be read: unexpected end of data"),
        ("q.csv", b"question,answer\ncaf\xe9,b\n", "line 2: is not UTF-8: byte 0xe9 at 4"),
        ("q.json", b'[{"question": "Q", "answer": "a"}, 5]', "entry 2: is no object but int"),
        ("q.jsonl", b'{"question": "Q", "answer": NaN}', "line 1: is no JSON: NaN is no JSON number"),
        ("q.jsonl", b"[" * 100_000, "line 1: is no JSON"),
    ],
)
def test_rows_that_cannot_be_read_are_named(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert any(words in fault for fault in faults_of(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.csv", "question,answer\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("q.csv", b"", "has no header"),
        ("q.csv", b"question,answer,answer\n", "has two columns 'answer'"),
        ("q.csv", b"question,answer\n", "holds no questions"),
        ("q.json", b'{"a": 1}', "is no list of questions"),
        ("q.json", b"[1,", "is no JSON"),
        ("q.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_is_none_is_refused(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=words):
        opened(tmp_path)


def test_a_folder_needs_one_file_of_questions(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no file of questions"):
        opened(tmp_path)
    write_jsonl(tmp_path / "b.jsonl", ROWS)
    write_jsonl(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(DataError, match=r"holds several files: a.jsonl, b.jsonl; name the one"):
        opened(tmp_path)
    write_jsonl(tmp_path / "questions.jsonl", ROWS[:1])
    assert list(samples_of(tmp_path)) == ["north"]
    assert len(samples_of(tmp_path / "b.jsonl")) == 3


def test_pictures_are_paths_base64_records_or_those_of_another_row(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(png())
    inline = base64.b64encode(png("blue", "JPEG")).decode()
    rows = [
        {"id": 1, "question": "Q", "answer": "a", "image": inline},
        {"id": 2, "question": "Q", "answer": "a", "image": "1"},
        {
            "id": 3,
            "question": "Q",
            "answer": "a",
            "image": ["pictures/a.png", f"data:image/jpeg;base64,{inline}"],
        },
        {"id": 4, "question": "Q", "answer": "a", "image": {"bytes": None, "path": "pictures/a.png"}},
        {"id": 5, "question": "Q", "answer": "a", "image": base64.b64encode(png("green", "BMP")).decode()},
        {"id": 6, "question": "Q", "answer": "a"},
    ]
    write_jsonl(tmp_path / "q.jsonl", rows)
    samples = samples_of(tmp_path)
    counts = {sample_id: len(pictures(sample)) for sample_id, sample in samples.items()}
    assert counts == {"1": 1, "2": 1, "3": 2, "4": 1, "5": 1, "6": 0}
    assert pictures(samples["1"]) == pictures(samples["2"])
    assert pictures(samples["5"])[0].media_type == "image/png"
    assert "Picture 2 of 2:" in prompt(samples["3"])
    assert pictures(samples["3"])[0] == pictures(samples["4"])[0]
    kin = {sample_id: sample.ref.cluster for sample_id, sample in samples.items()}
    assert kin["1"] == kin["3"] == kin["4"]
    assert len(set(kin.values())) == 3


def test_questions_that_use_the_pictures_of_a_row_are_its_kin(tmp_path: Path) -> None:
    inline = base64.b64encode(png()).decode()
    rows = [
        {"id": number, "question": "Q", "answer": "a", "image": inline if number == 1 else "1"}
        for number in (1, 2, 3)
    ]
    write_tsv(tmp_path / "q.tsv", rows)
    samples = samples_of(tmp_path)
    assert len({sample.ref.cluster for sample in samples.values()}) == 1


def test_pictures_in_parquet_are_bytes(tmp_path: Path) -> None:
    rows = [{"question": "Q", "answer": "a", "image": {"bytes": png(), "path": "a.png"}}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "q.parquet")
    assert len(pictures(samples_of(tmp_path)["1"])) == 1


def test_a_clip_is_shown_as_frames_and_given_to_tools(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", frames=20)
    write_jsonl(tmp_path / "q.jsonl", [{"id": "c", "question": "Q", "answer": "a", "video": "clip.mp4"}])
    sample = samples_of(tmp_path, frames=4)["c"]
    assert len(pictures(sample)) == 4
    assert sample.footage is not None
    assert questions.question_view(sample).clips  # type: ignore[attr-defined]


def test_a_file_that_changes_after_it_was_opened_is_not_read_on(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "q.jsonl", ROWS)
    samples = opened(tmp_path)
    write_jsonl(tmp_path / "q.jsonl", ROWS[1:])
    with pytest.raises(DataError, match="has changed since the job opened it"):
        samples.get("north")
    with pytest.raises(NotFound):
        samples.get("nowhere")


def test_of_many_rows_only_names_are_kept(tmp_path: Path) -> None:
    long = "word " * 2_000
    write_jsonl(tmp_path / "q.jsonl", [{"question": long, "answer": str(number)} for number in range(200)])
    samples = opened(tmp_path, limit=5)
    assert len(samples.refs) == 5
    assert isinstance(questions, Questions)
    assert not any(long in repr(entry) for entry in samples.file.entries.values())


def test_a_row_without_a_column_names_those_that_may_be_meant(tmp_path: Path) -> None:
    rows = [
        {"question": "Q", "Answer": "x", "note": "n"},
        {"question": "Q", "answer": "", "note": "n"},
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert faults_of(tmp_path / "q.jsonl")[1:] == [
        "  line 1: answer: is missing; where the file calls it otherwise (Answer, note?), `columns` says so",
        "  line 2: answer: is missing or empty",
    ]


def test_cells_without_a_value_are_empty_and_separators_of_other_kinds_stay_in_texts(tmp_path: Path) -> None:
    nan = float("nan")
    rows = [
        {"question": "Q", "answer": 1.5, "task": None, "options": None},
        {"question": "Q\u2028R\x0cS", "answer": nan, "task": "t", "options": {"A": "x", "B": "y", "C": None}},
    ]
    write_parquet(tmp_path / "q.parquet", rows)
    assert faults_of(tmp_path / "q.parquet")[1:] == ["  row 2: answer: is missing or empty"]
    rows[1]["answer"] = 1.0
    assert any("'1.0' could be B as an index from 0" in fault for fault in [*faults_again(tmp_path, rows)])
    write_csv(tmp_path / "q.csv", [{"question": "Q\u2028R\x0cS", "answer": "a"}])
    assert "Q\u2028R\x0cS" in prompt(samples_of(tmp_path / "q.csv")["2"])


def faults_again(folder: Path, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    write_parquet(folder / "q.parquet", rows)
    return faults_of(folder / "q.parquet")


def clusters_of(path: Path, columns: Mapping[str, Any] | None = None) -> dict[str, tuple[str, ...]]:
    samples = opened(path, benchmark=Questions().reading(columns or {}, None))
    return {ref.sample_id: cluster_names(ref.cluster) for ref in samples.refs}


def asked(**row: Any) -> dict[str, Any]:
    return {"question": f"Which way, {row['id']}?", "answer": "north", **row}


@pytest.mark.parametrize(("name", "write"), FORMATS)
def test_questions_may_be_kin_by_several_factors(name: str, write: Writer, tmp_path: Path) -> None:
    named = {"a": ("s1", "t1"), "b": ("s1", "t2"), "c": ("", "t1")}
    write(tmp_path / name, [asked(id=each, place=place, form=form) for each, (place, form) in named.items()])
    found = clusters_of(tmp_path / name, {"cluster": ("place", "form")})
    assert found == {"a": ("s1", "t1"), "b": ("s1", "t2"), "c": ("c", "t1")}


def test_a_row_may_list_its_clusters_and_what_it_shows_fills_the_first(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    rows = [
        asked(id="a", cluster=["s1", "t1"]),
        asked(id="b", cluster='["s1", "t2"]'),
        asked(id="c", cluster=["", "t1"], images="x.png"),
        asked(id="d", images="x.png"),
        asked(id="e"),
    ]
    write_jsonl(tmp_path / "mine.jsonl", rows)
    found = clusters_of(tmp_path / "mine.jsonl")
    assert (found["a"], found["b"], found["e"]) == (("s1", "t1"), ("s1", "t2"), ("e", "e"))
    assert found["c"][0] == found["d"][0] != "c"
    assert (found["c"][1], found["d"][1]) == ("t1", "d")


def test_factors_of_other_number_or_kind_are_faults(tmp_path: Path) -> None:
    rows = [
        asked(id="a", cluster=["s1", "t1"]),
        asked(id="b", cluster="s1"),
        asked(id="c", cluster=[{}, "t"]),
    ]
    write_jsonl(tmp_path / "mine.jsonl", rows)
    with pytest.raises(FaultyFile) as fault:
        clusters_of(tmp_path / "mine.jsonl")
    assert "line 3: cluster: has 1 names where line 1 has 2" in fault.value.message
    assert "line 5: cluster: is no text but list" in fault.value.message


@pytest.mark.parametrize("columns", [{"cluster": ()}, {"cluster": ("a", "a")}, {"task": ("a", "b")}])
def test_only_clusters_have_several_columns(columns: Mapping[str, Any]) -> None:
    with pytest.raises(SpecError, match="for `cluster` also a list of different ones"):
        Questions().reading(columns, None)


def test_a_factor_that_is_no_column_is_refused(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mine.jsonl", [asked(id="a", place="s")])
    with pytest.raises(DataError) as fault:
        clusters_of(tmp_path / "mine.jsonl", {"cluster": ("place", "form")})
    assert fault.value.field == "columns.cluster"
