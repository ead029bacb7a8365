import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { fit, fromCursor, jsonBytes, toCursor } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { requireMember } from './access.ts'
import { type Participant, type ParticipantPage, ParticipantsQuery } from './schema.ts'
import { listParticipants as findPeople, type ParticipantRow, toParticipant } from './store-participants.ts'

/** The number of participants in a `Conversation`. */
const MAX_SHOWN = 200

const FIRST = { at: 0, id: '' }

/**
 * A page of the participants of a conversation, in the order they joined.
 *
 * @throws ChatError `not_found`; `invalid_cursor`
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  input: ParticipantsQuery,
  errors: ['not_found', 'invalid_cursor'],
  run: async (ctx, actor, conversationId, input): Promise<ParticipantPage> => {
    const after = input.after === undefined ? FIRST : fromCursor(input.after)
    const rows = await ctx.db.snapshot(async (db) => {
      await requireMember(db, actor, conversationId)
      if (!after) throw new ChatError('invalid_cursor')
      return findPeople(db, conversationId, after, input.limit + 1)
    })
    const participants = fit(await withPresence(ctx, rows.slice(0, input.limit)), sizeOfParticipant)
    const last = participants.length < rows.length ? rows[participants.length - 1] : undefined
    return { participants, ...(last && { next_after: toCursor({ at: last.joined_at, id: last.user_id }) }) }
  },
})

/** The participants in a `Conversation`: the first that joined. */
export function findFirst(db: Queries, conversationId: string): Promise<ParticipantRow[]> {
  return findPeople(db, conversationId, FIRST, MAX_SHOWN)
}

/** Participants as others read them. */
export async function withPresence(ctx: Context, rows: ParticipantRow[]): Promise<Participant[]> {
  const presences = await ctx.streams.presence.findAll(rows.map((row) => row.user_id))
  return rows.map((row) => toParticipant(row, presences.get(row.user_id)!))
}

const sizeOfParticipant = ({ username, display_name = '' }: Participant) =>
  jsonBytes(username) + jsonBytes(display_name) + 350
