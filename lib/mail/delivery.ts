import { withDeadline } from '../core/scheduling/deadline.ts'
import type { Mail } from './mail.ts'
import { reasonText } from './rules.ts'

/** A complete mail. */
export type Message = Mail

/** What became of a try: `refused` is final; `dropped` means that the mail is not needed any more. */
export type Delivery = { status: 'sent' } | { status: 'dropped' } | { status: 'retry' | 'refused'; reason: string }

/**
 * Tries to hand over a mail.
 *
 * @param make makes the message, and its token; `undefined` if it is not needed any more
 */
export type Deliver = (make: () => Promise<Message | undefined>, signal: AbortSignal) => Promise<Delivery>

/** A function of the host that never returns must not hold up the queue. */
const HOST_TIMEOUT_MS = 60_000

/** Hands mails to the host, which alone knows the reason of a failure: it may quote the mail. */
export function deliverByHost(send: (mail: Mail) => unknown): Deliver {
  return async (make, signal) => {
    const message = await make()
    if (!message) return { status: 'dropped' }
    try {
      const sent = await withDeadline(
        Promise.race([Promise.resolve(send(message)).then(() => true), aborted(signal)]),
        HOST_TIMEOUT_MS,
        false,
      )
      return sent ? { status: 'sent' } : { status: 'retry', reason: 'The host took too long' }
    } catch (error) {
      // Without a token there is nothing to hide it by, and the text names the user.
      return { status: 'retry', reason: message.token ? reasonText(error, [message.token]) : 'The host failed' }
    }
  }
}

/** @returns false once the signal is aborted */
function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false)
    signal.addEventListener('abort', () => resolve(false), { once: true })
  })
}
