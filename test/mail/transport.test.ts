import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type Mail, parseSmtpUrl, smtpTransport } from '../../src/mail/transport.ts'
import { certificate, startMailServer } from '../support/smtp.ts'

const mail: Mail = { to: 'grace@example.com', subject: 'Hello', text: 'Come in: t0ken', about: 'invite 1' }

function deliver(url: string, sent: Partial<Mail> = {}, ca: string | undefined = certificate): Promise<void> {
  const server = parseSmtpUrl(url)
  if (server === null) throw new Error(`no SMTP_URL: ${url}`)
  return smtpTransport(server, 'Spate <spate@example.com>', ca).deliver({ ...mail, ...sent })
}

t.test('reads an SMTP_URL', async (t) => {
  t.same(parseSmtpUrl('smtp://mail.example'), {
    host: 'mail.example',
    port: 587,
    isSecure: false,
    auth: null,
  })
  t.same(parseSmtpUrl('smtps://a%40b:p%2Fw@mail.example'), {
    host: 'mail.example',
    port: 465,
    isSecure: true,
    auth: { user: 'a@b', pass: 'p/w' },
  })
  t.match(parseSmtpUrl('smtp://[::1]:2525'), { host: '::1', port: 2525 })
  for (const text of ['http://mail.example', 'mail.example', 'smtp://', '']) t.equal(parseSmtpUrl(text), null)
})

t.test('delivers, encrypted as soon as the server offers it', async (t) => {
  const server = await startMailServer(t)
  await deliver(server.url, { subject: 'Grüße\r\nBcc: eve@example.com', text: 'Zeile 1\nZeile 2 — ünï' })
  t.match(server.received, [
    { from: 'spate@example.com', to: ['grace@example.com'], isEncrypted: true, user: null },
  ])
  const { text } = server.received[0]!
  t.match(text, /^From: Spate <spate@example\.com>\r$/m)
  t.match(text, /^To: grace@example\.com\r$/m)
  t.match(text, /^Subject: =\?UTF-8\?/m)
  t.notMatch(text, /^Bcc:/im)
  t.match(text, /^Zeile 1\r\nZeile 2 =E2=80=94 =C3=BCn=C3=AF\r$/m)
})

t.test('logs in, and sends no password in clear', async (t) => {
  const server = await startMailServer(t)
  await deliver(server.url.replace('//', '//ada:s3cret@'))
  t.match(server.received, [{ isEncrypted: true, user: 'ada' }])
  const refused = await failureOf(deliver(server.url.replace('//', '//ada:wr0ng@')))
  t.match(refused, { code: 'mail_refused' })
  t.notMatch(JSON.stringify(refused, Object.getOwnPropertyNames(refused)), /wr0ng|t0ken/)

  const clear = await startMailServer(t, { disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
  await t.rejects(deliver(clear.url.replace('//', '//ada:s3cret@')), { code: 'mail_refused' })
  t.same(clear.received, [])
  await deliver(clear.url)
  t.match(clear.received, [{ isEncrypted: false }])
})

t.test('speaks TLS from the first byte with smtps', async (t) => {
  const server = await startMailServer(t, { secure: true })
  await deliver(server.url.replace('smtp:', 'smtps:'))
  t.match(server.received, [{ isEncrypted: true }])
})

t.test('trusts no certificate that it does not know', async (t) => {
  const server = await startMailServer(t)
  const target = parseSmtpUrl(server.url)!
  await t.rejects(smtpTransport(target, 'spate@example.com').deliver(mail), { code: 'mail_unavailable' })
  t.same(server.received, [])
})

t.test('tells a refusal for good from one for now', async (t) => {
  const answering =
    (responseCode: number) => (_address: unknown, _session: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error('not this one'), { responseCode }))
  const final = await startMailServer(t, { onRcptTo: answering(550) })
  await t.rejects(deliver(final.url), { code: 'mail_refused' })
  const passing = await startMailServer(t, { onRcptTo: answering(451) })
  await t.rejects(deliver(passing.url), { code: 'mail_unavailable' })
  await t.rejects(deliver('smtp://127.0.0.1:1'), { code: 'mail_unavailable' })
})

t.test('gives up a server that says nothing', async (t) => {
  const port = await startMute(t)
  const startMs = performance.now()
  await t.rejects(deliver(`smtp://127.0.0.1:${port}`), { code: 'mail_unavailable' })
  // Its limit is ten seconds, and nobody else's is below thirty.
  t.ok(performance.now() - startMs < 25_000)
})

/** Accepts and never greets. */
async function startMute(t: Test): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port // a listening TCP server has one
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error // what deliver throws
  }
  throw new Error('did not fail')
}
