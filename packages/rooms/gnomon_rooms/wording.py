"""The sentences of a question's prompt by which the solver knows it again."""

OPENING = "A question about a room. Each object in it has a box around it."
RELEASED_LETTER = "Answer with the option's letter from the given choices directly."
RELEASED_NUMBER = "Please answer the question using a single word or phrase."
