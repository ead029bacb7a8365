import type { Context } from '../../context.ts'
import type { Queries } from '../../storage/database.ts'
import { forgetMentioned, listMentioning, type MentioningMessage } from '../mentions/store.ts'
import { removeTraces } from './remove-traces.ts'

/** The number of messages with mentions that one query searches for the user. */
const SEARCHED = 500

/** Removes the mentions of a user who is being erased, as {@link removeTraces}. */
export function eraseMentions(ctx: Context, userId: string): Promise<void> {
  let from: string | undefined = ''

  /** The first ones may be in another conversation than others of these: they are searched again. */
  async function find(db: Queries, limit: number): Promise<MentioningMessage[]> {
    while (from !== undefined) {
      const { messages, last } = await listMentioning(db, userId, from, { limit, searched: SEARCHED })
      if (messages.length > 0) return messages
      from = last
    }
    return []
  }

  return removeTraces(ctx, find, async (tx, ids) =>
    (await forgetMentioned(tx, userId, ids)).map((message_id) => ({ type: 'message.edited', message_id })),
  )
}
