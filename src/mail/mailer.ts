// Mail in the background: whoever sends one goes on at once, and a mail server that is slow or away holds up nobody.
// Mails wait in memory, since some hold a token that is stored nowhere; a crash loses those that were waiting.

import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { isServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import type { Log } from '../telemetry/log.ts'
import { type Mail, parseSmtpUrl, smtpTransport, type Transport } from './transport.ts'

export interface Mailer {
  /** True when there is a mail server to send with. */
  readonly isConfigured: boolean
  /**
   * Takes a mail to send it soon; call it after the commit of what the mail speaks of. Returns false when it will not
   * be sent: without SMTP_URL, or when too many wait.
   */
  send(mail: Mail): boolean
  /** Stops; gives mails that are on their way `closeMsMax`, and those that wait none. */
  close(): Promise<void>
}

export interface MailerOptions {
  /** Null: nothing is sent. */
  readonly transport: Transport | null
  readonly log: Log
  /** Waits between attempts at the same mail, ms; its length and one more is how many attempts there are. */
  readonly retryMs?: readonly number[]
  readonly waitingMax?: number
}

const retryMsDefault = [5_000, 30_000, 120_000, 600_000]
/** Mails that wait or are being sent; an invite is a few KiB. */
const waitingMaxDefault = 1_000
/** Connections to the mail server at once. */
const sendersMax = 4
const closeMsMax = 5_000

/** Null where mail is not set up. */
export function transportOf(config: Pick<Config, 'smtpUrl' | 'mailFrom'>): Transport | null {
  const { smtpUrl, mailFrom } = config
  if (smtpUrl === null) return null
  const server = parseSmtpUrl(smtpUrl)
  assert(server !== null && mailFrom !== null, 'loadConfig has checked both')
  return smtpTransport(server, mailFrom)
}

export function openMailer({ transport, log, retryMs, waitingMax }: MailerOptions): Mailer {
  if (transport !== null) return new MailQueue(transport, log, retryMs, waitingMax)
  const send = ({ about }: Mail): boolean => {
    log.info({ about }, 'no mail is sent, because SMTP_URL is not set')
    return false
  }
  return { isConfigured: false, send, close: async () => {} }
}

interface Job {
  readonly mail: Mail
  /** Attempts so far. */
  attempts: number
}

/** Jobs are ready, being sent, or asleep until their next attempt; a job that sleeps holds up no other. */
class MailQueue implements Mailer {
  readonly isConfigured = true
  readonly #transport: Transport
  readonly #log: Log
  readonly #retryMs: readonly number[]
  readonly #waitingMax: number
  readonly #ready: Job[] = []
  readonly #sending = new Set<Promise<void>>()
  readonly #sleeping = new Map<Job, NodeJS.Timeout>()
  #isClosed = false

  constructor(
    transport: Transport,
    log: Log,
    retryMs: readonly number[] = retryMsDefault,
    waitingMax: number = waitingMaxDefault,
  ) {
    this.#transport = transport
    this.#log = log
    this.#retryMs = retryMs
    this.#waitingMax = waitingMax
  }

  send(mail: Mail): boolean {
    const count = this.#ready.length + this.#sending.size + this.#sleeping.size
    if (this.#isClosed || count >= this.#waitingMax) {
      this.#log.error({ about: mail.about, waiting: count }, 'a mail was not sent: too many wait')
      return false
    }
    this.#ready.push({ mail, attempts: 0 })
    this.#fill()
    return true
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#sleeping.values()) clearTimeout(timer)
    const given = [...this.#ready.splice(0), ...this.#sleeping.keys()]
    this.#sleeping.clear()
    for (const { mail } of given) this.#log.warn({ about: mail.about }, 'a mail was not sent before the stop')
    await Promise.race([Promise.all(this.#sending), delay(closeMsMax, null, { ref: false })])
  }

  #fill(): void {
    while (this.#sending.size < sendersMax) {
      const job = this.#ready.shift()
      if (job === undefined) return
      const sending = this.#attempt(job).finally(() => {
        this.#sending.delete(sending)
        this.#fill()
      })
      this.#sending.add(sending)
    }
  }

  async #attempt(job: Job): Promise<void> {
    const { about } = job.mail
    try {
      await this.#transport.deliver(job.mail)
      this.#log.info({ about }, 'mail sent')
    } catch (error) {
      const waitMs = isServiceError(error, 'mail_refused') ? undefined : this.#retryMs[job.attempts++]
      if (waitMs === undefined || this.#isClosed) {
        this.#log.error({ err: error, about }, 'a mail was not sent')
        return
      }
      this.#log.warn({ err: error, about, retry_in_ms: waitMs }, 'a mail was not sent yet')
      this.#sleep(job, waitMs)
    }
  }

  #sleep(job: Job, waitMs: number): void {
    const wake = (): void => {
      this.#sleeping.delete(job)
      this.#ready.push(job)
      this.#fill()
    }
    this.#sleeping.set(job, setTimeout(wake, waitMs).unref())
  }
}
