import type { SmtpSettings } from '../config/mail.ts'
import { isLoopback } from '../core/addresses.ts'
import type { Deliver, Delivery, Message } from './delivery.ts'
import { isMailable, reasonText } from './rules.ts'

/** A connection of the package, as it is used here. */
interface Connection {
  secure: boolean | undefined
  connect(done: (error?: Error | null) => void): void
  login(auth: { user: string; credentials: { user: string; pass: string } }, done: (error?: Error | null) => void): void
  send(
    envelope: { from: string; to: string[] },
    message: Buffer,
    done: (error?: Error | null, sent?: { response: string }) => void,
  ): void
  quit(): void
  close(): void
  once(event: 'error' | 'end', listener: (error?: Error) => void): void
}

/** A connection that is signed in. */
interface Opened {
  connection: Connection
  /** Its first failure. */
  failure(): Error | undefined
}

/** A mail server. */
export interface Smtp {
  /** Hands a mail over. The message is made once the server is ready to take it. */
  deliver: Deliver
  /** Connects and signs in without sending. @returns whether the connection is encrypted @throws Error */
  check(signal: AbortSignal): Promise<{ encrypted: boolean }>
}

/** @throws Error when nodemailer, an optional package, is not installed */
export async function loadSmtp(settings: SmtpSettings): Promise<Smtp> {
  const [{ default: SMTPConnection }, { default: MailComposer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ]).catch((cause) => {
    throw new Error('mail.smtp needs a package that is not installed: npm install nodemailer', { cause })
  })

  const open = (signal: AbortSignal) =>
    openConnection(new SMTPConnection(optionsOf(settings)) as unknown as Connection, settings, signal)

  return {
    async deliver(make, signal) {
      const whole = AbortSignal.any([signal, AbortSignal.timeout(settings.timeout_seconds * 1000)])
      let opened: Opened
      try {
        opened = await open(whole)
      } catch (error) {
        // Whatever its code, the server has not judged the mail, but the connection or the sign-in.
        return { status: 'retry', reason: reasonText(error, []) }
      }
      const { connection, failure } = opened
      try {
        const message = await make()
        if (!message) return { status: 'dropped' }
        // A failure since then, such as an answer 421: no event reports it a second time.
        const failed = failure()
        if (failed) return { status: 'retry', reason: reasonText(failed, [message.token, message.to]) }
        const raw = await new MailComposer(composed(message, settings)).compile().build()
        return await handOver(connection, { message, raw, from: addressOf(settings.from) }, whole)
      } finally {
        connection.quit()
        connection.close()
      }
    },
    async check(signal) {
      const { connection } = await open(AbortSignal.any([signal, AbortSignal.timeout(settings.timeout_seconds * 1000)]))
      connection.quit()
      connection.close()
      return { encrypted: connection.secure === true }
    },
  }
}

function optionsOf({ host, port, secure, user, timeout_seconds }: SmtpSettings) {
  // The deadline for the whole decides.
  const ms = 2 * timeout_seconds * 1000
  return {
    host,
    port,
    secure,
    // A password crosses no network in the clear.
    requireTLS: !secure && user !== undefined && !isLoopback(host),
    // On this machine there is no network, and often a certificate for another name.
    tls: { rejectUnauthorized: !isLoopback(host) },
    connectionTimeout: ms,
    greetingTimeout: ms,
    socketTimeout: ms,
    dnsTimeout: ms,
  }
}

/** Connects and signs in; a connection that fails or is aborted is closed. */
function openConnection(
  connection: Connection,
  { user, password = '' }: SmtpSettings,
  signal: AbortSignal,
): Promise<Opened> {
  let first: Error | undefined
  const opened = new Promise<Opened>((resolve, reject) => {
    const signedIn = (error?: Error | null) => (error ? reject(error) : resolve({ connection, failure: () => first }))
    failOn(connection, signal, (error) => {
      first ??= error
      reject(error)
    })
    connection.connect((error) => {
      if (error || user === undefined) return signedIn(error)
      connection.login({ user, credentials: { user, pass: password } }, signedIn)
    })
  })
  return opened.catch((error) => {
    connection.close()
    throw error
  })
}

function handOver(
  connection: Connection,
  { message, raw, from }: { message: Message; raw: Buffer; from: string },
  signal: AbortSignal,
): Promise<Delivery> {
  if (!isMailable(message.to))
    return Promise.resolve({ status: 'refused', reason: 'No mail can be sent to this address' })
  const secrets = [message.token, message.to]
  return new Promise((resolve) => {
    const fail = (error: Error) => {
      const { responseCode = 0 } = error as { responseCode?: number }
      resolve({ status: responseCode >= 500 ? 'refused' : 'retry', reason: reasonText(error, secrets) })
    }
    failOn(connection, signal, fail)
    connection.send({ from, to: [message.to] }, raw, (error) => (error ? fail(error) : resolve({ status: 'sent' })))
  })
}

/** Reports the first failure that no callback reports. */
function failOn(connection: Connection, signal: AbortSignal, fail: (error: Error) => void): void {
  const late = () => fail(new Error(timedOut(signal) ? 'The mail server is too slow' : 'The service stops'))
  if (signal.aborted) late()
  signal.addEventListener('abort', late, { once: true })
  connection.once('error', (error) => fail(error!))
  connection.once('end', () => fail(new Error('The mail server closed the connection')))
}

function timedOut({ reason }: AbortSignal): boolean {
  return (reason as Error | undefined)?.name === 'TimeoutError'
}

function composed({ id, to, subject, text, generated }: Message, { from, reply_to }: SmtpSettings) {
  return {
    from,
    to: { name: '', address: to },
    ...(reply_to !== undefined && { replyTo: reply_to }),
    subject,
    text,
    messageId: `<${id}@${addressOf(from).split('@')[1]}>`,
    // RFC 3834: no automatic answers to it.
    headers: { 'Auto-Submitted': 'auto-generated', ...(generated && { 'X-AI-Generated': 'true' }) },
    // Its own spelling is X-Ai-Generated.
    normalizeHeaderKey: (key: string) => (/^x-ai-generated$/i.test(key) ? 'X-AI-Generated' : key),
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** The address of `Name <address>`. */
function addressOf(sender: string): string {
  return /<(.+)>$/.exec(sender)?.[1] ?? sender
}
