import type { Mail } from '../../lib/index.ts'

/** A mailbox: mails with a token as they arrive, to be waited for. Notices, which have none, are dropped. */
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
