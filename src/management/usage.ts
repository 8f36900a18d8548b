// GET /api/organizations/:organization_id/usage/: how many events an organization's projects have stored, by day.
//
// The persons consumer counts them in the transactions that apply them, so a day's numbers are exact up to where it
// is. A project that is deleted takes its counts along.

import { type Operation, organizationOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

/** Days of one answer. */
const daysMax = 366
const dayMs = 24 * 3_600_000

const counts = {
  billable: Type.Integer({ description: 'Realtime events; retries are not counted.' }),
  historical: Type.Integer({ description: 'Events of historical migrations.' }),
}

const usageSchema = Type.Object({
  after: Type.String({ format: 'date' }),
  before: Type.String({ format: 'date' }),
  ...counts,
  days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...counts }), {
    description: 'Days with events, oldest first.',
  }),
  projects: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      monthly_event_quota: Type.Union([Type.Integer(), Type.Null()]),
      ...counts,
    }),
  ),
})

const query = Type.Object({
  after: Type.Optional(
    Type.String({ description: 'First day, YYYY-MM-DD in UTC; the first of the running month when absent.' }),
  ),
  before: Type.Optional(Type.String({ description: 'Last day; today when absent.' })),
})

interface DayRow {
  readonly day: string
  readonly billable: number
  readonly historical: number
}

interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly monthly_event_quota: number | null
  readonly billable: number
  readonly historical: number
}

export function organizationUsage(clock: Clock): Operation {
  return organizationOperation({
    method: 'GET',
    path: '/api/organizations/:organization_id/usage',
    operationId: 'organization_usage_retrieve',
    summary: 'Count the events of an organization by day and by project',
    tag: 'organizations',
    query,
    body: null,
    status: 200,
    response: usageSchema,
    handle: async ({ organization, sql, query }) => {
      const today = dayOf(clock.nowMs())
      const before = query.before ? readDay(query.before, 'before') : today
      const after = query.after ? readDay(query.after, 'after') : `${before.slice(0, 8)}01`
      checkRange(after, before)
      const values = [organization.id, after, before]
      const [days, projects] = await Promise.all([
        sql.query<DayRow>(
          `select day::text as day, sum(billable)::bigint as billable, sum(historical)::bigint as historical
           from usage_daily join project on project.id = project_id
           where organization_id = $1::uuid and day between $2::date and $3::date
           group by day order by day`,
          values,
        ),
        sql.query<ProjectRow>(
          `select project.id, project.name, monthly_event_quota, coalesce(sum(billable), 0)::bigint as billable,
             coalesce(sum(historical), 0)::bigint as historical
           from project
           left join usage_daily on project_id = project.id and day between $2::date and $3::date
           where organization_id = $1::uuid
           group by project.id order by project.id`,
          values,
        ),
      ])
      return { after, before, ...sumOf(days.rows), days: days.rows, projects: projects.rows }
    },
  })
}

function sumOf(rows: readonly DayRow[]): Pick<DayRow, 'billable' | 'historical'> {
  let billable = 0
  let historical = 0
  for (const row of rows) {
    billable += row.billable
    historical += row.historical
  }
  return { billable, historical }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Errors: invalid_input for what is no day of the calendar. */
function readDay(text: string, attr: string): string {
  const ms = /^[12]\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms) && dayOf(ms) === text) return text
  const detail = 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.'
  throw new ServiceError('invalid_input', { detail, attr })
}

function checkRange(after: string, before: string): void {
  const days = (Date.parse(before) - Date.parse(after)) / dayMs + 1
  if (days >= 1 && days <= daysMax) return
  const detail = `Expected 1 to ${daysMax} days, got ${days}: from ${after} to ${before}.`
  throw new ServiceError('invalid_input', { detail, attr: 'after' })
}
