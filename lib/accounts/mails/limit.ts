import type { Context } from '../../context.ts'
import type { Decision } from '../../limits/rules.ts'
import { takeShared } from '../../limits/store-buckets.ts'

/** Mails to one recipient, after the first few: no mailbox is filled. */
const MAILS_PER_SECOND = 1 / 300

/**
 * Counts a mail to a recipient.
 *
 * @param bucket what is counted together
 * @param burst mails at once; after them one in five minutes
 */
export function takeMail({ db, now }: Pick<Context, 'db' | 'now'>, bucket: string, burst: number): Promise<Decision> {
  return takeShared(db, bucket, now(), { requests_per_second: MAILS_PER_SECOND, burst })
}
