// The management API over a store with the events of two projects, and batch exports in it.

import type { Test } from 'tap'
import type { ManagementOptions } from '../../src/management/routes.ts'
import { ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { openWorld as openStore } from '../query/world.ts'

export const exportsPath = `/api/organizations/${ids.ours}/batch_exports/`
export const theirExportsPath = `/api/organizations/${ids.theirs}/batch_exports/`

export const s3 = {
  name: 'to s3',
  destination: {
    type: 'S3',
    config: {
      bucket_name: 'bucket',
      region: 'us-east-1',
      prefix: 'events/',
      aws_access_key_id: 'AKIASECRET',
      aws_secret_access_key: 'verysecret',
    },
  },
  interval: 'hour',
}

export const noOp = { name: 'nowhere', destination: { type: 'NoOp', config: {} }, interval: 'hour' }

export async function openExportWorld(
  t: Test,
  options: Partial<Pick<ManagementOptions, 'outbound'>> = {},
): Promise<World> {
  const { runner } = await openStore(t)
  const listEvents = async () => ({ events: [], next: null })
  const select = () => Promise.reject(new Error('no query is asked here'))
  const events = { listEvents, query: runner.query, select, selectParquet: select }
  return openWorld(t, { events, ...options })
}

/** Makes an export and returns its own path. */
export async function makeExport(world: World, body: object = noOp, key = 'phx_owner'): Promise<string> {
  const path = key === 'phx_stranger' ? theirExportsPath : exportsPath
  const reply = await world.send('POST', path, body, key)
  if (reply.status !== 201) throw new Error(reply.text)
  return `${path}${jsonOf(reply).id}/`
}
