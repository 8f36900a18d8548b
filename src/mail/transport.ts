// One mail over SMTP. Only this file knows nodemailer, and loads it with the first mail.

import { ServiceError } from '../errors.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  /** Plain text; may hold a secret, which goes into no log. */
  readonly text: string
  /** What the log calls this mail, without a secret: "invite 0190…". */
  readonly about: string
}

export interface Transport {
  /** Resolves when the server has taken the mail. */
  deliver(mail: Mail): Promise<void>
}

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte; otherwise as soon as the server offers it. */
  readonly isSecure: boolean
  readonly auth: { readonly user: string; readonly pass: string } | null
}

/** A mail server that is silent for longer is given up, for now. */
const connectMsMax = 10_000
const silenceMsMax = 20_000

/** Reads SMTP_URL: smtp:// or smtps://, user and password, host and port. Null for what is none. */
export function parseSmtpUrl(text: string): SmtpServer | null {
  if (!URL.canParse(text)) return null
  const { protocol, hostname, port, username, password } = new URL(text)
  if ((protocol !== 'smtp:' && protocol !== 'smtps:') || hostname === '') return null
  const isSecure = protocol === 'smtps:'
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    isSecure,
    auth: username === '' ? null : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
  }
}

/** `from` is MAIL_FROM. `ca`: certificates to trust instead of the well-known ones. */
export function smtpTransport(server: SmtpServer, from: string, ca?: string): Transport {
  const { host, port, isSecure, auth } = server
  const settings = {
    host,
    port,
    secure: isSecure,
    // A password goes over the network encrypted or not at all.
    requireTLS: !isSecure && auth !== null,
    connectionTimeout: connectMsMax,
    greetingTimeout: connectMsMax,
    socketTimeout: silenceMsMax,
    dnsTimeout: connectMsMax,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(auth === null ? {} : { auth }),
    ...(ca === undefined ? {} : { tls: { ca } }),
  }
  return {
    async deliver({ to, subject, text }) {
      const { createTransport } = await import('nodemailer')
      const transporter = createTransport(settings)
      try {
        await transporter.sendMail({ from, to: { name: '', address: to }, subject: oneLine(subject), text })
      } catch (cause) {
        throw new ServiceError(isFinal(cause) ? 'mail_refused' : 'mail_unavailable', { cause })
      } finally {
        transporter.close()
      }
    },
  }
}

/** A name of somebody's choosing may hold line breaks, which would end a header. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** True when the same mail would be refused again: SMTP says so with 5xx, nodemailer of addresses that are none. */
function isFinal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: number; code?: string } // nodemailer's errors have both
  return responseCode === undefined ? code === 'EENVELOPE' : responseCode >= 500
}
