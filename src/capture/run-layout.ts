// Where things lie in the memory that a run of known members shares with JavaScript (known-run), in bytes. This file is
// compiled as TypeScript and as AssemblyScript: nothing but whole numbers.

/** Heads (key-heads), and how many are guessed behind each. */
export const headsMax = 1024
export const guessesMax = 4
export const headTextBytesMax = 64 * 1024

/** Numbers of known keys are below. */
export const keysMax = 256

/** Of a text that is looked at in one go: it stays in the processor's first cache. */
export const windowBytesMax = 32 * 1024

/** 8 MiB: about 20,000 events of a browser. More would only hold what is cold again when it is read. */
export const cellsMax = 2 * 1024 * 1024

/** Texts are compared 16 bytes at a time, the last ones whatever stands behind them. */
const overlap = 16

/** What a run leaves, four i32: the last head passed, the place behind its value, members passed, the tape's top. */
export const leftAt = 0
/** Arrays of heads by number: i32, or i16 where two bytes are enough. */
export const startsAt = 64
export const sizesAt = startsAt + headsMax * 4
export const metAt = sizesAt + headsMax * 4
export const keysAt = metAt + headsMax * 4
export const namesAt = keysAt + headsMax * 2
export const guessesAt = namesAt + headsMax * 2
/** By known key, i32: the event that met it last. */
export const keySeenAt = guessesAt + headsMax * guessesMax * 2
export const headTextAt = keySeenAt + keysMax * 4
export const windowAt = headTextAt + headTextBytesMax + overlap
/** The cells of the tape, i32. A window has a byte more than its text. */
export const cellsAt = windowAt + windowBytesMax + overlap * 2

export const memoryBytes = cellsAt + cellsMax * 4
