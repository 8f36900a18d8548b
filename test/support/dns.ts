// A name server on loopback for tests, over UDP as real ones are: answers what the test says.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'
import type { Test } from 'tap'

export type RecordType = 'A' | 'AAAA' | 'TXT'
/** Addresses or texts; no such name; a broken server; no answer at all. */
export type DnsAnswer = readonly string[] | 'nxdomain' | 'servfail' | 'silent'

export interface DnsServer {
  /** For DNS_SERVERS. */
  readonly address: string
  /** Questions so far, as "A example.com". */
  readonly asked: string[]
}

const types: Readonly<Record<number, RecordType>> = { 1: 'A', 28: 'AAAA', 16: 'TXT' }
const codes = { nxdomain: 3, servfail: 2 }

/** Starts a server that answers each question with `answer`; it ends with the test. */
export async function startDns(
  t: Test,
  answer: (type: RecordType, name: string) => DnsAnswer,
): Promise<DnsServer> {
  const asked: string[] = []
  const socket = createSocket('udp4', (packet, peer) => {
    const { name, typeNumber, end } = readQuestion(packet)
    const type = types[typeNumber]
    if (type !== undefined) asked.push(`${type} ${name}`)
    const said = type === undefined ? 'nxdomain' : answer(type, name)
    if (said === 'silent') return
    const records = typeof said === 'string' ? [] : said.map((text) => recordOf(typeNumber, text))
    const header = Buffer.from(packet.subarray(0, 12))
    header[2] = 0x81
    header[3] = 0x80 | (typeof said === 'string' ? codes[said] : 0)
    header.writeUInt16BE(records.length, 6)
    header.fill(0, 8)
    socket.send(Buffer.concat([header, packet.subarray(12, end), ...records]), peer.port, peer.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function readQuestion(packet: Buffer): { name: string; typeNumber: number; end: number } {
  const labels: string[] = []
  let at = 12
  while (packet[at]! > 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + packet[at]!))
    at += 1 + packet[at]!
  }
  return { name: labels.join('.').toLowerCase(), typeNumber: packet.readUInt16BE(at + 1), end: at + 5 }
}

/** One answer for the name of the question, with no time to live. */
function recordOf(typeNumber: number, text: string): Buffer {
  const bytes = typeNumber === 16 ? textBytes(text) : Buffer.from(ipaddr.parse(text).toByteArray())
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(typeNumber, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([record, bytes])
}

/** A text as strings of at most 255 bytes. */
function textBytes(text: string): Buffer {
  const strings = text.match(/.{1,255}/gs) ?? ['']
  return Buffer.concat(strings.map((one) => Buffer.concat([Buffer.from([one.length]), Buffer.from(one)])))
}
