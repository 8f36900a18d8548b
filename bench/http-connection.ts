// A kept-alive HTTP connection that costs the generator as little as Node allows: prebuilt bytes go to the socket in
// one write, and of an answer only the status and the length are read. node:http takes three times as long.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Called once a request; status null when the connection ended without an answer. `body` is valid during the call. */
export type Answered = (status: number | null, body: Buffer) => void

const none = Buffer.alloc(0)
const endOfHead = Buffer.from('\r\n\r\n')
const endOfLine = Buffer.from('\r\n')
/** Longer than any head that a server of ours sends. */
const headBytesMax = 16_384

export class HttpConnection {
  readonly #socket: Socket
  #received: Buffer = none
  #answered: Answered | null = null
  #isOpen = true

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('close', () => this.#closed())
    // Before the answer that may follow on another connection, which 'close' need not be.
    socket.on('end', () => {
      this.#isOpen = false
    })
    // Which error it was does not matter: 'close' follows, and no answer comes.
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<HttpConnection> {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    return new HttpConnection(socket)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends a request; one at a time. `bytes` must stay as they are until the answer. */
  send(bytes: Uint8Array, answered: Answered): void {
    if (this.#answered !== null) throw new Error('a request is under way on this connection')
    this.#answered = answered
    this.#socket.write(bytes)
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = this.#received.indexOf(endOfHead)
    if (headEnd < 0) {
      if (this.#received.length > headBytesMax) this.close()
      return
    }
    const head = this.#received.toString('latin1', 0, headEnd)
    const body = bodyOf(head, this.#received.subarray(headEnd + endOfHead.length))
    if (body === null) return
    const answered = this.#answered
    this.#received = none
    this.#answered = null
    answered?.(Number(head.slice(9, 12)), body)
  }

  #closed(): void {
    this.#isOpen = false
    const answered = this.#answered
    this.#answered = null
    answered?.(null, none)
  }
}

/** The body at the start of `received`, with the length that `head` tells or in chunks; null while it is incomplete. */
function bodyOf(head: string, received: Buffer): Buffer | null {
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return chunkedBody(received)
  const size = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  return received.length < size ? null : received.subarray(0, size)
}

function chunkedBody(received: Buffer): Buffer | null {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = received.indexOf(endOfLine, at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    const start = lineEnd + endOfLine.length
    at = start + size + endOfLine.length
    if (received.length < at) return null
    // No server here sends trailers.
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(received.subarray(start, start + size))
  }
}
