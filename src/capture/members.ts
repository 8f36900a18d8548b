// Walks the members of objects and arrays that the scanner has proved before: for what is looked at too rarely to be
// on the tape.

import { closeBrace, closeBracket, comma, openBrace } from './json-bytes.ts'
import { type Scan, skipColon, skipSpace, skipString, skipValue } from './scan.ts'

/** One member. Keys are [keyStart, keyEnd) between their quotes, and 0 in an array. */
export interface Member {
  keyStart: number
  keyEnd: number
  start: number
  end: number
  /** Place of the next member, or -1 after the last. */
  next: number
  readonly isObject: boolean
}

/** Begins the walk through the container at `at`: nextMember comes to its first member. */
export function openMembers(scan: Scan, at: number): Member {
  const isObject = scan.bytes[at] === openBrace
  const first = skipSpace(scan, at + 1)
  const isEmpty = scan.bytes[first] === (isObject ? closeBrace : closeBracket)
  return { keyStart: 0, keyEnd: 0, start: 0, end: 0, next: isEmpty ? -1 : first, isObject }
}

/** Moves on to the next member. Returns false after the last. */
export function nextMember(scan: Scan, member: Member): boolean {
  if (member.next < 0) return false
  member.start = member.next
  if (member.isObject) {
    member.keyStart = member.next + 1
    member.keyEnd = skipString(scan, member.keyStart)
    member.start = skipColon(scan, member.keyEnd + 1)
  }
  member.end = skipValue(scan, member.start, 1)
  const after = skipSpace(scan, member.end)
  member.next = scan.bytes[after] === comma ? skipSpace(scan, after + 1) : -1
  return true
}
