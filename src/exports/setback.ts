// What is to be made of an error that ended an attempt at a run.

import { isServiceError } from '../errors.ts'
import { DeliveryError } from './delivery.ts'

export interface Setback {
  /** True when trying again later may help. */
  readonly isTemporary: boolean
  /** For the export's owner. */
  readonly sentence: string
}

/** Why a run is stopped from outside: what its signal is aborted with. */
export class RunStopped extends Error {
  readonly why: 'cancelled' | 'closing' | 'timed out'

  constructor(why: RunStopped['why']) {
    super(`the run was stopped: ${why}`)
    this.why = why
  }
}

const errorLengthMax = 1000

export function setbackOf(error: unknown): Setback {
  if (error instanceof DeliveryError)
    return { isTemporary: error.kind === 'temporary', sentence: short(error.message) }
  if (isServiceError(error)) {
    switch (error.code) {
      case 'invalid_input':
        return { isTemporary: false, sentence: short(error.detail) }
      case 'address_refused':
        return { isTemporary: false, sentence: `The destination may not be called: ${short(error.detail)}` }
      case 'secret_unreadable':
        return {
          isTemporary: false,
          sentence: 'The stored credentials cannot be opened. Send them again, or put back the secret key.',
        }
      default:
        return { isTemporary: true, sentence: short(error.detail) }
    }
  }
  // Ours to find in the server's log: what it says may be about anything.
  return { isTemporary: true, sentence: 'An internal error has occurred; the server has logged it.' }
}

const retryMsMin = 1_000
const retryMsMax = 600_000

/** How long to wait after so many attempts without success, the first being 1: 1 s, 2 s, 4 s … 10 min. */
export function retryMs(attempts: number): number {
  return Math.min(retryMsMin * 2 ** Math.max(0, attempts - 1), retryMsMax)
}

function short(text: string): string {
  return text.length > errorLengthMax ? `${text.slice(0, errorLengthMax)}…` : text
}
