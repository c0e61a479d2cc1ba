"""Names in every script: found, told apart, and known again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import holographic_sets as sets
from memory.providers.holographic.aliases import Alias, aliases
from memory.providers.holographic.entities import KINDS, extract, mentions, normalise


def names(text):
    return [entity.name for entity in extract(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I don't like it and won't change that.", []),
        ("Alice Novak met Guido van Rossum at NASA.", ["Alice Novak", "Guido van Rossum", "NASA"]),
        ("Yesterday Dana moved GitHub to PostgreSQL.", ["Dana", "GitHub", "PostgreSQL"]),
        ("José Álvarez and Siobhán O'Brien live in São Paulo.", ["José Álvarez", "Siobhán O'Brien", "São Paulo"]),
        ("Dana administers Acme's repo.", ["Dana", "Acme"]),
        ("C++, C# and .NET are fine, counter++ is not.", ["C++", "C#", ".NET"]),
        ("K8s, gRPC and snake_case in payments-api", ["K8s", "gRPC", "snake_case", "payments-api"]),
        ("mail a@b.co or see https://x.io/a?b, @bob, #launch", ["a@b.co", "https://x.io/a?b", "@bob", "#launch"]),
        ("The config is in /etc/nginx/nginx.conf now", ["/etc/nginx/nginx.conf"]),
        ('They call it "the blue room" here', ["the blue room"]),
        ("Anne-Marie Dubois works on Mondays in March.", ["Anne-Marie Dubois"]),
        ("In New York, Project Bluebird was stopped.", ["New York", "Project Bluebird"]),
        ("Die Katze von Benedikt schläft, und das ist nicht gut.", ["Benedikt"]),
        ("Анна Каренина живёт в городе", ["Анна Каренина"]),
        ("Ο Νίκος μένει εδώ με την Ελένη", ["Νίκος", "Ελένη"]),
        ("王小明在清华大学担任数据工程师。", ["王小明", "清华大学"]),
        ("欧阳锋和李娜住在上海。", ["欧阳锋", "李娜", "上海"]),
        ("用户的时间和金额都在文件里", []),
        ("协和医院在《红楼梦》附近", ["协和医院", "红楼梦"]),
        ("支付API用的是C++", ["支付API", "C++"]),
        ("昨年、高橋さくらは東京都の楽天でデータを見た。", ["高橋さくら", "東京都", "楽天"]),
        ("ジョン・スミスさんは株式会社アクメで働く。", ["ジョン・スミス", "株式会社アクメ"]),
        ("김민수는 서울에서 삼성전자에 다닌다.", ["김민수", "서울", "삼성전자"]),
        ("남궁민이 불사조 프로젝트를 시작했다.", ["남궁민", "불사조 프로젝트"]),
        ("السيد أحمد في شركة النور", ["أحمد", "النور"]),
        ('ד"ר כהן גר כאן', ["כהן"]),
        ("श्री रमेश यहाँ हैं", ["रमेश"]),
        ("คุณสมชาย มา", ["สมชาย"]),
    ],
)
def test_names_are_found_in_every_script(text, found):
    assert names(text) == found


def test_a_sentence_about_two_names_of_one_person_gives_no_clause_as_a_name():
    assert names("The user said that Guido aka BDFL created Python") == ["Guido", "BDFL", "Python"]


@given(st.text(max_size=200))
def test_any_text_has_names_with_keys_in_order(text):
    found = extract(text)
    assert [entity.start for entity in found] == sorted(entity.start for entity in found)
    for entity in found:
        assert text[entity.start : entity.end] == entity.name
        assert entity.key == normalise(entity.name) != ""
        assert entity.kind in KINDS
    assert len({entity.key for entity in found}) == len(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("José Álvarez", "jose alvarez"),
        ("ＡＬＩＣＥ", "Alice"),
        ("Dr. Reed", "Reed"),
        ("田中さん", "田中"),
        ("@bob", "Bob"),
        ("#launch", "launch"),
        ("“Bluebird”", "bluebird"),
        ("Alice's", "Alice"),
        ("김민수님", "김민수"),
        ("New  York", "new york"),
        ("ジョン・スミス", "ジョン スミス"),
    ],
)
def test_spellings_of_one_name_have_one_key(one, other):
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C++"), ("C++", "C#"), (".NET", "net"), ("й", "и"), ("Alice_Novak", "Alice Novak")]
)
def test_different_names_have_different_keys(one, other):
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize("name", ["", " ", "\u200b", "...", "“”", "%"])
def test_what_is_no_name_has_no_key_that_matches_everything(name):
    assert not mentions("any text at all", name)


@given(st.text(max_size=40))
def test_a_key_is_the_key_of_itself(name):
    key = normalise(name)
    assert normalise(key) in (key, normalise(normalise(key)))


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ("Anna lives here", "Ann", False),
        ("ann lives here", "Ann", True),
        ("C++ is fast", "C", False),
        ("C is fast", "C", True),
        ("order-service is down", "order", False),
        ("an Oslo-based firm", "Oslo", True),
        ("Alice's cat", "alice", True),
        ("redis.io is a site", "redis", False),
        ("the cat", "%", False),
        ("Alice Novak", "Alice_Novak", False),
        ("王明远负责支付。", "王明", False),
        ("王明负责支付。", "王明", True),
        ("会议由凯聪主持", "凯聪", True),
        ("请找王明来", "王明", True),
        ("東京都に住む", "京都", False),
        ("東京都に住む", "東京", False),
        ("先月京都で会った", "京都", True),
        ("マリアンヌは", "マリア", False),
        ("김민수는 산다", "김민", False),
        ("김민수는 산다", "김민수", True),
        ("슬랙으로 보내", "슬랙", True),
        ("줌으로 하자", "줌", True),
        ("用Redis做缓存", "redis", True),
        ("José está", "jose", True),
        ("Москва большая", "москва", True),
        ("حضر أحمد اليوم", "أحمد", True),
    ],
)
def test_a_text_mentions_a_name_only_as_a_whole(text, name, there):
    assert mentions(text, name) is there


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("The user said that Guido aka BDFL created Python", ("Guido", "BDFL")),
        ("Robert Smith, also known as Bob, lives in Oslo", ("Robert Smith", "Bob")),
        ("PostgreSQL (aka Postgres) is up", ("PostgreSQL", "Postgres")),
        ("k8s is short for Kubernetes", ("k8s", "Kubernetes")),
        ("王小明又名小明，住在上海", ("王小明", "小明")),
        ("夏目金之助、別名は漱石です", ("夏目金之助", "漱石")),
        ("김민수, 일명 민수는 산다", ("김민수", "민수")),
        ("Иван Петров, также известный как Ваня, живёт тут", ("Иван Петров", "Ваня")),
        ("José, también conocido como Pepe, vive aquí", ("José", "Pepe")),
        ("محمد المعروف باسم حمودة", ("محمد", "حمودة")),
    ],
)
def test_statements_of_another_name_are_read(text, pair):
    assert aliases(text) == [Alias(*pair)]


@pytest.mark.parametrize(
    "text", ["See you in a moment, formerly nothing", "it stands for itself", "我也叫了外卖", "", "aka", "又名"]
)
def test_no_alias_is_made_up(text):
    assert aliases(text) == []


@pytest.mark.parametrize("part", ["open", "held"])
@pytest.mark.parametrize("language", sets.LANGUAGES)
def test_the_facts_about_a_name_are_told_from_all_others(language, part):
    facts = sets.facts(language, 150, part=part)
    right = wrong = missed = 0
    for probe in sets.probes(facts, 40):
        found = {index for index, fact in enumerate(facts) if mentions(fact.text, probe.name)}
        right += len(found & probe.facts)
        wrong += len(found - probe.facts)
        missed += len(probe.facts - found)
    assert right / (right + wrong) >= 0.98
    assert right / (right + missed) >= 0.98


@pytest.mark.parametrize(("language", "recall"), [("en", 0.95), ("zh", 0.95), ("ja", 0.9), ("ko", 0.8), ("mixed", 0.9)])
@pytest.mark.parametrize("part", ["open", "held"])
def test_most_names_are_found_without_being_asked_for(language, part, recall):
    facts = sets.facts(language, 150, part=part)
    found = [{entity.key for entity in extract(fact.text)} for fact in facts]
    wanted = [{normalise(name) for name in fact.entities} for fact in facts]
    right = sum(len(a & b) for a, b in zip(found, wanted, strict=True))
    assert right / sum(map(len, wanted)) >= recall
    assert right / sum(map(len, found)) >= 0.9


@pytest.mark.parametrize(
    "text",
    [
        "Wow, that sounds good! Can't wait. Glad to hear it.",
        "Yeah, they're fine. Sounds like a plan, talk soon.",
        "Been busy lately. Love it. Nice work on the tests.",
        "Appreciate the help. You've been great, really.",
    ],
)
def test_small_talk_names_nobody(text):
    assert names(text) == []


def test_a_greeting_is_no_part_of_a_name():
    assert names("Hey John! Wow Maria, how is Caroline?") == ["John", "Maria", "Caroline"]


def test_names_with_small_words_inside_are_whole():
    assert names("We read Lord of the Rings at the Bank of America, the CEO of Acme said.") == [
        "Lord of the Rings",
        "Bank of America",
        "CEO",
        "Acme",
    ]


def test_a_verb_before_a_project_is_no_part_of_its_name():
    assert mentions("孙俪要求午饭前交北斗项目的周报。", "北斗项目")
    assert not mentions("他在北京人民医院工作。", "人民医院")
