import type { Changes } from '../../src/identity/changes.ts'

/** What a step changed that changed nothing; tests fill in what theirs did. */
export const noChanges: Changes = {
  projectsDeleted: [],
  merges: [],
  personsDeleted: [],
  persons: [],
  distinctIds: [],
  idsReleased: [],
  groupTypes: [],
  groups: [],
  storeChanges: [],
  usage: [],
  warnings: [],
  projectFlips: [],
}
