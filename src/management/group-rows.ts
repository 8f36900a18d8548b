// Groups as the API shows them: how they are read, and how they are printed.

import { Type } from '../api/schema.ts'

export const groupSchema = Type.Object({
  group_type_index: Type.Integer(),
  group_key: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  group_properties: Type.Object({}, { additionalProperties: true }),
})

export const groupTypeIndexSchema = Type.Integer({
  minimum: 0,
  maximum: 4,
  description: 'Index of the group type.',
})

/** The columns of a GroupRow, of the table project_group. */
export const groupColumns = 'type_index, key, created_at, properties::text as properties'

export interface GroupRow {
  readonly type_index: number
  readonly key: string
  readonly created_at: string
  /** JSON text. */
  readonly properties: string
}

/** Prints one group. Its properties are put in as they are stored: no number in them is read and printed again. */
export function groupText({ type_index, key, created_at, properties }: GroupRow): string {
  return (
    `{"group_type_index":${type_index},"group_key":${JSON.stringify(key)},"created_at":"${created_at}",` +
    `"group_properties":${properties}}`
  )
}
