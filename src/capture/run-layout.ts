// Where things lie in the memory that a run of known members shares with JavaScript (known-run), in bytes. This file is
// compiled as TypeScript and as AssemblyScript: nothing but whole numbers.

/** Heads (key-heads), and how many are guessed behind each. */
export const headsMax = 1024
export const guessesMax = 4
export const headTextBytesMax = 64 * 1024

/** Numbers of known keys are below. */
export const keysMax = 256

/** Numbers of fields, and of the property that may hold the distinct_id (event-keys). */
export const eventField = 0
export const distinctIdField = 1
export const $distinctIdField = 2
export const uuidField = 3
export const propertiesField = 4
export const timestampField = 5
export const batchField = 13
export const distinctIdProperty = 17

/** Cells of the head of a record, of each of its entries and runs, and of the longest record (span-tape). */
export const recordHeadSize = 43
export const entrySize = 4
export const runSize = 2
export const recordSizeMax = recordHeadSize + keysMax * (entrySize + runSize)

/**
 * Cells of the head of a record for what is told of its values (event-facts): which facts these are, bits; the
 * timestamp, days since the epoch and ms; the uuid, four words; the distinct_id, padded with zeros, its length and its
 * project, as in a slot of born ids; the name's length and the name, likewise; both words of its key; the born id.
 */
export const factsCell = 9
export const daysCell = 10
export const millisCell = 11
export const uuidCell = 12
export const idCell = 16
export const nameSizeCell = 28
export const nameCell = 29
export const dedupKeyCell = 37
export const bornIdCell = 39

/** The facts, as bits. */
export const uuidFact = 1
export const timeFact = 2
/** The distinct_id and the name. */
export const textsFact = 4
export const dedupKeyFact = 8
export const bornIdFact = 16

/** Slots of born ids (born-ids). */
export const bornSlotCount = 16 * 1024
/** A slot in words: the id, padded with zeros, its length, its project and its born id. One line of a cache. */
export const idWords = 10
export const idSizeWord = idWords
export const projectWord = idWords + 1
export const bornIdWord = idWords + 2
export const bornSlotWords = bornIdWord + 4

/** A longer name is not told. */
export const nameWords = 8

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

/** Slots of born ids, i32, in lines of a cache. */
export const bornSlotsAt = ((cellsAt + cellsMax * 4) | 63) + 1

export const memoryBytes = bornSlotsAt + bornSlotCount * bornSlotWords * 4

/** Raised when something that lies where it did means something else. */
const revision = 2

/** Tells builds apart that do not understand each other. */
export const layoutNumber = memoryBytes * 16 + revision
