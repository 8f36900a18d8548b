// The judgement on a load of many events: every acknowledged event is in the store exactly once and says what was
// sent, refused and invalid ones are not in it, and rows stand in the order of the journal.
//
// Counting is done by DuckDB over all rows. Contents are compared in two steps: all events of one basis must be
// equal, and one of each is compared with what was sent, as the oracle does (stored-event.ts).

import type { DuckDBConnection } from '@duckdb/node-api'
import { basisOf, drawBasis, loadClient, storedCount } from './basis.ts'
import { type Corpus, storedEvent } from './corpus.ts'
import { readEventsFile } from './events-file.ts'
import { sentinelEvent } from './sentinel.ts'
import { hashEvent } from './stored-event.ts'
import type { Workload } from './workload.ts'

export interface SentLoad {
  readonly corpus: Corpus
  readonly workload: Workload
  /** Requests 0 to count - 1 were sent. */
  readonly count: number
  /** Those that were not answered 200, with their status; null: not answered. */
  readonly failures: ReadonlyMap<number, number | null>
}

export interface LoadVerdict {
  /** That must be stored. */
  readonly acknowledgedEvents: number
  readonly lost: number
  readonly doubled: number
  readonly altered: number
  readonly uninvited: number
  readonly misordered: number
  /** Projects that have events of another's requests, and shares of the load that are not all in one project. */
  readonly misplaced: number
  /** Events whose contents were compared with what was sent. */
  readonly comparedEvents: number
}

/** Contents of about so many different events are compared; of more, an even sample of their requests. */
const comparedEventsMax = 50_000

/** Judges the store of a server that has ended. */
export async function judgeLoad(dataDir: string, sent: SentLoad): Promise<LoadVerdict> {
  return await readEventsFile(dataDir, async (connection) => {
    await connection.run(`create temp table sent as
      select rowid as place, project_id, lane, position, index as place_in_record,
             substr(uuid::varchar, 10, 4) = '${clientDigits}' as is_ours,
             ('0x' || substr(uuid::varchar, 25, 6))::integer as number,
             ('0x' || substr(uuid::varchar, 31, 6))::integer as index,
             hash(event, distinct_id, timestamp, historical, elements_chain, properties::varchar) as contents
      from event where event is distinct from '${sentinelEvent}'`)
    const counted = await countEvents(connection, sent)
    const compared = await compareContents(connection, sent)
    const misordered = await countMisordered(connection)
    return { ...counted, ...compared, misordered, misplaced: await countMisplaced(connection, sent.workload) }
  })
}

/** How many of the requests `first` to `end` - 1 have an event in the store of a server that has ended. */
export async function storedRequests(dataDir: string, first: number, end: number): Promise<number> {
  return await readEventsFile(dataDir, async (connection) => {
    return await number(
      connection,
      `select count(distinct number) from (
         select ('0x' || substr(uuid::varchar, 25, 6))::integer as number from event
         where substr(uuid::varchar, 10, 4) = '${clientDigits}' and event is distinct from '${sentinelEvent}')
       where number >= ${first} and number < ${end}`,
    )
  })
}

/** The broken promises of a verdict, one line each. */
export function brokenLoad(verdict: LoadVerdict): string[] {
  const names = {
    lost: 'acknowledged events were lost',
    doubled: 'events were stored more than once',
    altered: 'kinds of events were stored with other contents than were sent',
    uninvited: 'events were stored that were refused, invalid or never sent',
    misordered: 'events stand out of order',
    misplaced: 'projects have not the events that were sent to them',
  } as const
  return brokenCounts(verdict, names)
}

/** A line for each count that is not 0 and should be: the number, and what it says in `names`. */
export function brokenCounts<Name extends string>(
  counts: Readonly<Record<NoInfer<Name>, number>>,
  names: Readonly<Record<Name, string>>,
): string[] {
  // The keys of a record of names are these names.
  return (Object.keys(names) as Name[])
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${names[name]}`)
}

const clientDigits = loadClient.toString(16).padStart(4, '0')

async function countEvents(
  connection: DuckDBConnection,
  { corpus, workload, count, failures }: SentLoad,
): Promise<Pick<LoadVerdict, 'acknowledgedEvents' | 'lost' | 'doubled' | 'uninvited'>> {
  const strangers = await number(
    connection,
    `select count(*) from sent where not is_ours or number >= ${count} or index >= ${workload.eventCount}`,
  )
  const doubled = await number(
    connection,
    'select coalesce(sum(copies - 1), 0) from (select count(*) as copies from sent group by is_ours, number, index)',
  )
  const stored = new Map<number, number>()
  const rows = await connection.runAndReadAll(
    'select number, count(distinct index) from sent where is_ours group by number',
  )
  for (const [request, events] of rows.getRows()) stored.set(Number(request), Number(events))
  const expected = expectedCounts(corpus, workload, count)
  let acknowledgedEvents = 0
  let lost = 0
  let uninvited = strangers
  for (let request = 0; request < count; request++) {
    const must = expected[basisOf(workload, request)]!
    const has = stored.get(request) ?? 0
    const status = failures.get(request)
    // Nobody knows what became of a request without an answer, or with a 5xx: it is judged by `torn` elsewhere.
    if (status === null || (status !== undefined && status >= 500)) continue
    const wanted = status === undefined ? must : 0
    acknowledgedEvents += wanted
    lost += Math.max(0, wanted - has)
    uninvited += Math.max(0, has - wanted)
  }
  return { acknowledgedEvents, lost, doubled, uninvited }
}

/** How many events of each basis must be stored. */
function expectedCounts(corpus: Corpus, workload: Workload, count: number): number[] {
  const bases = Math.min(count, workload.basisCount)
  return Array.from({ length: bases }, (_, basis) =>
    workload.invalidShare === 0 ? workload.eventCount : storedCount(drawBasis(corpus, workload, basis)),
  )
}

async function compareContents(
  connection: DuckDBConnection,
  { corpus, workload, count }: SentLoad,
): Promise<Pick<LoadVerdict, 'altered' | 'comparedEvents'>> {
  const basis = `number % ${workload.basisCount}`
  let altered = await number(
    connection,
    `select count(*) from (select 1 from sent where is_ours group by ${basis}, index
     having min(contents) != max(contents))`,
  )
  const bases = Math.min(count, workload.basisCount)
  const stride = Math.ceil((bases * workload.eventCount) / comparedEventsMax)
  const rows = await connection.stream(
    `select basis, kind.index, event, distinct_id, epoch_us(timestamp), historical, elements_chain, properties::varchar
     from (select ${basis} as basis, index, min(place) as place from sent
           where is_ours and ${basis} % ${stride} = 0 and index < ${workload.eventCount} group by all) as kind
     join event on event.rowid = kind.place order by basis`,
  )
  let comparedEvents = 0
  let current = { number: -1, expected: [] as (Buffer | null)[] }
  for (let chunk = await rows.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
    for (const [basisNumber, index, event, distinctId, micros, historical, chain, text] of chunk.getRows()) {
      if (Number(basisNumber) !== current.number)
        current = { number: Number(basisNumber), expected: hashesOf(corpus, workload, Number(basisNumber)) }
      const hash = hashEvent({
        event: String(event),
        distinctId: String(distinctId),
        timestampMs: Number(micros) / 1000,
        historical: historical === true,
        elementsChain: String(chain),
        // The column's type is JSON, and every event's properties are an object.
        properties: JSON.parse(String(text)) as Record<string, unknown>,
      })
      comparedEvents++
      const expected = current.expected[Number(index)]
      if (!expected?.equals(hash)) altered++
    }
    chunk = await rows.fetchChunk()
  }
  return { altered, comparedEvents }
}

/** Of each event of a basis; null where nothing may be stored. */
function hashesOf(corpus: Corpus, workload: Workload, number: number): (Buffer | null)[] {
  const isHistorical = workload.lane === 'historical'
  const { events, isStored } = drawBasis(corpus, workload, number)
  return events.map((event, index) =>
    isStored[index] === true ? hashEvent(storedEvent(event, isHistorical)) : null,
  )
}

/** Rows that stand before one that the journal has later. */
async function countMisordered(connection: DuckDBConnection): Promise<number> {
  return await number(
    connection,
    `select count(*) from (
       select position, place_in_record, lag(position) over lane_order as before,
              lag(place_in_record) over lane_order as before_in_record
       from sent window lane_order as (partition by lane order by place))
     where position < before or (position = before and place_in_record <= before_in_record)`,
  )
}

/** Each project's requests must be in one project, and no other's in it. */
async function countMisplaced(connection: DuckDBConnection, { projectCount }: Workload): Promise<number> {
  const pairs = `select distinct number % ${projectCount} as share, project_id from sent where is_ours`
  return await number(
    connection,
    `with pair as (${pairs})
     select (select count(*) from (select 1 from pair group by share having count(*) > 1)) +
            (select count(*) from (select 1 from pair group by project_id having count(*) > 1))`,
  )
}

async function number(connection: DuckDBConnection, sql: string): Promise<number> {
  const read = await connection.runAndReadAll(sql)
  return Number(read.getRows()[0]?.[0])
}
