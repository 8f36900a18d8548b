// Writes small MaxMind DB files (format 2.0): a search tree of 24-bit records, the data it leads to, the metadata.

import { isIPv4 } from 'node:net'

type Value = string | number | readonly Value[] | { readonly [key: string]: Value }

/** Records by network, such as `81.2.69.0/24`; IPv6 networks make it a file of IPv6. */
export function mmdbFile(
  databaseType: string,
  records: Readonly<Record<string, Value>>,
  ipVersion: 4 | 6,
): Buffer {
  const nodes: (number | null)[][] = [[null, null]]
  const data: Buffer[] = []
  let dataSize = 0
  const leaves: { node: number; bit: number; offset: number }[] = []
  for (const [network, record] of Object.entries(records)) {
    const [address = '', length = '0'] = network.split('/')
    const bits = bitsOf(address, ipVersion).slice(
      0,
      Number(length) + (ipVersion === 6 && isIPv4(address) ? 96 : 0),
    )
    let node = 0
    for (const bit of bits.slice(0, -1)) {
      let next = nodes[node]![bit] ?? null
      if (next === null) {
        next = nodes.push([null, null]) - 1
        nodes[node]![bit] = next
      }
      node = next
    }
    leaves.push({ node, bit: bits.at(-1)!, offset: dataSize })
    const encoded = encode(record)
    data.push(encoded)
    dataSize += encoded.length
  }
  const count = nodes.length
  for (const { node, bit, offset } of leaves) nodes[node]![bit] = count + 16 + offset
  const tree = Buffer.alloc(count * 6)
  for (const [index, node] of nodes.entries()) {
    for (const bit of [0, 1]) tree.writeUIntBE(node[bit] ?? count, index * 6 + bit * 3, 3)
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_714_521_600,
    database_type: databaseType,
    description: { en: 'test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: count,
    record_size: 24,
  })
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    ...data,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ])
}

function bitsOf(address: string, ipVersion: 4 | 6): number[] {
  const bits = (bytes: readonly number[], width: number): number[] =>
    bytes.flatMap((byte) => Array.from({ length: width }, (_, index) => (byte >> (width - 1 - index)) & 1))
  if (isIPv4(address)) {
    const own = bits(address.split('.').map(Number), 8)
    return ipVersion === 4 ? own : [...Array(96).fill(0), ...own]
  }
  const [left = '', right = ''] = address.split('::')
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((one) => Number.parseInt(one, 16))
  const middle = Array(8 - groups(left).length - groups(right).length).fill(0)
  return bits([...groups(left), ...middle, ...groups(right)], 16)
}

function encode(value: Value): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0) {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value)
      return Buffer.concat([control(6, 4), bytes])
    }
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    return Buffer.concat([control(3, 8), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  const members = Object.entries(value)
  return Buffer.concat([
    control(7, members.length),
    ...members.flatMap(([key, one]) => [encode(key), encode(one)]),
  ])
}

/** Types beyond 7 take a byte more, sizes from 29 on too. */
function control(type: number, size: number): Buffer {
  const short = Math.min(size, 29)
  const head = type <= 7 ? [(type << 5) | short] : [short, type - 7]
  return Buffer.from(size >= 29 ? [...head, size - 29] : head)
}

/** MaxMind's schema and the flat one, with addresses of documentation in them. */
export const london = {
  city: { names: { en: 'London' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
  location: { accuracy_radius: 100, latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
  postal: { code: 'EC1A' },
  subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
}
export const berlin = {
  city: 'Berlin',
  country_code: 'DE',
  latitude: 52.52,
  longitude: 13.405,
  postcode: '10115',
  state1: 'Land Berlin',
  state2: '',
  timezone: 'Europe/Berlin',
}
