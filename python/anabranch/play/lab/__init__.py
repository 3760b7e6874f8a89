"""A lab of 90 minutes on the playground: six exercises from one file, `course.toml`.

They are pages of the playground, notebooks (`notebooks`) and a teacher's page of answers
(`answers`), whose numbers come from runs (`measures`).
"""

from anabranch.play.lab.course import Exercise, course, exercises, setting

__all__ = ["Exercise", "course", "exercises", "setting"]
