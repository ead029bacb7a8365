import { photosOf } from '../../accounts/users/photos.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../storage/database.ts'
import type { Participant } from '../conversations/schema.ts'
import { listParticipants, type ParticipantRow, toParticipant } from './store.ts'

/** The number of participants in a `Conversation`. */
const MAX_SHOWN = 200

/** Before the first participant. */
export const FIRST = { at: 0, id: '' }

/** The participants in a `Conversation`: the first that joined. */
export function findFirst(db: Queries, conversationId: string): Promise<ParticipantRow[]> {
  return listParticipants(db, conversationId, FIRST, MAX_SHOWN)
}

/** Participants as others read them. */
export async function withPresence(ctx: Context, rows: ParticipantRow[]): Promise<Participant[]> {
  const presences = await ctx.streams.presence.findAll(rows.map((row) => row.user_id))
  const photos = photosOf(ctx.config)
  return rows.map((row) => toParticipant(row, presences.get(row.user_id)!, photos))
}
