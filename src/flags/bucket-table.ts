// Where a person stands in the flags of a project, hashed side by side in WebAssembly (wasm/buckets.ts): a bucket of
// one flag is asked for, and those of its neighbours are worked out with it. What is unusual, as a long id is, and
// everything where there is no WebAssembly, is left to bucketOf, one by one.
//
// With it an evaluation of 100 or 1000 flags, with about half as many buckets, takes 0.75 of its time (Node 20.20).

import { compileModule, createMemory, openModule, type WasmExports, type WasmModule } from '../wasm-module.ts'
import {
  bucketLayoutNumber,
  bucketsAt,
  idAt,
  idBytesMax,
  memoryBytes,
  prefixBytesMax,
  textsAt,
  textsMax,
} from './bucket-layout.ts'

/** Described above the function itself, in wasm/buckets.ts. */
interface BucketExports extends WasmExports {
  readonly hashTexts: (count: number, idLength: number) => void
}

/** What the buckets of a table are worked out by. */
export interface BucketHasher {
  readonly passes: BucketExports
  readonly bytes: Uint8Array
  /** By text. */
  readonly buckets: Float64Array
}

/** A text that has no place in a table. */
export const noPlace = -1

/** A bucket is from 0 to 1. */
const unknown = -1

/** The module of this thread; with null for one, nothing is hashed side by side. */
export function createHasher(module: WasmModule | null = compileModule('buckets')): BucketHasher | null {
  const memory = createMemory(memoryBytes)
  const passes = openModule<BucketExports>(module, memory, bucketLayoutNumber)
  if (passes === null) return null
  const buckets = new Float64Array(memory.buffer, bucketsAt, textsMax)
  return { passes, bytes: new Uint8Array(memory.buffer), buckets }
}

const ownHasher = createHasher()

/** What the buckets of a project's flags are hashes of, apart from who asks. */
export class BucketTable {
  readonly #hasher: BucketHasher | null
  /** As many texts each as are handed over at a time, the last with those that are left. */
  readonly #parts: Uint8Array[] = []
  #count = 0

  constructor(hasher: BucketHasher | null = ownHasher) {
    this.#hasher = hasher
  }

  /** Adds what stands around an id, and returns its place in the table, or `noPlace`. */
  add(prefix: Uint8Array, isVariant: boolean): number {
    if (this.#hasher === null || prefix.length > prefixBytesMax) return noPlace
    const part = this.#count % textsMax === 0 ? new Uint8Array(0) : this.#parts.pop()!
    this.#parts.push(Buffer.concat([part, Uint8Array.of(prefix.length, isVariant ? 1 : 0), prefix]))
    return this.#count++
  }

  /** The buckets of an id, UTF-8; null for one that is hashed by `bucketOf`. */
  of(idBytes: Uint8Array): Buckets | null {
    if (this.#hasher === null || this.#count === 0 || idBytes.length > idBytesMax) return null
    return new Buckets(this.#hasher, this.#parts, this.#count, idBytes)
  }
}

/** Those of one id. */
export class Buckets {
  readonly #hasher: BucketHasher
  readonly #parts: readonly Uint8Array[]
  readonly #idBytes: Uint8Array
  /** By place; `unknown` until it was asked for, or one near it. */
  readonly #buckets: Float64Array

  constructor(hasher: BucketHasher, parts: readonly Uint8Array[], count: number, idBytes: Uint8Array) {
    this.#hasher = hasher
    this.#parts = parts
    this.#idBytes = idBytes
    this.#buckets = new Float64Array(count).fill(unknown)
  }

  /** The bucket of the text at `place`. */
  at(place: number): number {
    if (this.#buckets[place]! < 0) this.#hashPart(Math.floor(place / textsMax))
    return this.#buckets[place]!
  }

  #hashPart(part: number): void {
    const { passes, bytes, buckets } = this.#hasher
    const first = part * textsMax
    const count = Math.min(textsMax, this.#buckets.length - first)
    bytes.set(this.#parts[part]!, textsAt)
    bytes.set(this.#idBytes, idAt)
    passes.hashTexts(count, this.#idBytes.length)
    for (let index = 0; index < count; index++) this.#buckets[first + index] = buckets[index]!
  }
}
