"""How a page's template reads its view."""

from gnomon_service.web.pages import environment


def test_a_view_is_looked_into_before_it_is_asked_for_an_attribute() -> None:
    text = "{{ view.name }} {{ view.items()|length }} {{ view['items'] }} {{ view.absent is defined }}"
    view = {"name": "a", "items": "b", "values": "c"}
    assert environment().from_string(text).render(view=view) == "a 3 b False"
