// Commands: journal records that change the stores without being events. Management appends one and answers once it
// is durable; each consumer applies it in its place, so that a replay repeats it.
//
// Format: one msgpack map with `version`, `command` and the command's own fields. A reader that does not know the
// version or the command stops: skipping it would bring deleted data back.

import { pack, unpack } from 'msgpackr'
import { assert } from '../lib/assert.ts'
import type { Bytes } from '../lib/bytes.ts'

export const commandVersion = 1

/** Hides every event of the project from every read, for good. Project ids are never used twice. */
export interface DeleteProject {
  readonly command: 'delete_project'
  readonly projectId: number
}

/** Removes a person with all its distinct_ids. One that is gone by then, merged into another, stays that other. */
export interface DeletePerson {
  readonly command: 'delete_person'
  readonly projectId: number
  readonly personUuid: string
  /** Also hides its events that were received up to `deletedAtMs`, whichever lane they wait in. */
  readonly deletesEvents: boolean
  readonly deletedAtMs: number
}

export type Command = DeleteProject | DeletePerson

/** Encodes a command into memory of its own, ready to be moved into the journal. */
export function encodeCommand(command: Command): Bytes {
  return new Uint8Array(pack({ version: commandVersion, ...command }))
}

/** Decodes a command record's payload. Errors: a programmer error for a command this build does not know. */
export function decodeCommand(payload: Uint8Array): Command {
  // Written by encodeCommand and guarded by the record's checksum.
  const { version, ...command } = unpack(payload) as Command & { version: number }
  assert(version === commandVersion, `command version ${version} is known`)
  const isKnown = command.command === 'delete_project' || command.command === 'delete_person'
  // The union of what this build writes has no other; a newer build's record may.
  assert(isKnown, `command ${Reflect.get(command, 'command')} is known`)
  return command
}
