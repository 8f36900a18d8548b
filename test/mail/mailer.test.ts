import t from 'tap'
import { loadConfig } from '../../src/config.ts'
import { ServiceError } from '../../src/errors.ts'
import { openMailer, transportOf } from '../../src/mail/mailer.ts'
import type { Mail, Transport } from '../../src/mail/transport.ts'
import { silentLog } from '../support/postgres.ts'
import { startMailServer } from '../support/smtp.ts'
import { until } from '../support/until.ts'

function mailOf(about: string): Mail {
  return { to: 'grace@example.com', subject: 'Hello', text: 'Come in: t0ken', about }
}

/** Answers each attempt with the next outcome; the last one stays. */
function scripted(...outcomes: (Error | 'ok' | Promise<void>)[]) {
  const attempts: string[] = []
  const transport: Transport = {
    async deliver({ about }) {
      const outcome = outcomes[Math.min(attempts.push(about) - 1, outcomes.length - 1)]
      if (outcome instanceof Error) throw outcome
      if (outcome !== 'ok') await outcome
    },
  }
  return { transport, attempts }
}

function logging() {
  const lines: string[] = []
  const write = (...words: unknown[]): void => void lines.push(JSON.stringify(words))
  const log = { ...silentLog, info: write, warn: write, error: write } as typeof silentLog // only these are called
  return { log, lines }
}

t.test('sends in the background, after the caller went on', async (t) => {
  const server = await startMailServer(t, { hideSTARTTLS: true })
  const sender = { MAIL_FROM: 'spate@example.com', SITE_URL: 'https://spate.example' }
  const transport = transportOf(loadConfig({ SMTP_URL: server.url, ...sender }))
  const { log, lines } = logging()
  const mailer = openMailer({ transport, log })
  t.teardown(() => mailer.close())
  t.equal(mailer.isConfigured, true)
  t.equal(mailer.send(mailOf('invite 1')), true)
  t.equal(server.received.length, 0)
  await until(() => lines.length > 0)
  t.match(server.received, [{ from: 'spate@example.com', to: ['grace@example.com'] }])
  t.same(lines, ['[{"about":"invite 1"},"mail sent"]'])
})

t.test('without a mail server a mail is logged without its text and not sent', async (t) => {
  const { log, lines } = logging()
  const mailer = openMailer({ transport: transportOf(loadConfig({})), log })
  t.equal(mailer.isConfigured, false)
  t.equal(mailer.send(mailOf('invite 1')), false)
  t.same(lines, ['[{"about":"invite 1"},"no mail is sent, because SMTP_URL is not set"]'])
  await mailer.close()
})

t.test('tries again for what may pass, a limited number of times', async (t) => {
  const unavailable = new ServiceError('mail_unavailable')
  const passing = scripted(unavailable, unavailable, 'ok')
  const first = openMailer({ transport: passing.transport, log: silentLog, retryMs: [1, 1] })
  first.send(mailOf('a'))
  await until(() => passing.attempts.length === 3)
  await first.close()

  const lasting = scripted(unavailable)
  const { log, lines } = logging()
  const second = openMailer({ transport: lasting.transport, log, retryMs: [1, 1] })
  second.send(mailOf('a'))
  await until(() => lines.some((line) => line.includes('"a mail was not sent"')))
  t.equal(lasting.attempts.length, 3)
  t.notMatch(lines.join(), 't0ken')
  await second.close()
})

t.test('does not repeat what was refused for good', async (t) => {
  const { transport, attempts } = scripted(new ServiceError('mail_refused'))
  const { log, lines } = logging()
  const mailer = openMailer({ transport, log, retryMs: [1] })
  mailer.send(mailOf('a'))
  await until(() => lines.length > 0)
  t.same(attempts, ['a'])
  t.match(lines, [/a mail was not sent"/])
  await mailer.close()
})

t.test('a mail that waits for its next attempt holds up no other', async (t) => {
  const unavailable = new ServiceError('mail_unavailable')
  const { transport, attempts } = scripted(unavailable, unavailable, unavailable, unavailable, 'ok')
  const mailer = openMailer({ transport, log: silentLog, retryMs: [1_000_000] })
  for (const about of ['a', 'b', 'c', 'd', 'e', 'f']) mailer.send(mailOf(about))
  await until(() => attempts.length === 6)
  t.same(attempts, ['a', 'b', 'c', 'd', 'e', 'f'])
  await mailer.close()
})

t.test('sends four at once and refuses more than may wait', async (t) => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { transport, attempts } = scripted(held)
  const mailer = openMailer({ transport, log: silentLog, waitingMax: 6 })
  const taken = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((about) => mailer.send(mailOf(about)))
  t.same(taken, [true, true, true, true, true, true, false])
  t.same(attempts, ['a', 'b', 'c', 'd'])
  release()
  await until(() => attempts.length === 6)
  t.equal(mailer.send(mailOf('h')), true)
  await mailer.close()
  t.equal(mailer.send(mailOf('i')), false)
})

t.test('a stop waits for what is being sent and names what is not', async (t) => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { transport, attempts } = scripted(held)
  const { log, lines } = logging()
  const mailer = openMailer({ transport, log })
  for (const about of ['a', 'b', 'c', 'd', 'e']) mailer.send(mailOf(about))
  const closed = mailer.close()
  t.same(lines, ['[{"about":"e"},"a mail was not sent before the stop"]'])
  release()
  await closed
  t.equal(attempts.length, 4)
  t.equal(lines.length, 5)
})
