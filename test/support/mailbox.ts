import type { Mail } from '../../lib/index.ts'

/** A mailbox: mails as they arrive, to be waited for. */
export function createMailbox() {
  const mails: Mail[] = []
  const waiting: ((mail: Mail) => void)[] = []
  return {
    deliver(mail: Mail): void {
      const next = waiting.shift()
      if (next) next(mail)
      else mails.push(mail)
    },
    next: (): Promise<Mail> =>
      new Promise((resolve) => (mails.length ? resolve(mails.shift()!) : waiting.push(resolve))),
    size: () => mails.length,
  }
}
