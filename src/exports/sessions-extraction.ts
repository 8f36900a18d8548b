// The rows of a run of the model sessions: every session that an event of the run's stretch belongs to, whole, as
// people's SQL shows it (src/query/sessions.ts), in the order of session ids. Which sessions those are does not change
// when a chunk is taken again; what they say can, when more of their events have come.
//
// A session is put together from all of its events, wherever they lie: the project's events are looked through once for
// each chunk.

import { Parameters } from '../events/property-filter.ts'
import { lanes } from '../journal/journal.ts'
import { sessionOfEvent, wholeSessionsSelect } from '../query/sessions.ts'
import { decodeOffsets } from './boundary.ts'
import { stretchConditions } from './events-extraction.ts'
import {
  chunkRowsMax,
  type EventsStore,
  type Extraction,
  extractWith,
  type Subject,
  type Taken,
} from './extraction.ts'

/** The session's columns without the dollar signs that they have in queries, as in PostHog. */
const columns = `session_id, team_id::bigint as team_id, distinct_id, "$start_timestamp" as start_timestamp,
  "$end_timestamp" as end_timestamp, "$session_duration" as session_duration, "$pageview_count" as pageview_count,
  "$autocapture_count" as autocapture_count, "$screen_count" as screen_count, "$is_bounce" as is_bounce,
  "$urls" as urls, "$num_uniq_urls" as num_uniq_urls, "$channel_type" as channel_type, "$vitals_lcp" as vitals_lcp,
  columns('[$](entry_.+|end_(?:current_url|pathname|hostname)|last_external_click_url)') as '\\1',
  inserted_at as _inserted_at`

/** Sessions behind one, up to another, inclusive. */
interface Between {
  readonly after: string | null
  readonly last: string | null
}

export function openSessionsExtraction(
  store: EventsStore,
  subject: Subject,
  rowsMax = chunkRowsMax,
): Extraction {
  return {
    async count() {
      const parameters = new Parameters()
      const touched = touchedIn(subject, { after: null, last: null }, parameters)
      const { rows } = await store.queryForExport(
        `select count(distinct session_id) from (${touched})`,
        parameters.values,
      )
      return Number(rows[0]?.[0])
    },
    async next(cursor, path, signal) {
      const { last, isLast } = await chunkEnd(store, subject, cursor, rowsMax)
      if (last === null) return { extracted: null, cursor: cursor ?? '', isLast: true }
      const parameters = new Parameters()
      const touched = touchedIn(subject, { after: cursor, last }, parameters)
      const sessions = wholeSessionsSelect(subject.projectId, touched)
      const sql = `select ${columns} from (${sessions}) order by session_id`
      const { format } = subject
      const extracted = await extractWith(store, { sql, values: parameters.values, path, format }, signal)
      // Their events may be gone with the persons that they were of.
      const taken: Taken = { extracted: extracted.rowCount > 0 ? extracted : null, cursor: last, isLast }
      return taken
    },
  }
}

async function chunkEnd(
  store: EventsStore,
  subject: Subject,
  after: string | null,
  rowsMax: number,
): Promise<{ readonly last: string | null; readonly isLast: boolean }> {
  const parameters = new Parameters()
  const touched = touchedIn(subject, { after, last: null }, parameters)
  const { rows } = await store.queryForExport(
    `select max(session_id) filter (where place <= ${rowsMax}), count(*) from (
       select session_id, row_number() over (order by session_id) as place
       from (select distinct session_id from (${touched}) order by session_id limit ${rowsMax + 1})
     )`,
    parameters.values,
  )
  const [last = null, found] = rows[0] ?? []
  return { last: last === null ? null : String(last), isLast: Number(found) <= rowsMax }
}

/** The sessions of the events that were stored in the stretch. The table is read as it is: the view knows no other. */
function touchedIn(
  { projectId, stretchStart, stretchEnd }: Subject,
  { after, last }: Between,
  parameters: Parameters,
): string {
  const [start, end] = [decodeOffsets(stretchStart), decodeOffsets(stretchEnd)]
  const selects = lanes.map((lane) => {
    const stretch = stretchConditions({ lane, from: start[lane], to: end[lane] }, parameters)
    const conditions = [
      `project_id = ${parameters.add(projectId, 'integer')}`,
      ...stretch,
      `${sessionOfEvent} <> ''`,
      ...(after === null ? [] : [`${sessionOfEvent} > ${parameters.add(after, 'varchar')}`]),
      ...(last === null ? [] : [`${sessionOfEvent} <= ${parameters.add(last, 'varchar')}`]),
    ]
    return `select ${sessionOfEvent} as session_id from temp.main.paced_event t where ${conditions.join(' and ')}`
  })
  return selects.join(' union all ')
}
