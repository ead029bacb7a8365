import { uniqueKey } from '../core/characters.ts'
import { digest } from '../core/ids.ts'
import { SECOND } from '../core/units.ts'
import { takeShared } from '../limits/store-buckets.ts'
import type { Database } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import type { MailKind } from './schema.ts'

/** Mails that a stranger can have sent to an address: notices that protect an account must not wait behind them. */
const FOR_STRANGERS: readonly MailKind[] = ['reset_password', 'verify_email', 'change_email']

/** How many mails an address gets at once, and how many an hour after them: of both together ten within an hour. */
const STRANGERS = { bucket: 'mail-asked', at_once: 2, hourly: 2 }
const OTHERS = { bucket: 'mail', at_once: 3, hourly: 3 }

/** What others write must not delay any of these. */
const NOTIFICATIONS = { bucket: 'mail-notified', at_once: 5, hourly: 5 }

/** Later a mail would be given up, since it has waited for too long. */
const MAX_HOURS = 24

/**
 * Takes the next free time for a mail to a recipient. Each mail has its own, so they are sent in the order in which
 * they came: a new one never overtakes those that wait.
 *
 * @returns when it may be sent; `undefined` if no slot is free within a day
 */
export async function takeTime(db: Database, mail: MailKind, to: string, now: Micros): Promise<Micros | undefined> {
  const others = mail === 'notification' ? NOTIFICATIONS : OTHERS
  const { bucket, at_once, hourly } = FOR_STRANGERS.includes(mail) ? STRANGERS : others
  const rate = { requests_per_second: hourly / 3600, burst: at_once + MAX_HOURS * hourly }
  const { allowed, tat } = await takeShared(db, `${bucket}:${digest(uniqueKey(to))}`, now, rate)
  return allowed ? Math.max(now, tat - (at_once * 3600 * SECOND) / hourly) : undefined
}
