// The fold: what was known, and what came in, in order → what changes. A pure function of both, so that a replay after
// a crash, and any other cut of the same input into steps, ends in the same rows.
//
// A person that was deleted and is seen again is a new person. It has the same uuid when its first id comes again,
// since ids derive from nothing else; nothing of the old one is left in it.

import { unreachable } from '../lib/assert.ts'
import type { Changes } from './changes.ts'
import { EventsFold } from './events-fold.ts'
import type { Known } from './known.ts'
import type { EventsInput, StepInput } from './operations.ts'
import { ProjectDraft } from './project-draft.ts'
import { Tally } from './tally.ts'

/**
 * Folds `inputs` over `known`, which must hold everything that idsToLoad asked for. Neither is changed, but for what
 * rows in `known` remember of events that did nothing to them.
 */
export function fold(known: Known, inputs: readonly StepInput[]): Changes {
  const step = new Step(known)
  for (const input of inputs) step.apply(input)
  return step.changes()
}

class Step {
  readonly #known: Known
  /** Null for a project that does not exist. */
  readonly #projects = new Map<number, ProjectDraft | null>()
  readonly #projectsDeleted: number[] = []
  readonly #tally = new Tally()

  constructor(known: Known) {
    this.#known = known
  }

  apply(input: StepInput): void {
    const project = this.#project(input.kind === 'events' ? input.batch.header.projectId : input.projectId)
    if (project === null) return
    switch (input.kind) {
      case 'events':
        this.#applyEvents(project, input)
        break
      case 'delete_person':
        project.remove(input.personUuid, input.deletesEvents ? input.deletedAtMs : null)
        break
      case 'delete_project':
        this.#projects.set(input.projectId, null)
        this.#projectsDeleted.push(input.projectId)
        this.#tally.forget(input.projectId)
        break
      default:
        unreachable(input)
    }
  }

  changes(): Changes {
    const projects = [...this.#projects.values()].filter((project) => project !== null)
    return {
      projectsDeleted: this.#projectsDeleted,
      merges: projects.flatMap((project) => project.merges()),
      personsDeleted: projects.flatMap((project) => project.personsDeleted()),
      persons: projects.flatMap((project) => project.persons()),
      distinctIds: projects.flatMap((project) => project.distinctIds()),
      idsReleased: projects.flatMap((project) => project.idsReleased()),
      groupTypes: projects.flatMap((project) => project.groups.types()),
      groups: projects.flatMap((project) => project.groups.groups()),
      storeChanges: projects.flatMap((project) => project.storeChanges()),
      usage: this.#tally.usage(),
      warnings: this.#tally.warnings(),
      projectFlips: projects.flatMap((project) => project.flips()),
    }
  }

  #project(projectId: number): ProjectDraft | null {
    let project = this.#projects.get(projectId)
    if (project === undefined) {
      const known = this.#known.project(projectId)
      project = known === null ? null : new ProjectDraft(projectId, known)
      this.#projects.set(projectId, project)
    }
    return project
  }

  #applyEvents(project: ProjectDraft, input: EventsInput): void {
    if (input.eventCount === 0) return
    const { receivedAtMs, historical } = input.batch.header
    project.hasEvents = true
    this.#tally.addUsage(project.projectId, receivedAtMs, historical, input.eventCount)
    const events = new EventsFold(project, input, this.#tally)
    for (const operation of input.operations) events.apply(operation)
  }
}
