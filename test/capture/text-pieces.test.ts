import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { TextPieces } from '../../src/capture/text-pieces.ts'

const limits = { sliceBytes: 100, heldBytesMax: 1000, textBytesMax: 5000 }
const text = randomBytes(2000).toString('hex')

function bytes(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts))
}

function gzip(content: string): Uint8Array {
  return gzipSync(content, { level: 0 })
}

/** All text, read so that no more than `held` bytes of it are left between two pieces; or why it ended. */
async function readAll(
  body: Uint8Array<ArrayBuffer>,
  held = 0,
  some: Partial<typeof limits> = {},
): Promise<string> {
  const pieces = new TextPieces(body, { ...limits, ...some })
  let read = ''
  try {
    for (;;) {
      const kind = await pieces.more()
      const count = kind === 'more' ? Math.max(0, pieces.bytes.length - held) : pieces.bytes.length
      read += Buffer.from(pieces.bytes.subarray(0, count)).toString()
      pieces.drop(count)
      if (kind === 'end') return pieces.count === read.length ? read : `${pieces.count} came`
      if (kind === 'over') return kind
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error) // zlib throws nothing but its errors
  } finally {
    pieces.close()
  }
}

t.test('gives all of the text in pieces', async (t) => {
  // A slice of what is packed makes up to some 250 bytes of text.
  for (const held of [0, 1, 57, 600]) {
    t.equal(await readAll(bytes(gzip(text)), held), text)
    t.equal(await readAll(bytes(gzipSync(text)), held), text)
  }
  t.equal(await readAll(bytes(gzip(text)), 0, { sliceBytes: 1 }), text)
  t.equal(await readAll(bytes(gzip(text)), 0, { sliceBytes: 1e6, heldBytesMax: 4000 }), text)
})

t.test('joins members', async (t) => {
  for (let sliceBytes = 50; sliceBytes < 80; sliceBytes++)
    t.equal(await readAll(bytes(gzip('one '), gzip(''), gzip('two ')), 0, { sliceBytes }), 'one two ')
})

t.test('gives up when a limit is exceeded', async (t) => {
  const body = bytes(gzip(text))
  t.equal(await readAll(body, 0, { textBytesMax: 4000 }), text)
  t.equal(await readAll(body, 0, { textBytesMax: 3999 }), 'over')
  t.equal(await readAll(body, 900), text)
  t.equal(await readAll(body, 901), 'over')
  t.equal(await readAll(bytes(gzipSync(Buffer.alloc(200_000))), 0), 'over', 'a bomb')
})

t.test('gives up or fails where gunzip refuses or finds padding', async (t) => {
  const whole = bytes(gzip(text))
  t.equal(await readAll(bytes(whole, Buffer.alloc(512))), 'over')
  t.equal(await readAll(bytes(whole, Buffer.from('trailing'))), 'Z_DATA_ERROR')
  t.equal(await readAll(bytes(whole, whole.subarray(0, 12))), 'Z_BUF_ERROR')
  for (const end of [3, 10, 500, whole.length - 1])
    t.equal(await readAll(whole.slice(0, end)), 'Z_BUF_ERROR', `cut at ${end}`)
  const damaged = whole.slice()
  damaged[damaged.length - 6]! ^= 1
  t.equal(await readAll(damaged), 'Z_DATA_ERROR', 'wrong CRC')
})
