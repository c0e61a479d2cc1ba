"""Redaction: known shapes of secrets go, the same one always the same way, and ordinary text stays."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_state.redact import Redactor, redact_text, redact_value

RUN = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"  # 36 characters
SECRETS = {
    "openai-key": ["sk-test-ABCDEF0123456789abcdef", f"sk-{RUN}", f"sk-proj-{RUN}_{RUN}-x", f"sk-or-v1-{'0a' * 32}"],
    "anthropic-key": [f"sk-ant-api03-{RUN}-{RUN}AA"],
    "github-token": [f"ghp_{RUN}", f"gho_{RUN}", f"github_pat_11ABC_{RUN}"],
    "gitlab-token": ["glpat-aB3dE5fG7hJ9kL1mN3pQ"],
    "slack-token": ["xoxb-123456789012-abcdefABCDEF", "xapp-1-A0123-456-abcdef0123"],
    "aws-key": ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
    "google-key": [f"AIza{RUN[:35]}"],
    "google-token": [f"ya29.{RUN}"],
    "stripe-key": ["sk_live_aB3dE5fG7hJ9kL1m"],
    "huggingface-token": [f"hf_{RUN}"],
    "npm-token": [f"npm_{RUN}"],
    "pypi-token": [f"pypi-AgEIcHlwaS5vcmc{RUN}"],
    "sendgrid-key": [f"SG.{RUN[:22]}.{RUN}"],
    "api-key": [f"gsk_{RUN}", f"xai-{RUN}", f"r8_{RUN}"],
    "telegram-token": ["123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
    "private-key": [
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\\n-----END OPENSSH PRIVATE KEY-----",
    ],
}
NAMED = [
    ("password: hunter2!", "hunter2!", "password"),
    ("password=swordfish", "swordfish", "password"),
    ("DB_PASSWORD=Tr0ub4dor&3", "Tr0ub4dor", "password"),
    ('{"api_key": "abcd1234efgh"}', "abcd1234efgh", "secret"),
    ('{"args": "{\\"password\\": \\"hunter2\\"}"}', "hunter2", "password"),
    ("export GITHUB_TOKEN=abc123def456", "abc123def456", "secret"),
    ("client_secret: 'q8w7e6r5t4'", "q8w7e6r5t4", "secret"),
    ("curl -H 'Authorization: Bearer 0123456789abcdef0123'", "0123456789abcdef0123", "token"),
    ("Authorization: Basic YW5uOmh1bnRlcjI=", "YW5uOmh1bnRlcjI=", "token"),
    ("postgres://ann:hunter2@db.example.org/app", "hunter2", "password"),
    ("mysql --password hunter2x -u ann", "hunter2x", "password"),
    ("my api key is sk-test-ABCDEF0123456789abcdef ok", "sk-test-ABCDEF0123456789abcdef", "openai-key"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG", "secret"),
    ("the password is correct7horse", "correct7horse", "password"),
    ("https://hooks.slack.com/services/T000/B000/XXXXabcd1234", "XXXXabcd1234", "slack-webhook"),
]
ORDINARY = [
    "commit 3cd221c6d2a1f0b9e8d7c6b5a4f3e2d1c0b9a8f7 fixes it",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "pip install sk-learn scikit-learn sk-learn-contrib-extensions",
    "the disk-0123456789abcdef0123 and task-aB3dE5fG7hJ9kL1mN3pQ",
    "def login(password: str, token: Optional[str] = None) -> Token:",
    "token = get_token()\npassword = os.environ['PASSWORD']",
    "self.api_key = api_key; config.password",
    "password: string, required",
    "Enter your password: ",
    "api_key=YOUR_API_KEY and api_key=<your key> and password=${DB_PASSWORD} and token=***",
    "max_tokens: 4096, token_count=1234567",
    "PWD=/home/ann/project1",
    "10:30:45 and 2026-01-02T03:04:05, ratio 12345678:1",
    "https://example.org/a:b@c and mail ann@example.org, git@github.com:ann/repo.git",
    "the secret is out; the token is the smallest unit; a key idea",
    "Bearer authentication is a mechanism",
    "keyboard: qwerty123 monkey: abc12345",
    "AKIA is a prefix, AIza too, ghp_ as well, xoxb- is Slack's",
    "请把密码改掉，token 用完了",
]


@pytest.mark.parametrize(("kind", "secret"), [(kind, secret) for kind, all_ in SECRETS.items() for secret in all_])
def test_a_known_shape_is_replaced_and_the_words_around_stay(kind: str, secret: str) -> None:
    text = f"please use {secret}\nfor the zebra deploy"
    cleaned = redact_text(text)
    assert re.fullmatch(rf"please use \[redacted:{kind}:[0-9a-f]{{8}}\]\nfor the zebra deploy", cleaned)
    assert redact_text(f"again: {secret}").endswith(cleaned.split("use ")[1].split("\n")[0])


@pytest.mark.parametrize(("text", "secret", "kind"), NAMED)
def test_a_secret_that_a_name_or_place_tells_is_replaced(text: str, secret: str, kind: str) -> None:
    cleaned = redact_text(text)
    assert secret not in cleaned
    assert f"[redacted:{kind}:" in cleaned


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact_text(text) == text


def test_a_key_without_its_end_is_replaced_to_the_end() -> None:
    assert redact_text("x -----BEGIN PRIVATE KEY-----\nMIIE\nabc").startswith("x [redacted:private-key:")
    assert "MIIE" not in redact_text("x -----BEGIN PRIVATE KEY-----\nMIIE\nabc")


def test_two_keys_are_two_placeholders() -> None:
    one = "-----BEGIN PRIVATE KEY-----\naaa\n-----END PRIVATE KEY-----"
    two = "-----BEGIN PRIVATE KEY-----\nbbb\n-----END PRIVATE KEY-----"
    assert len(set(re.findall(r"\[redacted:\S+\]", redact_text(f"{one}\nand {two}")))) == 2


def test_nested_values_are_copied_and_named_ones_replaced_whole() -> None:
    given_ = {
        "arguments": json.dumps({"cmd": "deploy", "password": "hunter2"}),
        "env": [{"API_KEY": "plainwords", "HOME": "/home/ann"}, f"ghp_{RUN}"],
        "config": {"accessToken": "abcdefgh", "token": None, "tokens": 12, "password": ""},
        "n": 1,
        "ok": True,
    }
    before = json.dumps(given_)
    cleaned = redact_value(given_)
    assert json.dumps(given_) == before
    assert json.loads(cleaned["arguments"])["cmd"] == "deploy"
    assert "hunter2" not in cleaned["arguments"]
    assert cleaned["env"][0]["API_KEY"].startswith("[redacted:secret:")
    assert cleaned["env"][0]["HOME"] == "/home/ann"
    assert cleaned["env"][1].startswith("[redacted:github-token:")
    assert cleaned["config"]["accessToken"].startswith("[redacted:secret:")
    assert (cleaned["config"]["token"], cleaned["config"]["tokens"], cleaned["config"]["password"]) == (None, 12, "")
    assert (cleaned["n"], cleaned["ok"]) == (1, True)


def test_secrets_are_counted() -> None:
    redactor = Redactor()
    redactor.value([f"ghp_{RUN} and ghp_{RUN}", {"password": "hunter2"}])
    assert redactor.count == 3


@given(st.text(max_size=300))
def test_redacting_twice_is_redacting_once_and_nothing_raises(text: str) -> None:
    assert redact_text(redact_text(text)) == redact_text(text)


@given(st.sampled_from([s for all_ in SECRETS.values() for s in all_] + [text for text, _, _ in NAMED]), st.text())
def test_redacting_twice_is_redacting_once_with_secrets(secret: str, around: str) -> None:
    once = redact_text(f"{around} {secret} {around}")
    assert redact_text(once) == once


def test_a_large_text_is_quick() -> None:
    import time

    text = ("the quick brown fox keeps the key and a token for the password of the door " * 14_000)[:1_000_000]
    started = time.process_time()
    assert redact_text(text) == text
    assert redact_text("a" * 1_000_000) == "a" * 1_000_000
    assert redact_text("sk-" * 300_000) == "sk-" * 300_000
    assert redact_text("a_" * 500_000 + "token") == "a_" * 500_000 + "token"
    assert time.process_time() - started < 10
