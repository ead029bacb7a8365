/** The pause after the first try; each further one is twice as long. */
const FIRST_WAIT_SECONDS = 30
const MAX_WAIT_SECONDS = 4 * 60 * 60

/** After these a mail is given up: the reason of most mails has passed. */
const MAX_ATTEMPTS = 12
const MAX_AGE_SECONDS = 24 * 60 * 60

const MAX_REASON_LENGTH = 300

/** An address as an envelope may name it: nothing in it ends a command or a header, or begins another address. */
const ADDRESS = /^[^\s\p{C}<>,;:"()\\@[\]]{1,64}@[^\s\p{C}<>,;:"()\\@]{1,190}$/u

/** The pause after a number of failed tries; `undefined` when the mail is given up. */
export function waitSeconds(tries: number, ageSeconds: number): number | undefined {
  const wait = Math.min(FIRST_WAIT_SECONDS * 2 ** (tries - 1), MAX_WAIT_SECONDS)
  return tries < MAX_ATTEMPTS && ageSeconds + wait < MAX_AGE_SECONDS ? wait : undefined
}

/** Whether a mail has waited for so long that it is given up. */
export function isOutdated(ageSeconds: number): boolean {
  return ageSeconds > MAX_AGE_SECONDS
}

/** Whether mail can be sent to an address. */
export function isMailable(address: string): boolean {
  return ADDRESS.test(address)
}

/** The key of the task of a mail, so that the mails of a user are found by their prefix. */
export function mailKey(userId: string, mailId: string): string {
  return `${userId}.${mailId}`
}

/** The id of the mail of a task. */
export function toMailId(key: string): string {
  return key.slice(key.indexOf('.') + 1)
}

/** The user of the task of a mail, if it has one: an invited person may have no account. */
export function mailUser(key: string, { mail }: { mail?: unknown }): string | undefined {
  return mail === 'invite' || mail === 'conversation_invite' ? undefined : key.slice(0, key.indexOf('.')) || undefined
}

/** A reason on one line, without the secrets of a mail, and bounded. */
export function reasonText(error: unknown, secrets: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error)
  const hidden = secrets.filter(Boolean).reduce((left, secret) => left.replaceAll(secret, '[hidden]'), text)
  return hidden.replace(/[\s\p{C}]+/gu, ' ').slice(0, MAX_REASON_LENGTH)
}
