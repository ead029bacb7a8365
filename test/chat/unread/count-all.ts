import { countUncounted, FIRST } from '../../../lib/chat/unread/counting.ts'
import type { Context } from '../../../lib/context.ts'

/** Counts what is not counted, in as many runs as the machine needs. */
export async function countAll(ctx: Pick<Context, 'db' | 'streams'>): Promise<void> {
  for (const progress = { after: FIRST, is_counted: false }; !progress.is_counted; ) await countUncounted(ctx, progress)
}
