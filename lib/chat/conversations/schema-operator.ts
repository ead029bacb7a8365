import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, text } from '../../core/schema.ts'
import { ConversationFields, ParticipantRole } from './schema.ts'
import { Layout } from './schema-look.ts'

const Count = v.pipe(v.number(), v.integer())

/** A conversation as the operator reads it: counts, and no texts of messages. */
export const ConversationOverview = v.object({
  id: Id,
  title: v.string(),
  is_group: v.boolean(),
  layout: Layout,
  ref: v.optional(v.string()),
  participant_count: Count,
  threads: Count,
  messages: Count,
  created_at: Instant,
  last_activity_at: Instant,
})
export type ConversationOverview = v.InferOutput<typeof ConversationOverview>

/** An overview as it is stored. */
export type OverviewRow = Omit<ConversationOverview, 'is_group' | 'layout' | 'created_at' | 'last_activity_at'> & {
  is_group: number
  is_direct: number
  layout: Layout | null
  ref: string | null
  created_at: number
  active_at: number
}

/** A participant as the operator reads it. */
export const ParticipantFacts = v.object({ user_id: Id, username: v.string(), role: ParticipantRole })
export type ParticipantFacts = v.InferOutput<typeof ParticipantFacts>

const { topic, icon, visibility, policy, assistant, auto_join, frozen_at } = ConversationFields.entries

/** A conversation with what its owners have set, and its first participants. */
export const ConversationFacts = v.object({
  ...ConversationOverview.entries,
  topic,
  icon,
  visibility,
  policy,
  assistant,
  auto_join,
  frozen_at,
  participants: v.array(ParticipantFacts),
})
export type ConversationFacts = v.InferOutput<typeof ConversationFacts>

export const AllConversationsQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
  user_id: v.optional(v.pipe(Id, v.description('Only those in which this user participates'))),
  ref: v.optional(v.pipe(text(MAX_LENGTH.subject), v.description('Only the one with this `ref`'))),
})
export type AllConversationsQuery = v.InferOutput<typeof AllConversationsQuery>

/** A page of all conversations, oldest first. */
export const ConversationsPage = v.object({
  conversations: v.array(ConversationOverview),
  next_after: v.optional(Id),
})
export type ConversationsPage = v.InferOutput<typeof ConversationsPage>
