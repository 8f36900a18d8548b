// Requests as bytes on the wire, head and body in one piece: what a generator hands to a socket.
//
// Plain bodies are patched when they are sent. Packed ones cannot be, and are packed ahead, all of a run.

import { gzipSync } from 'node:zlib'
import lzString from 'lz-string'
import { basisOf, basisTexts, drawBasis, PatchableText } from './basis.ts'
import type { Corpus } from './corpus.ts'
import { projectKeyOf, type Workload } from './workload.ts'

/** What every body but lz64's begins with. */
const beforeApiKey = '{"api_key":"'
/** A basis that comes once is not worth its memory. */
const basesKept = 256

export class RequestBytes {
  readonly #workload: Workload
  readonly #corpus: Corpus
  readonly #bases = new Map<number, PatchableText>()
  readonly #packed = new Map<number, Buffer>()

  constructor(corpus: Corpus, workload: Workload) {
    this.#corpus = corpus
    this.#workload = workload
  }

  /** Packs `count` requests from `first` on ahead, as far as they can be. */
  prepare(count: number, first = 0): void {
    const { basisCount, encoding } = this.#workload
    if (encoding === 'plain')
      for (let basis = 0; basis < Math.min(count, basisCount); basis++) this.#basis(basis)
    else
      for (let number = first; number < first + count; number++)
        if (!this.#packed.has(number)) this.#packed.set(number, this.#pack(number))
  }

  /** The bytes of request `number`, which the caller may keep but not change. */
  bytesOf(number: number): Buffer {
    if (this.#workload.encoding !== 'plain') return this.#packed.get(number) ?? this.#pack(number)
    const text = this.#text(number)
    return Buffer.concat([head(this.#workload, text.length), text])
  }

  /** The body of a basis that is not packed, in pieces between which a request's number goes. */
  slotsOf(basis: number): string[] {
    return this.#basis(basis).slots()
  }

  #text(number: number): Buffer {
    const { projectCount } = this.#workload
    const text = this.#basis(basisOf(this.#workload, number)).patch(number)
    if (projectCount > 1)
      text.write(projectKeyOf(this.#corpus.projectApiKey, number % projectCount), beforeApiKey.length)
    return text
  }

  #pack(number: number): Buffer {
    const text = this.#text(number)
    const body = this.#workload.encoding === 'gzip' ? gzipSync(text) : lz64Form(text)
    return Buffer.concat([head(this.#workload, body.length), body])
  }

  #basis(basis: number): PatchableText {
    const known = this.#bases.get(basis)
    if (known !== undefined) return known
    const texts = basisTexts(drawBasis(this.#corpus, this.#workload, basis))
    const made = new PatchableText(bodyText(this.#workload, this.#corpus.projectApiKey, texts))
    if (basis < basesKept) this.#bases.set(basis, made)
    return made
  }
}

/** Without `sent_at`: with it the server would shift timestamps by the difference of clocks. */
function bodyText({ eventCount, encoding, lane }: Workload, key: string, texts: readonly string[]): string {
  // Old posthog-js sends a list; each event's properties name the token.
  if (encoding === 'lz64') return `[${texts.join(',')}]`
  if (eventCount === 1) return `${beforeApiKey}${key}",${texts[0]!.slice(1)}`
  const flag = lane === 'historical' ? ',"historical_migration":true' : ''
  return `${beforeApiKey}${key}"${flag},"batch":[${texts.join(',')}]}`
}

function lz64Form(text: Buffer): Buffer {
  return Buffer.from(`data=${encodeURIComponent(lzString.compressToBase64(text.toString()))}`)
}

function head({ encoding, eventCount }: Workload, bodyBytes: number): Buffer {
  const path = encoding === 'lz64' ? '/e/?compression=lz64' : eventCount === 1 ? '/capture/' : '/batch/'
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Type: ${encoding === 'lz64' ? 'application/x-www-form-urlencoded' : 'application/json'}`,
    ...(encoding === 'gzip' ? ['Content-Encoding: gzip'] : []),
    `Content-Length: ${bodyBytes}`,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}
