from __future__ import annotations

import pytest

from ultracontext.agents.codex.wrappers import developer_name, is_media_tag, wrapper_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<user_instructions>\n\n# Rules\n</user_instructions>", "user_instructions"),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n</INSTRUCTIONS>", "agents_md"),
        ("  <environment_context>\n<cwd>/w</cwd>\n", "environment_context"),
        ("<turn_aborted>\nThe user interrupted\n</turn_aborted>", "turn_aborted"),
        ("<SUBAGENT_NOTIFICATION>{}</SUBAGENT_NOTIFICATION>", "subagent_notification"),
        ("<permissions instructions>x</permissions instructions>", "permissions_instructions"),
        ('<hook_prompt hook_run_id="1">x</hook_prompt>', "hook_prompt"),
        ("<brand_new_context>x</brand_new_context>\n", "brand_new_context"),
        ("Another language model started to solve this problem and", "compaction_summary"),
        ("Warning: apply_patch was requested via exec_command. Use", "warning"),
    ],
)
def test_what_the_program_puts_in_is_told(text: str, name: str) -> None:
    assert wrapper_name(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "Fix the sum",
        "<div>hello</div>",
        "<b>bold</b> move",
        "a < b > c",
        "# Heading",
        "",
        "<my_tag> is not closed",
        "What is <environment_context>?",
        "Warning: this is mine",
        "<",
        "<unclosed_",
    ],
)
def test_what_a_person_types_is_not(text: str) -> None:
    assert wrapper_name(text) is None


def test_developer_messages_are_named_by_their_tag() -> None:
    assert developer_name("<permissions instructions>\n…") == "permissions_instructions"
    assert developer_name("You are Codex") == "developer"


def test_media_tags_are_told() -> None:
    assert is_media_tag('<image name=[Image #1] path="/a b/shot.png">')
    assert is_media_tag("</image>\n")
    assert is_media_tag("<image>")
    assert not is_media_tag("<image of a cat")
    assert not is_media_tag("<images>")
