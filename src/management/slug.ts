// Slugs: an organization's name as it would stand in an address, different for each organization.

import { randomInt } from 'node:crypto'

/** Longest slug, and the part of a name that leaves room for a hyphen and a suffix. */
const slugLengthMax = 48
const stemLength = 43
const suffixLength = 4
const letters = 'abcdefghijklmnopqrstuvwxyz'

/** The slugs to try for `name`, in order: its own, then ten with a suffix nobody can foresee. */
export function* slugsOf(name: string): Generator<string> {
  const slug = slugify(name)
  yield slug.slice(0, slugLengthMax)
  for (let attempt = 0; attempt < 10; attempt++) {
    const suffix = Array.from({ length: suffixLength }, () => letters[randomInt(letters.length)]).join('')
    yield `${slug.slice(0, stemLength)}-${suffix}`
  }
}

/** Lower-case ASCII letters, digits, underscores and single hyphens; other letters lose their accents or go. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_\s-]/g, '')
    .replaceAll(/[-\s]+/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
}
