// A disk in memory that behaves like the real one at its worst. It knows two states of every file and folder: what a
// program reads back (the page cache) and what is sure to survive a power cut. Between the two, a power cut keeps
// what the seeded random generator says: un-synced writes are kept in part, torn, or sector by sector in any order,
// names not yet synced are there or not.

import type { Disk } from '../../src/journal/disk.ts'

interface Inode {
  /** As read back. */
  cached: Uint8Array
  /** As after a power cut that keeps nothing un-synced. */
  durable: Uint8Array
  /** Un-synced writes and truncations, in order. */
  pending: ({ offset: number; bytes: Uint8Array } | { size: number })[]
}

/** Written whole or not at all. */
const sectorBytes = 512

export class PowerCut extends Error {}

export class SimulatedDisk implements Disk {
  /** Called with the number and the name of every call that changes the disk; may throw. */
  onCall: (index: number, name: string, path: string) => void = () => {}
  /** How many calls that change the disk there were. */
  callCount = 0
  freeBytesNow = Number.MAX_SAFE_INTEGER
  /** The most bytes that one writev takes. */
  writeBytesMax = Number.MAX_SAFE_INTEGER
  #cachedNames = new Map<string, Inode>()
  #durableNames = new Map<string, Inode>()
  #handles = new Map<number, { inode: Inode; path: string }>()
  #nextFd = 100

  open(path: string): number {
    const inode = this.#cachedNames.get(path)
    if (inode === undefined) throw errno('ENOENT', 'open')
    return this.#handle(inode, path)
  }

  create(path: string): number {
    this.#count('open', path)
    const inode = { cached: new Uint8Array(0), durable: new Uint8Array(0), pending: [] }
    this.#cachedNames.set(path, inode)
    return this.#handle(inode, path)
  }

  close(fd: number): void {
    if (!this.#handles.delete(fd)) throw errno('EBADF', 'close')
  }

  sizeOf(fd: number): number {
    return this.#inode(fd).cached.byteLength
  }

  read(fd: number, target: Uint8Array, offset: number): number {
    const { cached } = this.#inode(fd)
    const bytes = cached.subarray(offset, offset + target.byteLength)
    target.set(bytes)
    return bytes.byteLength
  }

  writev(fd: number, buffers: readonly Uint8Array[], offset: number): number {
    const all = new Uint8Array(Buffer.concat(buffers)).subarray(0, this.writeBytesMax)
    try {
      this.#count('writev', this.#path(fd))
    } catch (error) {
      // A write that finds no room has written a part.
      if (!(error instanceof PowerCut)) this.#write(fd, all.subarray(0, all.byteLength >> 1), offset)
      else this.#write(fd, all, offset)
      throw error
    }
    this.#write(fd, all, offset)
    return all.byteLength
  }

  fdatasync(fd: number): void {
    this.#count('fdatasync', this.#path(fd))
    const inode = this.#inode(fd)
    inode.durable = inode.cached.slice()
    inode.pending = []
  }

  ftruncate(fd: number, size: number): void {
    this.#count('ftruncate', this.#path(fd))
    const inode = this.#inode(fd)
    inode.cached = resized(inode.cached, size)
    inode.pending.push({ size })
  }

  rename(from: string, to: string): void {
    this.#count('rename', to)
    const inode = this.#cachedNames.get(from)
    if (inode === undefined) throw errno('ENOENT', 'rename')
    this.#cachedNames.delete(from)
    this.#cachedNames.set(to, inode)
  }

  unlink(path: string): void {
    this.#count('unlink', path)
    if (!this.#cachedNames.delete(path)) throw errno('ENOENT', 'unlink')
  }

  list(dir: string): string[] {
    const names = [...this.#cachedNames.keys()].filter((path) => path.startsWith(`${dir}/`))
    return names.map((path) => path.slice(dir.length + 1)).filter((name) => !name.includes('/'))
  }

  makeDir(): void {}

  syncDir(dir: string): void {
    this.#count('fsync', dir)
    for (const path of [...this.#durableNames.keys()])
      if (isIn(dir, path) && !this.#cachedNames.has(path)) this.#durableNames.delete(path)
    for (const [path, inode] of this.#cachedNames) if (isIn(dir, path)) this.#durableNames.set(path, inode)
  }

  freeBytes(): number {
    return this.freeBytesNow
  }

  /** The process dies, the machine stays: all that was written is still read back. */
  killProcess(): void {
    this.#handles.clear()
    this.onCall = () => {}
  }

  /** The machine dies. `random` returns numbers from 0 to 1, exclusive. */
  cutPower(random: () => number): void {
    this.killProcess()
    const names = new Map<string, Inode>()
    const paths = new Set([...this.#durableNames.keys(), ...this.#cachedNames.keys()])
    for (const path of paths) {
      const inode = (random() < 0.5 ? this.#cachedNames : this.#durableNames).get(path)
      if (inode !== undefined) names.set(path, inode)
    }
    for (const inode of new Set(names.values())) settle(inode, random)
    this.#cachedNames = names
    this.#durableNames = new Map(names)
  }

  /** The file as read back; `change` may edit a copy of it, or return other bytes. */
  edit(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const inode = this.#cachedNames.get(path)
    if (inode === undefined) throw errno('ENOENT', 'open')
    const bytes = change(inode.cached.slice())
    Object.assign(inode, { cached: bytes, durable: bytes, pending: [] })
  }

  bytesOf(path: string): Uint8Array {
    return this.#cachedNames.get(path)?.cached.slice() ?? new Uint8Array(0)
  }

  /** An equal disk that goes its own way from here. */
  clone(): SimulatedDisk {
    const twin = new SimulatedDisk()
    const twins = new Map<Inode, Inode>()
    const twinOf = (inode: Inode): Inode => {
      const known = twins.get(inode) ?? { ...inode, pending: [...inode.pending] }
      twins.set(inode, known)
      return known
    }
    for (const [path, inode] of this.#cachedNames) twin.#cachedNames.set(path, twinOf(inode))
    for (const [path, inode] of this.#durableNames) twin.#durableNames.set(path, twinOf(inode))
    return twin
  }

  #count(name: string, path: string): void {
    this.onCall(this.callCount++, name, path)
  }

  #handle(inode: Inode, path: string): number {
    this.#handles.set(this.#nextFd, { inode, path })
    return this.#nextFd++
  }

  #inode(fd: number): Inode {
    const handle = this.#handles.get(fd)
    if (handle === undefined) throw errno('EBADF', 'fstat')
    return handle.inode
  }

  #path(fd: number): string {
    return this.#handles.get(fd)?.path ?? ''
  }

  #write(fd: number, bytes: Uint8Array, offset: number): void {
    const inode = this.#inode(fd)
    inode.cached = written(inode.cached, bytes, offset)
    inode.pending.push({ offset, bytes })
  }
}

/** An error as node:fs throws it. */
export function errno(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${syscall}`), { code, syscall })
}

/** A small generator of numbers from 0 to 1 that repeats for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Keeps what a power cut happens to keep of the un-synced changes, as ext4 does in its default mode. What was written
 * over bytes that are on disk gets there sector by sector, in any order. What made the file longer is kept up to some
 * byte of some change, or as long as that change would have it, with zeros in place of any of its sectors.
 */
function settle(inode: Inode, random: () => number): void {
  let bytes = inode.durable
  const kept = Math.floor(random() * (inode.pending.length + 1))
  const writtenShare = random()
  for (const [index, change] of inode.pending.entries()) {
    if ('size' in change) {
      if (index < kept) bytes = resized(bytes, change.size)
      continue
    }
    const overwritten = Math.max(0, Math.min(bytes.byteLength - change.offset, change.bytes.byteLength))
    for (const { start, end } of sectorsOf(change.offset, overwritten))
      if (random() < writtenShare)
        bytes = written(bytes, change.bytes.subarray(start, end), change.offset + start)
    if (index >= kept) continue
    const isLast = index === kept - 1
    const added = change.bytes.subarray(overwritten)
    const addedOffset = change.offset + overwritten
    if (isLast && random() < 0.3) {
      bytes = resized(bytes, addedOffset + added.byteLength)
      for (const { start, end } of sectorsOf(addedOffset, added.byteLength))
        if (random() < writtenShare) bytes = written(bytes, added.subarray(start, end), addedOffset + start)
      continue
    }
    const size = isLast ? Math.floor(random() * (added.byteLength + 1)) : added.byteLength
    bytes = written(bytes, added.subarray(0, size), addedOffset)
  }
  inode.cached = bytes
  inode.durable = bytes
  inode.pending = []
}

/** The sectors of a disk that `size` bytes from `offset` of a file on come to stand in, counted from the first byte. */
function* sectorsOf(offset: number, size: number) {
  for (let start = 0; start < size; ) {
    const end = Math.min(size, start + sectorBytes - ((offset + start) % sectorBytes))
    yield { start, end }
    start = end
  }
}

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const copy = new Uint8Array(size)
  copy.set(bytes.subarray(0, size))
  return copy
}

function written(bytes: Uint8Array, change: Uint8Array, offset: number): Uint8Array {
  const copy = resized(bytes, Math.max(bytes.byteLength, offset + change.byteLength))
  copy.set(change, offset)
  return copy
}

function isIn(dir: string, path: string): boolean {
  return path.startsWith(`${dir}/`) && !path.slice(dir.length + 1).includes('/')
}
