// Projects over HTTP, answer by answer: status and body as a client gets them.

import t from 'tap'
import { ids, openWorld } from '../api/world.ts'
import { fullForm, shortForm } from '../management/project-forms.ts'
import { askerOf, insufficient, invalid, notFound } from './answers.ts'

const world = await openWorld(t)
const { get, send } = askerOf(world)
const list = `/api/organizations/${ids.ours}/projects/`
const now = '2024-05-01T12:00:00Z'

/** What no test can foresee of a project. */
interface Made {
  readonly id: number
  readonly uuid: string
  readonly api_token: string
  readonly created_at: string
  readonly updated_at: string
  readonly live_events_token: string
}

t.test('the list has the short form', async (t) => {
  const [status, body] = await get(list)
  const { results } = body as { results: Made[] } // the envelope
  t.equal(status, 200)
  t.strictSame(body, {
    count: 2,
    next: null,
    previous: null,
    results: [
      { ...shortForm, id: 1, uuid: results[0]?.uuid, api_token: 'phc_1' },
      { ...shortForm, id: 2, uuid: results[1]?.uuid, api_token: 'phc_2' },
    ],
  })
})

t.test('one project has the full form', async (t) => {
  const reply = await get(`${list}1/`)
  const { uuid, created_at, updated_at, live_events_token } = reply[1] as Made // a project
  t.match([created_at, updated_at, live_events_token], [/Z$/, /Z$/, /^[\w-]+\.[\w-]+\.[\w-]+$/])
  const moments = { created_at, updated_at, live_events_token }
  const names = { id: 1, uuid, api_token: 'phc_1', effective_membership_level: 1 }
  t.strictSame(reply, [200, { ...fullForm, ...names, ...moments }])
})

t.test('one of others does not exist', async (t) => {
  t.strictSame(await get(`${list}${ids.theirProject}/`), notFound)
})

t.test('administrators make as many as they want', async (t) => {
  t.strictSame(await send('POST', list, { name: 'Test' }, 'phx_member'), insufficient)
  const reply = await send('POST', list, { name: 'Test' }, 'phx_administrator')
  const { uuid, api_token, live_events_token } = reply[1] as Made // a project
  t.match([uuid, api_token], [/^018f3406-9e00-7/, /^phc_[0-9a-zA-Z]{40,}$/])
  t.match(live_events_token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  const made = {
    ...fullForm,
    id: 4,
    name: 'Test',
    test_account_filters: [
      { key: 'email', type: 'person', value: '@spate.example', operator: 'not_icontains' },
      { key: '$host', type: 'event', value: '^(localhost|127\\.0\\.0\\.1)($|:)', operator: 'not_regex' },
    ],
    effective_membership_level: 8,
    created_at: now,
    updated_at: now,
  }
  t.strictSame(reply, [201, { ...made, uuid, api_token, live_events_token }])
  t.strictSame(await get(`${list}4/`, 'phx_administrator'), reply[0] === 201 ? [200, reply[1]] : null)
  for (const id of [5, 6]) {
    const [status, body] = await send('POST', list, {}, 'phx_administrator')
    t.strictSame([status, (body as Made).id], [201, id])
  }
})

t.test('refuses what cannot be, by field', async (t) => {
  const make = (field: string, value: unknown) => send('POST', list, { [field]: value })
  t.strictSame(
    await make('timezone', 'America/I_Dont_Exist'),
    invalid('invalid_choice', '"America/I_Dont_Exist" is not a valid choice.', 'timezone'),
  )
  t.strictSame(
    await make('week_start_day', 2),
    invalid('invalid_choice', '"2" is not a valid choice.', 'week_start_day'),
  )
  t.strictSame(
    await make('session_recording_linked_flag', { id: 1 }),
    invalid(
      'invalid_input',
      "Must provide a dictionary with only 'id' and 'key' keys. _or_ only 'id', 'key', and 'variant' keys.",
      'session_recording_linked_flag',
    ),
  )
  t.strictSame(
    await make('session_recording_minimum_duration_milliseconds', 30_001),
    invalid(
      'max_value',
      'Ensure this value is less than or equal to 30000.',
      'session_recording_minimum_duration_milliseconds',
    ),
  )
})

t.test('leaves empty addresses out', async (t) => {
  const [status, body] = await send('POST', list, { app_urls: ['', null, 'https://a.b'] })
  t.strictSame([status, (body as { app_urls: string[] }).app_urls], [201, ['https://a.b']])
})
