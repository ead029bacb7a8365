import { ChatError } from 'chat-server/client'
import { answersTexts } from '../texts/answers.ts'
import { numberText } from '../texts/numbers.ts'
import { momentOf } from '../texts/time.ts'

/** Which quota a refused question would have exceeded, and when there is more; `undefined` for another failure. */
export function quotaText(error: unknown): string | undefined {
  const quota = error instanceof ChatError ? error.quota : undefined
  if (!quota) return undefined
  const { scope, period, unit, limit, resets_at } = quota
  const { quota_limits, quota_used } = answersTexts.value
  return quota_used[scope](quota_limits[period][unit](numberText(limit)), momentOf(resets_at))
}
