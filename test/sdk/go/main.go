// Uses posthog-go as the arguments say: people, history, present or flags, then the project API key, the endpoint, and for
// local evaluation of flags a personal API key. Prints the answers about flags as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/posthog/posthog-go"
)

func main() {
	scenario, key := os.Args[1], os.Args[2]
	config := posthog.Config{
		Endpoint:                  os.Args[3],
		BatchSize:                 50,
		FeatureFlagRequestTimeout: 10 * time.Second,
		HistoricalMigration:       scenario == "history",
	}
	if len(os.Args) > 4 {
		config.PersonalApiKey = os.Args[4]
	}
	client, err := posthog.NewWithConfig(key, config)
	check(err)
	switch scenario {
	case "people":
		people(client)
	case "flags":
		check(json.NewEncoder(os.Stdout).Encode(askFlags(client, config.PersonalApiKey != "")))
	default:
		for n := 0; n < 120; n++ {
			check(client.Enqueue(posthog.Capture{
				DistinctId: "go " + scenario,
				Event:      fmt.Sprintf("event %d", n),
				Properties: posthog.NewProperties().Set("n", n).Set("text", "ü 🦔"),
				Timestamp:  start.Add(time.Duration(n) * time.Minute),
			}))
		}
	}
	check(client.Close())
}

var start = time.Date(2023, 1, 1, 12, 0, 0, 0, time.UTC)

func people(client posthog.Client) {
	moment := start.Add(250 * time.Millisecond)
	nested := map[string]interface{}{"deep": []interface{}{1, nil, "ü 🦔"}}
	messages := []posthog.Message{
		posthog.Capture{
			Uuid:       "0190a8f0-0000-7000-8000-000000000001",
			DistinctId: "ada",
			Event:      "signed up",
			Properties: posthog.NewProperties().Set("plan", "pro").Set("seats", 7).Set("nested", nested),
			Groups:     posthog.NewGroups().Set("company", "acme"),
			Timestamp:  moment,
		},
		posthog.Identify{
			DistinctId: "ada",
			Properties: posthog.NewProperties().Set("email", "ada@example.com"),
			Timestamp:  moment,
		},
		posthog.Alias{DistinctId: "ada", Alias: "visitor", Timestamp: moment},
		posthog.GroupIdentify{
			Type:       "company",
			Key:        "acme",
			Properties: posthog.NewProperties().Set("tier", "gold"),
			Timestamp:  moment,
		},
	}
	for _, message := range messages {
		check(client.Enqueue(message))
	}
}

type context struct {
	person posthog.Properties
	groups posthog.Groups
	group  map[string]posthog.Properties
}

func contextOf(plan, tier string) context {
	return context{
		person: posthog.NewProperties().Set("plan", plan),
		groups: posthog.NewGroups().Set("company", "acme"),
		group:  map[string]posthog.Properties{"company": posthog.NewProperties().Set("tier", tier)},
	}
}

func askFlags(client posthog.Client, isLocal bool) map[string]interface{} {
	pro, free := contextOf("pro", "gold"), contextOf("free", "tin")
	all := func(user string, asked context, onlyLocally bool) interface{} {
		flags, err := client.GetAllFlags(posthog.FeatureFlagPayloadNoKey{
			DistinctId:          user,
			PersonProperties:    asked.person,
			Groups:              asked.groups,
			GroupProperties:     asked.group,
			OnlyEvaluateLocally: onlyLocally,
		})
		check(err)
		return flags
	}
	question := func(flag, user string, asked context) posthog.FeatureFlagPayload {
		return posthog.FeatureFlagPayload{
			Key:                 flag,
			DistinctId:          user,
			PersonProperties:    asked.person,
			Groups:              asked.groups,
			GroupProperties:     asked.group,
			OnlyEvaluateLocally: isLocal,
		}
	}
	answers := map[string]interface{}{}
	if isLocal {
		check(client.ReloadFeatureFlags())
		config, err := client.GetRemoteConfigPayload("limits")
		check(err)
		answers["remote_config"] = config
	}
	answers["pro"] = all("user1", pro, isLocal)
	answers["free"] = all("user2", free, isLocal)
	payload, err := client.GetFeatureFlagPayload(question("beta-feature", "user1", pro))
	check(err)
	answers["payload"] = payload
	enabled := []interface{}{}
	for _, flag := range []string{"pros", "cohorted", "gold", "off"} {
		for _, asked := range []context{pro, free} {
			value, err := client.IsFeatureEnabled(question(flag, "user1", asked))
			check(err)
			enabled = append(enabled, value)
		}
	}
	answers["enabled"] = enabled
	variants := map[string]interface{}{}
	for n := 1; n <= 10; n++ {
		user := fmt.Sprintf("user%d", n)
		value, err := client.GetFeatureFlag(question("beta-feature", user, context{}))
		check(err)
		variants[user] = value
	}
	answers["variants"] = variants
	if isLocal {
		// What it cannot evaluate by itself it asks of the server: flags on flags.
		answers["asked"] = all("user1", pro, false)
		check(client.Enqueue(posthog.Capture{DistinctId: "user3", Event: "purchase", SendFeatureFlags: true}))
	}
	return answers
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
