// Secret keys of a test's own.

import { createHash } from 'node:crypto'
import type { SecretKey, SecretKeys } from '../../src/sealing/secret-keys.ts'

/** Keys named after the letters they are made of; the first seals. */
export function keysOf(...names: [string, ...string[]]): SecretKeys {
  const [first, ...rest] = names
  return {
    read: () => [keyOf(first), ...rest.map(keyOf)],
    addKey: () => {
      throw new Error('not in this test')
    },
  }
}

function keyOf(name: string): SecretKey {
  return { id: name.repeat(8), bytes: createHash('sha256').update(name).digest() }
}
