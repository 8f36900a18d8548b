// A mail server on loopback for tests: STARTTLS with a certificate of its own, the user ada with the password s3cret.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body as they came. */
  readonly text: string
  readonly isEncrypted: boolean
  readonly user: string | null
}

export interface MailServer {
  readonly port: number
  /** For SMTP_URL, without user. */
  readonly url: string
  readonly received: ReceivedMail[]
  /** Connections so far. */
  connections(): number
}

/** Of 127.0.0.1 and localhost; good until 2126. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUK7cVlcldisljQslerFd5L5DlpugwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTExMjkyNloYDzIxMjYxMDI4
MTEyOTI2WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR3vpdnEPtsZwTZ+WZYOBZ8VAmC9pxN+Oyw1l13hQeJn60F+saBRbwU
4RnexNGv7q2PgLD90ql60oOwt1tgLpFho28wbTAdBgNVHQ4EFgQUu1gIBp64tGcC
/xP+9tAFjWanowwwHwYDVR0jBBgwFoAUu1gIBp64tGcC/xP+9tAFjWanowwwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgdyH3y0Qukg4udKuIt+nUgxpYBtq3OTaiCIAEM85jYfECIQDD
Md7nvu5Ot8l6lG1OhYzJPYPFp8JS4njDjmvkSAeikQ==
-----END CERTIFICATE-----
`
export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvNEVKH8Gwfg8pSKH
/4LdTUOOjTcRDDp346eIAXTk29uhRANCAAR3vpdnEPtsZwTZ+WZYOBZ8VAmC9pxN
+Oyw1l13hQeJn60F+saBRbwU4RnexNGv7q2PgLD90ql60oOwt1tgLpFh
-----END PRIVATE KEY-----
`

/** Starts a server that takes every mail; it ends with the test. */
export async function startMailServer(t: Test, options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  let connections = 0
  const server = new SMTPServer({
    cert: certificate,
    key: privateKey,
    authOptional: true,
    disableReverseLookup: true,
    onConnect(_session, done) {
      connections++
      done()
    },
    onAuth({ username, password }, _session, done) {
      if (username === 'ada' && password === 's3cret') done(null, { user: 'ada' })
      else done(new Error('wrong password'))
    },
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
          isEncrypted: secure,
          user: typeof user === 'string' ? user : null,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {}) // a client that hangs up is part of some tests
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo // a listening TCP server has one
  return { port, url: `smtp://127.0.0.1:${port}`, received, connections: () => connections }
}
