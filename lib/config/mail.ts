import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { parseUrl } from '../core/url.ts'
import { integer, reloadableKey as key, section, someText, text } from './key.ts'

const URL_FORM =
  'must be smtp://<user>:<password>@<host>:<port> or smtps://…, and have only a host, a port, a user and a password'

/** An address, alone or as `Name <address>`. Line breaks would begin another header. */
const SENDER =
  /^(?:[^<>\p{Cc}]{1,200}<[^\s<>,;:"()\\@]{1,64}@[^\s<>,;:"()\\@]{1,190}>|[^\s<>,;:"()\\@]{1,64}@[^\s<>,;:"()\\@]{1,190})$/u

const sender = v.pipe(
  text,
  v.regex(SENDER, 'must be an address, such as chat@example.org or "Chat <chat@example.org>"'),
)

/** Mail that the service sends itself. */
export const MailSection = section({
  templates: key(
    someText,
    undefined,
    'Folder with texts of your own, such as reset_password.txt; a mail without a file has the text of the service.',
  ),
  smtp: section({
    url: key(
      v.pipe(text, v.check(isSmtpUrl, URL_FORM)),
      undefined,
      'Mail server: smtp://user:password@host:587 (STARTTLS where the server offers it, and always with a password), or smtps://host:465. Without it no mail is sent.',
      { secret: 'password' },
    ),
    from: key(sender, undefined, 'Sender of the mails. Required with mail.smtp.url.'),
    reply_to: key(sender, undefined, 'Address for answers, if it differs from the sender.'),
    timeout_seconds: key(integer(1, 600), 30, 'A mail that takes longer to hand over is tried again later.', {
      unit: 'seconds',
    }),
  }),
})

/** A mail server and the sender. */
export interface SmtpSettings {
  host: string
  port: number
  /** TLS from the first byte on; without it by STARTTLS. */
  secure: boolean
  user?: string
  password?: string
  from: string
  reply_to?: string
  timeout_seconds: number
}

/** The mail server, if one is configured. */
export function smtpSettings({ mail }: Config): SmtpSettings | undefined {
  const { url, from, reply_to, timeout_seconds } = mail.smtp
  if (url === undefined || from === undefined) return undefined
  const { protocol, hostname, port, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port ? Number(port) : secure ? 465 : 587,
    secure,
    ...(username && { user: decodeURIComponent(username), password: decodeURIComponent(password) }),
    from,
    ...(reply_to !== undefined && { reply_to }),
    timeout_seconds,
  }
}

/** Missing keys of the mail server. */
export function mailProblems({ mail }: Config): { key: string; message: string }[] {
  const { url, from } = mail.smtp
  if (url !== undefined && from === undefined)
    return [{ key: 'mail.smtp.from', message: 'must be set when mail.smtp.url is' }]
  if (url === undefined && from !== undefined)
    return [{ key: 'mail.smtp.url', message: 'must be set when mail.smtp.from is' }]
  return []
}

function isSmtpUrl(address: string): boolean {
  if (address.length > 2048 || !/^smtps?:\/\/[^/?#\s]+\/?$/.test(address)) return false
  const { hostname = '', username = '', password = '' } = parseUrl(address) ?? {}
  // A password without a user, or an escape that is none, would fail at the first mail only.
  return hostname !== '' && (username !== '' || password === '') && isEscaped(username) && isEscaped(password)
}

function isEscaped(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}
