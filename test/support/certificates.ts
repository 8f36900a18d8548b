// A certificate authority of a test's own: X.509 as it is written down (RFC 5280), signed with keys that are made here.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Authority {
  /** Its own certificate, PEM. */
  readonly certificate: string
  /** A server's certificate for `host`, valid between `fromMs` and `untilMs` from now, and its key; both PEM. */
  issue(host: string, fromMs?: number, untilMs?: number): { readonly cert: string; readonly key: string }
}

const dayMs = 86_400_000

export function openAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issue = (subject: string, key: KeyObject, from: number, until: number, extension: Buffer): string => {
    const times = [from, until].map((ms) => utcTime(new Date(Date.now() + ms)))
    const signed = sequence(
      element(0xa0, element(0x02, Buffer.from([2]))),
      element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ecdsaWithSha256,
      nameOf(name),
      sequence(...times),
      nameOf(subject),
      key.export({ type: 'spki', format: 'der' }),
      element(0xa3, sequence(extension)),
    )
    const signature = sign('sha256', signed, privateKey)
    const whole = sequence(signed, ecdsaWithSha256, element(0x03, Buffer.from([0]), signature))
    const lines = whole.toString('base64').match(/.{1,64}/g)!
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
  }
  return {
    certificate: issue(name, publicKey, -dayMs, dayMs, isAuthority),
    issue(host, fromMs = -dayMs, untilMs = dayMs) {
      const server = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const names = element(0x04, sequence(element(0x82, Buffer.from(host))))
      const cert = issue(host, server.publicKey, fromMs, untilMs, sequence(objectId('551d11'), names))
      return { cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
    },
  }
}

function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const size = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return element(0x30, ...contents)
}

function objectId(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, 'hex'))
}

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
/** Basic constraints, critical: an authority. */
const isAuthority = sequence(
  objectId('551d13'),
  element(0x01, Buffer.from([255])),
  element(0x04, sequence(element(0x01, Buffer.from([255])))),
)

/** With a common name and nothing else. */
function nameOf(text: string): Buffer {
  return sequence(element(0x31, sequence(objectId('550403'), element(0x0c, Buffer.from(text)))))
}

/** Until 2049. */
function utcTime(date: Date): Buffer {
  return element(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))
}
