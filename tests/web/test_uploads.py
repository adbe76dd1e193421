"""A person uploads questions on the page of a new job, maps their columns, sees faults, and runs them."""

import json
import os
from collections.abc import Callable

import yaml
from playwright.sync_api import Page, Route, expect

from tests.service.test_uploads import CSV, picture, zipped
from tests.web.conftest import Site, Visit

Open = Callable[..., Visit]


def chosen(page: Page, name: str, data: bytes) -> None:
    """Choose a file, as a person does in the system's dialog."""
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})


def spec_on(page: Page) -> dict[str, object]:
    return yaml.safe_load(page.locator("#yaml").input_value())


def test_a_file_is_uploaded_mapped_previewed_and_run(site: Site, visit: Open) -> None:
    page = visit(site).open("/ui/new")
    page.locator("#upload-fold > summary").click()
    chosen(page, "exam.csv", CSV)
    expect(page.locator("#answer")).to_contain_text("choose the column that holds the question")
    assert page.locator("#benchmark").input_value() == "questions"
    field = page.locator("[id='columns.question']")
    expect(field.locator("option").nth(2)).to_have_text("prompt: Which way is the tower?")
    field.select_option("prompt")
    expect(page.locator("#answer")).to_contain_text("choose the column that holds the right answer")
    page.locator("[id='columns.answer']").select_option("gold")
    expect(page.locator("#answer")).to_contain_text("4 trials, at no cost")
    expect(page.locator(".asked li")).to_have_count(2)
    expect(page.locator(".asked")).to_contain_text("Which way is the gate?")
    assert spec_on(page)["columns"] == {"question": "prompt", "answer": "gold"}
    field.select_option("")
    expect(page.locator("#yaml")).not_to_contain_text("question: prompt")
    field.select_option("prompt")
    expect(page.locator("#answer")).to_contain_text("4 trials")
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/upload.png", full_page=True)
    page.locator("#run").click()
    job = site.store.jobs().items[0]
    assert page.url == f"{site.url}/ui/jobs/{job.id}"
    assert (str(job.spec.data)[:7], job.counts.planned) == ("upload:", 4)


def test_nothing_is_typed_or_run_while_a_file_is_sent(site: Site, visit: Open) -> None:
    page, held = visit(site).open("/ui/new"), list[Route]()
    page.route("**/ui/new/upload", lambda route: held.append(route))
    page.locator("#upload-fold > summary").click()
    with page.expect_request("**/ui/new/upload"):
        chosen(page, "exam.csv", CSV)
    form = page.locator("#new-job")
    expect(form).to_have_attribute("inert", "")
    held[0].continue_()
    page.unroute("**/ui/new/upload")  # other tests take the tab
    expect(page.locator("#answer")).to_contain_text("choose the column that holds the question")
    expect(form).not_to_have_attribute("inert", "")


def test_faults_stand_by_line_and_a_file_that_was_mended_takes_its_place(site: Site, visit: Open) -> None:
    page = visit(site).open("/ui/new")
    lines = [{"question": "Which way?", "options": ["north", "south"], "answer": "west"}]
    chosen(page, "exam.jsonl", json.dumps(lines[0]).encode())
    expect(page.locator("[id='data-error']")).to_contain_text(
        "line 1: answer: 'west' is not among the options"
    )
    mended = json.dumps({**lines[0], "answer": "north", "images": "a.png"}).encode()
    chosen(page, "exam.zip", zipped({"exam.jsonl": mended, "a.png": picture()}))
    expect(page.locator("#answer")).to_contain_text("2 trials")
    expect(page.locator(".asked img")).to_have_count(1)


def test_what_is_no_file_of_questions_is_said_beside_the_file(site: Site, visit: Open) -> None:
    page = visit(site).open("/ui/new")
    chosen(page, "exam.zip", b"no zip")
    expect(page.locator("#file-error")).to_contain_text("the zip cannot be unpacked")
    chosen(page, "exam.ods", b"PK")
    expect(page.locator("#file-error")).to_contain_text("save it as .xlsx")


def test_without_script_the_button_uploads(site: Site, visit: Open) -> None:
    page = visit(site, script=False).open("/ui/new")
    page.locator("#upload-fold > summary").click()
    page.locator("[id='arms.1.name']").fill("with tools")
    chosen(page, "exam.csv", CSV.replace(b"prompt,gold", b"question,answer"))
    page.locator("#upload").click()
    expect(page.locator("#answer")).to_contain_text("4 trials")
    assert page.locator("[id='arms.1.name']").input_value() == "with tools"
