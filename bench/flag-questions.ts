// Questions for flags and what must be answered: known persons, a number of flags of which half need what is stored
// of the person, and for each person the plain evaluation of test/flags.

import type { FlagFilters, ProjectDefinitions, PropertyFilter } from '../src/flags/definition.ts'
import type { Postgres } from '../src/postgres/pool.ts'
import { definitionsOf, flag } from '../test/flags/make.ts'
import { plainEvaluate } from '../test/flags/plain-evaluate.ts'
import type { ServerProcess } from './server-process.ts'
import { waitFor } from './wait.ts'
import { type WrongAnswer, wrongStatus } from './wrong-answers.ts'

type Values = Readonly<Record<string, unknown>>

const properties = { plan: 'pro', email: 'ada@example.com', age: 36 }
const heardMsMax = 30_000
const personsAtOnce = 500

export class FlagQuestions {
  readonly #definitions: ProjectDefinitions
  readonly #keys: readonly string[]
  readonly #requests: readonly Buffer[]
  /** By person: what every right answer holds. */
  readonly #expected: (Buffer | undefined)[] = []
  /** Flags that need what is stored. */
  readonly #reading: ReadonlySet<string>

  private constructor(definitions: ProjectDefinitions, requests: readonly Buffer[]) {
    this.#definitions = definitions
    this.#keys = definitions.flags.map(({ key }) => key)
    this.#requests = requests
    this.#reading = new Set(this.#keys.filter((_, index) => needsStored(index)))
  }

  /** Makes the server know the persons, and these flags in place of any others. */
  static async define(
    server: ServerProcess,
    postgres: Postgres,
    counts: { readonly persons: number; readonly flags: number },
  ): Promise<FlagQuestions> {
    await makePersons(server, postgres, counts.persons)
    const keys = Array.from({ length: counts.flags }, (_, index) => `flag-${index}`)
    const filters = keys.map((_, index) => filtersOf(index))
    await postgres.query('delete from feature_flag')
    await postgres.query(
      `insert into feature_flag (project_id, key, filters) select $1, key, filters
       from unnest($2::text[], $3::jsonb[]) with ordinality as f (key, filters, n) order by n`,
      [server.projectId, keys, filters.map((one) => JSON.stringify(one))],
    )
    const requests = Array.from({ length: counts.persons }, (_, index) => requestBytes(server, index))
    await waitFor('the flags are known', heardMsMax, async () => {
      const reply = await fetch(`http://127.0.0.1:${server.port}/decide/?v=3`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: bodyOf(server, 0),
      })
      // Written by the server.
      const { featureFlags } = (await reply.json()) as { featureFlags: object }
      return Object.keys(featureFlags).length === keys.length ? true : null
    })
    return new FlagQuestions(
      definitionsOf(keys.map((key, index) => flag(key, filters[index]!, { id: index + 1 }))),
      requests,
    )
  }

  /** Request `number`, about one person after the other. */
  bytesOf(number: number): Buffer {
    return this.#requests[number % this.#requests.length]!
  }

  /** What is wrong with the answer to request `number`; null when it is right. */
  faultOf(number: number, status: number | null, body: Buffer): WrongAnswer | null {
    const person = number % this.#requests.length
    this.#expected[person] ??= bytesOfAnswer(this.#expect(person))
    if (status !== 200) return wrongStatus(status, body)
    return body.includes(this.#expected[person]) ? null : this.#difference(person, body)
  }

  #difference(person: number, body: Buffer): WrongAnswer {
    // Written by the server, with status 200.
    const { featureFlags: values, errorsWhileComputingFlags: hasErrors } = JSON.parse(body.toString()) as {
      featureFlags: Values
      errorsWhileComputingFlags: boolean
    }
    const expected = this.#expect(person)
    const absent = this.#keys.filter((key) => !Object.hasOwn(values, key))
    const other = this.#keys.find((key) => Object.hasOwn(values, key) && values[key] !== expected[key])
    if (other !== undefined) {
      const sample = `${other} of ${personId(person)} is ${values[other]}, not ${expected[other]}`
      return { kind: 'another value', sample, isLate: false }
    }
    if (hasErrors && absent.length > 0 && absent.every((key) => this.#reading.has(key))) {
      const sample = `${absent.length} of ${this.#keys.length} flags absent`
      return { kind: 'without what is stored, which was not read in time', sample, isLate: true }
    }
    return { kind: 'another answer', sample: JSON.stringify(body.toString()), isLate: false }
  }

  #expect(index: number): Values {
    const asked = { id: personId(index), properties, groups: {}, staticCohorts: [], hashKeys: {} }
    const plain = plainEvaluate(this.#definitions, asked)
    return Object.fromEntries(this.#keys.map((key) => [key, plain[key]![0]]))
  }
}

function bytesOfAnswer(values: Values): Buffer {
  return Buffer.from(`"featureFlags":${JSON.stringify(values)},"errorsWhileComputingFlags":false`)
}

function personId(index: number): string {
  return `known-person-${index}`
}

async function makePersons(server: ServerProcess, postgres: Postgres, count: number): Promise<void> {
  for (let first = 0; first < count; first += personsAtOnce) {
    const batch = Array.from({ length: Math.min(personsAtOnce, count - first) }, (_, index) => ({
      event: '$identify',
      distinct_id: personId(first + index),
      properties: { $set: properties },
    }))
    const reply = await fetch(`http://127.0.0.1:${server.port}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: server.projectApiKey, batch }),
    })
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`)
  }
  await waitFor('the persons are known', heardMsMax, async () => {
    const { rows } = await postgres.query<{ count: number }>(
      `select count(*) as count from person_distinct_id where starts_with(distinct_id, 'known-person-')`,
    )
    return (rows[0]?.count ?? 0) >= count ? true : null
  })
}

function needsStored(index: number): boolean {
  return index % 2 === 1
}

/** Filters of every second flag need a stored property; the others a hash, and some a variant. */
function filtersOf(index: number): FlagFilters {
  const stored: PropertyFilter[] = [
    { key: 'plan', value: index % 4 === 1 ? 'pro' : 'team', operator: 'exact', type: 'person' },
    { key: 'email', value: '@example.com', operator: 'icontains', type: 'person' },
    { key: 'age', value: String(index % 70), operator: 'gt', type: 'person' },
  ]
  const filters = needsStored(index) ? [stored[index % 3]!] : []
  const variants = ['control', 'test'].map((key) => ({ key, rollout_percentage: 50 }))
  return {
    groups: [{ properties: filters, rollout_percentage: index % 4 === 0 ? 50 : 100 }],
    multivariate: index % 5 === 0 ? { variants } : null,
  }
}

function bodyOf({ projectApiKey }: ServerProcess, index: number): string {
  return JSON.stringify({
    api_key: projectApiKey,
    distinct_id: personId(index),
    person_properties: { seen: 'now' },
  })
}

function requestBytes(server: ServerProcess, index: number): Buffer {
  const body = bodyOf(server, index)
  const lines = [
    'POST /decide/?v=3 HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
