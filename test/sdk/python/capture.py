"""Captures with posthog-python.

Arguments: project API key, host, and `people`, `again`, `history` or `present`.
"""

import datetime
import sys

from posthog import Posthog

key, host, scenario = sys.argv[1:]
client = Posthog(key, host=host, gzip=True, historical_migration=scenario == "history", flush_at=50)
start = datetime.datetime(2023, 1, 1, 12, tzinfo=datetime.timezone.utc)

if scenario == "people":
    moment = start + datetime.timedelta(milliseconds=250)
    client.capture("anonymous visit", properties={"$process_person_profile": False}, timestamp=moment)
    client.capture(
        "signed up",
        distinct_id="ada",
        properties={"plan": "pro", "seats": 7, "nested": {"deep": [1, None, "ü 🦔"]}, "when": start},
        groups={"company": "acme"},
        timestamp=moment,
        uuid="0190a8f0-0000-7000-8000-000000000001",
    )
    client.set(distinct_id="ada", properties={"email": "ada@example.com"}, timestamp=moment)
    client.set_once(distinct_id="ada", properties={"first": "here"}, timestamp=moment)
    client.alias("visitor", "ada", timestamp=moment)
    client.group_identify("company", "acme", {"tier": "gold"}, timestamp=moment)
    try:
        raise ValueError("broken")
    except ValueError as error:
        client.capture_exception(error, distinct_id="ada")
else:
    for n in range(120):
        client.capture(
            f"event {n}",
            distinct_id=f"python {scenario}",
            properties={"n": n, "text": "ü 🦔"},
            timestamp=start + datetime.timedelta(minutes=n),
        )
client.shutdown()
