"""Asks posthog-python for the flags of a shop and prints the answers as JSON.

Arguments: project API key, host, and for local evaluation a personal API key.
"""

import json
import sys

from posthog import Posthog

key, host, *secret = sys.argv[1:]
client = Posthog(
    key,
    host=host,
    secret_key=secret[0] if secret else None,
    feature_flags_request_timeout_seconds=10,
    poll_interval=600,
    flush_at=1000,
)
local = {"only_evaluate_locally": True} if secret else {}


def context(plan, tier):
    groups = {"groups": {"company": "acme"}, "group_properties": {"company": {"tier": tier}}}
    return {"person_properties": {"plan": plan}, **groups, **local}


pro, free = context("pro", "gold"), context("free", "tin")
answers = {}
if secret:
    client.load_feature_flags()
    client.load_feature_flags()
    answers["remote_config"] = client.get_remote_config_payload("limits")
answers["pro"] = client.get_all_flags("user1", **pro)
answers["free"] = client.get_all_flags("user2", **free)
answers["payloads"] = client.get_all_flags_and_payloads("user1", **pro)["featureFlagPayloads"]
answers["payload"] = client.get_feature_flag_payload("beta-feature", "user1", **pro)
answers["enabled"] = [
    client.feature_enabled(flag, "user1", **asked)
    for flag in ("pros", "cohorted", "gold", "off")
    for asked in (pro, free)
]
users = [f"user{n}" for n in range(1, 11)]
answers["variants"] = {user: client.get_feature_flag("beta-feature", user, **local) for user in users}
flags = client.evaluate_flags("user3", **pro)
answers["snapshot"] = [flags.get_flag("beta-feature"), flags.is_enabled("gold")]
client.capture("purchase", distinct_id="user3", flags=flags, properties={"price": 3})
client.shutdown()
print(json.dumps(answers))
