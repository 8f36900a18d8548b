// Reads the outbox of the persons consumer as pages for the mirror in the events store.
//
// The mirror names the last change it has by epoch, seq and mark. The three are found again as long as the database is
// the one they came from: a database that was restored from a backup ends before that change, or has another mark on
// it. Then the epoch is renewed, and the mirror begins anew from the tables that say the same (base.ts). It also does
// when it has nothing, or less than the outbox, which forgets what a checkpoint of the events store has made safe.
//
// A step of the consumer is one transaction, and half of it is no state that Postgres ever was in: half a merge, say.
// So a page ends with a step. A step that is larger than a page comes in several, and is read when it is whole.

import type { MirrorChange, MirrorCursor, MirrorPage } from '../events/mirror-page.ts'
import type { StoreChange } from '../identity/changes.ts'
import { assert } from '../lib/assert.ts'
import type { ChangesEnd } from '../persons/persons-store.ts'
import type { Session } from '../postgres/pool.ts'
import { baseBegin, readBase } from './base.ts'
import { goalOf, type MarkedEnd, restOfStep, restUpTo } from './goal.ts'

/** What comes next for the mirror. */
export interface Next {
  /** Null when the mirror has everything. */
  readonly page: MirrorPage | null
  /** Null while the persons consumer has not begun. */
  readonly end: ChangesEnd | null
}

/** The outbox as one statement sees it: its end, and changes from the mirror's last one on. */
interface Seen {
  readonly end: ChangesEnd | null
  readonly rows: readonly ChangeRow[]
}

interface ChangeRow {
  readonly seq: number
  readonly project_id: number
  readonly kind: StoreChange['kind']
  /** The other fields of a StoreChange. */
  readonly payload: object
  readonly mark: string
  /** The last change of the step that this one is of; null for one that an older version has written. */
  readonly step_end: number | null
}

type Mark = Pick<ChangeRow, 'seq' | 'mark'>

/** Reads what leads on from `cursor`, at most `rowsMax` rows. Errors: postgres_unavailable. */
export async function readNext(
  postgres: Session,
  cursor: MirrorCursor | null,
  rowsMax: number,
): Promise<Next> {
  const rest = cursor?.rest ?? null
  const goal = rest === null ? null : goalOf(rest)
  if (cursor !== null && rest !== null && goal === null) return await readOnInBase(postgres, cursor, rowsMax)
  const { end, rows } = await readChanges(postgres, cursor, rowsMax)
  if (end === null) return { page: null, end }
  if (cursor === null || cursor.epoch !== end.epoch) return await beginAnew(postgres, cursor)
  const behind = rowsBehind(cursor, rows)
  const isReached = end.seq === cursor.seq
  const atGoal = rows.find(({ seq }) => seq === goal?.seq)
  const isGoalLost = goal !== null && (end.seq < goal.seq || (atGoal && atGoal.mark !== goal.mark))
  if (behind === null || (behind.length === 0 && !isReached) || isGoalLost)
    return await beginInNewEpoch(postgres, cursor)
  if (isReached) return { page: null, end }
  // Up to the end of the last step that is whole, unless the mirror is not read before a place behind that.
  const wholeAt = behind.findLastIndex(({ step_end, seq }) => step_end === null || step_end === seq)
  const whole = behind[wholeAt]
  if (whole !== undefined && (goal === null || whole.seq >= goal.seq))
    return { page: pageTo(cursor, behind.slice(0, wholeAt + 1), null), end }
  if (goal !== null) return { page: pageTo(cursor, behind, rest), end }
  const stepEnd = await readMark(postgres, end.epoch, behind[0]?.step_end ?? 0)
  if (stepEnd === null) return await beginInNewEpoch(postgres, cursor)
  return { page: pageTo(cursor, behind, restOfStep(stepEnd)), end }
}

/** Reads the next page of the base; the last of them says which changes are lacking then. */
async function readOnInBase(postgres: Session, cursor: MirrorCursor, rowsMax: number): Promise<Next> {
  const page = await readBase(postgres, cursor, rowsMax)
  if (page.to.rest !== null) return { page, end: { epoch: cursor.epoch, seq: cursor.seq } }
  const end = await readEnd(postgres)
  if (end === null) return { page: null, end }
  if (end.epoch !== cursor.epoch || end.seq < cursor.seq) return await beginInNewEpoch(postgres, cursor)
  const rest = end.seq === cursor.seq ? null : restUpTo(end)
  return { page: { ...page, to: { ...page.to, rest } }, end }
}

/** Deletes changes that nobody needs any more, at most `rowsMax`. Returns how many that were. */
export async function prune(
  postgres: Session,
  { epoch, seq }: MirrorCursor,
  rowsMax: number,
): Promise<number> {
  // The change at the cursor stays, for its mark. The epochs before this one are found by the index.
  const { rowCount } = await postgres.query(
    `delete from store_change using (
       (select epoch, seq from store_change where epoch = $1 and seq < $2 order by seq limit $3)
       union all (select epoch, seq from store_change where epoch < $1 limit $3)
       union all (select epoch, seq from store_change where epoch > $1 limit $3)
       limit $3) gone
     where store_change.epoch = gone.epoch and store_change.seq = gone.seq
       and exists (select from persons_progress where change_epoch = $1)`,
    [epoch, seq, rowsMax],
  )
  return rowCount
}

async function readChanges(postgres: Session, cursor: MirrorCursor | null, rowsMax: number): Promise<Seen> {
  const seq = cursor?.seq ?? 0
  const { rows } = await postgres.query<
    { change_epoch: string; change_seq: number } & (ChangeRow | { seq: null })
  >(
    `select change_epoch, change_seq, change.*
     from persons_progress
     left join lateral (
       select seq, project_id, kind, payload, mark, step_end
       from store_change
       where epoch = change_epoch and seq >= $2
       order by seq limit $3
     ) change on change_epoch = $1`,
    // One more, for the change that the mirror has.
    [cursor?.epoch ?? null, seq, seq > 0 ? rowsMax + 1 : rowsMax],
  )
  const first = rows[0]
  const end = first === undefined ? null : { epoch: first.change_epoch, seq: first.change_seq }
  return { end, rows: rows.filter((row) => row.seq !== null) }
}

/** The changes behind the one at the cursor; null when that one is not the mirror's, or some are missing. */
function rowsBehind(cursor: MirrorCursor, rows: readonly ChangeRow[]): readonly ChangeRow[] | null {
  const first = rows[0]
  if (cursor.seq > 0 && (first?.seq !== cursor.seq || first.mark !== cursor.mark)) return null
  const behind = cursor.seq > 0 ? rows.slice(1) : rows
  return behind.some(({ seq }, index) => seq !== cursor.seq + 1 + index) ? null : behind
}

/** A page of `rows`, at least one. */
function pageTo(from: MirrorCursor, rows: readonly ChangeRow[], rest: string | null): MirrorPage {
  const last = rows.at(-1)
  assert(last !== undefined, 'a page of changes leads to the last of them')
  const changes: MirrorChange[] = rows.map(({ seq, project_id, kind, payload }) => ({
    seq,
    // The persons consumer writes a StoreChange in these columns (persons/save.ts).
    change: { kind, projectId: project_id, ...payload } as StoreChange,
  }))
  return { from, to: { epoch: from.epoch, seq: last.seq, mark: last.mark, rest }, isAnew: false, changes }
}

/** What the change `seq` is marked with; null when there is none. */
async function readMark(postgres: Session, epoch: string, seq: number): Promise<Mark | null> {
  const { rows } = await postgres.query<Mark>(
    'select seq, mark from store_change where epoch = $1 and seq = $2',
    [epoch, seq],
  )
  return rows[0] ?? null
}

/** What the mirror has is of another history than the outbox. */
async function beginInNewEpoch(postgres: Session, from: MirrorCursor): Promise<Next> {
  await postgres.query(
    'update persons_progress set change_epoch = gen_random_uuid(), change_seq = 0 where change_epoch = $1',
    [from.epoch],
  )
  return await beginAnew(postgres, from)
}

async function beginAnew(postgres: Session, from: MirrorCursor | null): Promise<Next> {
  const end = await readEnd(postgres)
  if (end === null) return { page: null, end }
  const to = { ...end, rest: baseBegin }
  return { page: { from, to, isAnew: true, changes: [] }, end }
}

async function readEnd(postgres: Session): Promise<MarkedEnd | null> {
  const { rows } = await postgres.query<MarkedEnd>(
    `select change_epoch as epoch, change_seq as seq, mark
     from persons_progress
     left join store_change on store_change.epoch = change_epoch and store_change.seq = change_seq`,
  )
  return rows[0] ?? null
}
