// Entries of the audit log as the API shows them.

import { Type } from '../api/schema.ts'
import { userJson, userSchema } from './user-rows.ts'

export const activitySchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  user: Type.Union([userSchema, Type.Null()]),
  activity: Type.String(),
  scope: Type.String(),
  item_id: Type.String(),
  detail: Type.Object({
    changes: Type.Array(Type.Object({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
  }),
  created_at: Type.String({ format: 'date-time' }),
})

/** Selects them; the entry is `entry`, and who did it `app_user`. */
export const selectActivity = `select entry.id, ${userJson} as user, activity, scope, item_id, detail, entry.created_at
  from organization_activity entry left join app_user on app_user.id = entry.user_id`
