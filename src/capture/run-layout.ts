// Where things lie in the memory that a run of known members shares with JavaScript (known-run), in bytes. This file is
// compiled as TypeScript and as AssemblyScript: nothing but whole numbers.

/** Heads (key-heads), and how many are guessed behind each. */
export const headsMax = 1024
export const guessesMax = 4
export const headTextBytesMax = 64 * 1024

/** Numbers of known keys are below. */
export const keysMax = 256

/** Numbers of two fields (event-keys). */
export const propertiesField = 4
export const batchField = 13

/** Cells of the head of a record, of each of its entries and runs, and of the longest record (span-tape). */
export const recordHeadSize = 9
export const entrySize = 4
export const runSize = 2
export const recordSizeMax = recordHeadSize + keysMax * (entrySize + runSize)

/** Of a text that is looked at in one go: it stays in the processor's first cache. */
export const windowBytesMax = 32 * 1024

/** What a known key is to persons; 0 for one that tells them nothing. */
export const personMember = 1
/** A member whose value does not count for the digest. */
export const suppressedMember = 2
/** A member when it is an object. */
export const personObject = 3
/** An event with it is left to JavaScript. */
export const unusualKey = 4

/** 8 MiB: about 20,000 events of a browser. More would only hold what is cold again when it is read. */
export const cellsMax = 2 * 1024 * 1024

/** Texts are compared 16 bytes at a time, the last ones whatever stands behind them. */
const overlap = 16

/**
 * What a run leaves, seven i32. Of members: the last head passed, the place behind its value, members passed, the
 * tape's top. Of events: events passed, where the next one begins or the array ends, the tape's top, properties of the
 * last. Then of both the last backslash passed or -1, and the greatest depth entered, by the last event; of events the
 * number of the last that was looked at.
 */
export const leftAt = 0

/** A room for heads: arrays by their number of i32, or of i16 where two bytes are enough, and their text. */
export const startsAt = 0
export const sizesAt = startsAt + headsMax * 4
export const metAt = sizesAt + headsMax * 4
export const keysAt = metAt + headsMax * 4
export const namesAt = keysAt + headsMax * 2
export const guessesAt = namesAt + headsMax * 2
export const headTextAt = guessesAt + headsMax * guessesMax * 2
const roomBytes = headTextAt + headTextBytesMax + overlap

/** The rooms for heads of fields and of properties. */
export const fieldRoomAt = 64
export const propertyRoomAt = fieldRoomAt + roomBytes

/** By known key, i32: the event that met it last. */
export const keySeenAt = propertyRoomAt + roomBytes
/** By known key: a hash of its name and the bytes of `"name":`, i32, and what it is to persons, bytes (person-run). */
export const keyHashesAt = keySeenAt + keysMax * 4
export const keySizesAt = keyHashesAt + keysMax * 4
export const personKindsAt = keySizesAt + keysMax * 4
export const windowAt = personKindsAt + keysMax
/** The cells of the tape, i32. A window has a byte more than its text. */
export const cellsAt = windowAt + windowBytesMax + overlap * 2

export const memoryBytes = cellsAt + cellsMax * 4

/** Raised when something that lies where it did means something else. */
const revision = 1

/** Tells builds apart that do not understand each other. */
export const layoutNumber = memoryBytes * 16 + revision
