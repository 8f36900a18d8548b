// What a destination in a database does with persons, for each that is one.

import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Column, Delivery } from '../../src/exports/delivery.ts'
import { never, stage } from './staged.ts'

const columns: readonly Column[] = [
  { name: 'team_id', type: 'bigint' },
  { name: 'distinct_id', type: 'text' },
  { name: 'properties', type: 'json' },
  { name: '_inserted_at', type: 'timestamp' },
]

/** Delivers persons to the table `events`, then one of them as it is later, then what is older and newer again. */
export async function showReplacing(
  t: Test,
  delivery: Delivery,
  sql: (text: string) => Promise<unknown[]>,
): Promise<void> {
  const staged = await stage(t, { kind: 'csv', compression: null })
  const deliver = async (index: number, ...lines: string[]) => {
    writeFileSync(staged.path, ['team_id,distinct_id,properties,_inserted_at', ...lines, ''].join('\n'))
    await delivery.deliver({ ...staged, index, columns, recordCount: lines.length }, never)
  }
  const [early, late] = ['2024-05-01T12:00:00.000001Z', '2024-05-01T12:00:00.000002Z']
  const first = ['ada', 'bob'].map((id) => `1,${id},"{""n"":1}",${early}`)
  await deliver(0, ...first, `2,ada,"{""n"":1}",${early}`)
  await deliver(1, `1,ada,"{""n"":2}",${late}`, `1,${'c'.repeat(5_000)},{},${late}`)
  // The same chunk, taken again after a crash, with one more row; then that of a run that comes late.
  await deliver(0, ...first, `1,new,{},${late}`)
  await deliver(0, `1,bob,"{""n"":0}",2024-05-01T11:00:00Z`)
  t.same(
    await sql(
      `select team_id::integer, left(distinct_id, 3) as id, replace(properties::text, ' ', '') as properties
       from events order by 1, 2`,
    ),
    [
      { team_id: 1, id: 'ada', properties: '{"n":2}' },
      { team_id: 1, id: 'bob', properties: '{"n":1}' },
      { team_id: 1, id: 'ccc', properties: '{}' },
      { team_id: 1, id: 'new', properties: '{}' },
      { team_id: 2, id: 'ada', properties: '{"n":1}' },
    ],
  )
}
