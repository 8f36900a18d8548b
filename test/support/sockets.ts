// Raw HTTP over TCP, for requests no client library would send.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One connection. Replies need a Content-Length, or none and no body. */
export class RawClient {
  readonly socket: Socket
  #received = ''
  #isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
    })
    socket.on('error', () => {
      // A reset is one of the ways a server may end a connection; `close` follows and tells.
    })
    socket.on('close', () => {
      this.#isClosed = true
    })
  }

  static async open(port: number): Promise<RawClient> {
    const client = new RawClient(connect(port, '127.0.0.1'))
    await once(client.socket, 'connect')
    return client
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** The next reply, null when the connection closes before one is complete. */
  async reply(): Promise<RawReply | null> {
    for (;;) {
      const parsed = parseReply(this.#received)
      if (parsed !== null) {
        this.#received = this.#received.slice(parsed.bytes)
        return parsed.reply
      }
      if (this.#isClosed) return null
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')])
    }
  }

  /** All that came since the last reply, once it matches. */
  async text(expected: RegExp): Promise<string> {
    while (!expected.test(this.#received)) await once(this.socket, 'data')
    return this.#received
  }

  async closed(): Promise<void> {
    if (!this.#isClosed) await once(this.socket, 'close')
  }

  destroy(): void {
    this.socket.destroy()
  }
}

function parseReply(text: string): { reply: RawReply; bytes: number } | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const closes = headers['content-length'] === undefined && headers.connection === 'close'
  const length = closes ? text.length - headEnd - 4 : Number(headers['content-length'] ?? 0)
  const bytes = headEnd + 4 + length
  if (text.length < bytes) return null
  const reply = { status: Number(statusLine.split(' ')[1]), headers, body: text.slice(headEnd + 4, bytes) }
  return { reply, bytes }
}

/** Sends one request on a connection of its own. `headers` lines without line ends. */
export async function request(
  port: number,
  start: string,
  headers: readonly string[] = [],
  body = '',
): Promise<RawReply | null> {
  const client = await RawClient.open(port)
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  client.send(`${[`${start} HTTP/1.1`, 'Host: x', ...length, ...headers].join('\r\n')}\r\n\r\n${body}`)
  const reply = await client.reply()
  client.destroy()
  return reply
}
