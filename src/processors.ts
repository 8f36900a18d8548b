// The processors that this process may use, and how long they have had nothing to do.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Of all of them together, since the machine started (ms); the kernel counts in steps of 10. */
export function idleMs(): number {
  return cpus().reduce((sum, { times }, index) => sum + (isAllowed(index) ? times.idle : 0), 0)
}

/** How many there are. */
export function processorCount(): number {
  return cpus().filter((_, index) => isAllowed(index)).length
}

const allowed = readAllowed()

function isAllowed(index: number): boolean {
  return allowed.length === 0 || allowed.some(([first, last]) => index >= first && index <= last)
}

/** Ranges of processors, both ends inclusive; none where the kernel does not say. */
function readAllowed(): readonly (readonly [number, number])[] {
  try {
    const [, list = ''] =
      /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return list.split(',').map((range) => {
      const [first, last = first] = range.split('-').map(Number)
      return [Number(first), Number(last)] as const
    })
  } catch {
    return [] // no such file: all of them
  }
}
