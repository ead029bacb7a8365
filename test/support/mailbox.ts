import type { Mail } from '../../lib/index.ts'

/** A mailbox with the mails that have a token, which tests can wait for. Notices, which have none, are dropped. */
export function createMailbox() {
  const mails: Mail[] = []
  const waiting: ((mail: Mail) => void)[] = []
  return {
    deliver(mail: Mail): void {
      if (!mail.token) return
      const next = waiting.shift()
      if (next) next(mail)
      else mails.push(mail)
    },
    next: (): Promise<Mail> =>
      new Promise((resolve) => (mails.length ? resolve(mails.shift()!) : waiting.push(resolve))),
    size: () => mails.length,
  }
}
