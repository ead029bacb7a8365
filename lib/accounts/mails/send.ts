import type { Context, Mail } from '../../context.ts'
import { takeShared } from '../../limits/buckets.ts'
import type { Decision } from '../../limits/rules.ts'

/** Mails to one recipient, after the first few: no mailbox is filled. */
const MAILS_PER_SECOND = 1 / 300

/**
 * Counts a mail to a recipient.
 *
 * @param bucket what is counted together
 * @param burst mails at once; after them one in five minutes
 */
export function takeMail({ db, now }: Context, bucket: string, burst: number): Promise<Decision> {
  return takeShared(db, bucket, now(), { requests_per_second: MAILS_PER_SECOND, burst })
}

/** A mail that is sent later, and the line of the log if that fails. */
export interface Outgoing {
  user_id: string
  /** Makes the mail; `undefined` if none is to be sent. */
  compose: () => Mail | undefined | Promise<Mail | undefined>
  message: string
  reason?: string
}

/** Sends a mail later, so that the response shows neither its duration nor its failure. */
export function sendLater({ mail: send, log }: Context, { user_id, compose, message, reason }: Outgoing): void {
  if (!send) return
  setImmediate(async () => {
    let mail: Mail | undefined
    try {
      mail = await compose()
      if (mail) await send(mail)
    } catch (error) {
      log.error(message, {
        user_id,
        ...(reason && { reason }),
        ...(mail?.token && { cause: withoutToken(error, mail) }),
      })
    }
  })
}

/** Libraries put the unsent mail into their errors. A notice has no token to leave out, so its error is not logged. */
function withoutToken(error: unknown, { token }: Mail): string {
  return String(error).replaceAll(token, '[token]')
}
