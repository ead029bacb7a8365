import * as v from 'valibot'
import { Email, Username } from '../../accounts/users/schema.ts'
import { LONGEST } from '../../core/lengths.ts'
import { Cursor, Id, Instant, Limit, StreamPosition, text } from '../../core/schema.ts'

/** Owners may do everything, admins also manage participants below owner, members read and post, viewers read. */
export const ParticipantRole = v.picklist(['owner', 'admin', 'member', 'viewer'])
export type ParticipantRole = v.InferOutput<typeof ParticipantRole>

/** Whether a user is online; `last_seen_at` if it is known. */
export const Presence = v.object({
  status: v.picklist(['online', 'away', 'offline']),
  last_seen_at: v.optional(Instant),
})
export type Presence = v.InferOutput<typeof Presence>

export const Participant = v.object({
  user_id: Id,
  username: v.string(),
  display_name: v.optional(v.string()),
  role: ParticipantRole,
  joined_at: Instant,
  presence: Presence,
})
export type Participant = v.InferOutput<typeof Participant>

/** A conversation without its participants. */
export const ConversationFields = v.object({
  id: Id,
  title: v.string(),
  is_group: v.boolean(),
  created_at: Instant,
})
export type ConversationFields = v.InferOutput<typeof ConversationFields>

const Count = v.pipe(v.number(), v.integer())

/** A conversation with its first participants. */
export const Conversation = v.object({
  ...ConversationFields.entries,
  participants: v.pipe(v.array(Participant), v.description('The first 200 in the order they joined')),
  participant_count: v.pipe(Count, v.description('Number of all participants')),
  stream_position: v.optional(StreamPosition),
})
export type Conversation = v.InferOutput<typeof Conversation>

export const ParticipantsQuery = v.object({
  after: v.optional(Cursor),
  limit: Limit(200, 1000),
})
export type ParticipantsQuery = v.InferOutput<typeof ParticipantsQuery>

/** A page of the participants of a conversation, in the order they joined. */
export const ParticipantPage = v.object({ participants: v.array(Participant), next_after: v.optional(v.string()) })
export type ParticipantPage = v.InferOutput<typeof ParticipantPage>

const Title = text(LONGEST.title)

export const ConversationInput = v.object({
  title: v.optional(Title, ''),
  is_group: v.optional(v.pipe(v.boolean(), v.description('false: two participants at most')), true),
})
export type ConversationInput = v.InferOutput<typeof ConversationInput>

export const CreatedConversation = v.object({ conversation_id: Id, conversation: Conversation })
export type CreatedConversation = v.InferOutput<typeof CreatedConversation>

const role = v.optional(ParticipantRole, 'member')

export const ParticipantById = v.object({ user_id: Id, role })
export const ParticipantByUsername = v.object({ username: Username, role })
export const ParticipantByEmail = v.object({ email: Email, role })

/** The user to add: by id, username or email address. */
export const ParticipantInput = v.union([ParticipantById, ParticipantByUsername, ParticipantByEmail])
export type ParticipantInput = v.InferOutput<typeof ParticipantInput>

export const ChangedParticipant = v.object({ participant: Participant })
export type ChangedParticipant = v.InferOutput<typeof ChangedParticipant>

/** The token of an invite for an email address; it cannot be read again. */
export const IssuedInvite = v.object({ token: v.string(), expires_at: Instant })

export const InvitedParticipant = v.object({ invite: IssuedInvite })

/** The new participant, or the invite for an email address that no user has verified. */
export const AddedParticipant = v.union([ChangedParticipant, InvitedParticipant])
export type AddedParticipant = v.InferOutput<typeof AddedParticipant>

export const RoleChange = v.object({ role: ParticipantRole })
export type RoleChange = v.InferOutput<typeof RoleChange>

export const Rename = v.object({ title: Title })
export type Rename = v.InferOutput<typeof Rename>

/** A conversation in the list of a participant. */
export const ConversationSummary = v.object({
  ...ConversationFields.entries,
  role: ParticipantRole,
  participant_count: Count,
  unread: Count,
  last_activity_at: Instant,
})
export type ConversationSummary = v.InferOutput<typeof ConversationSummary>

export const ConversationsQuery = v.object({
  after: v.optional(Cursor),
  limit: Limit(50, 200),
})
export type ConversationsQuery = v.InferOutput<typeof ConversationsQuery>

/** A page of the conversations of a participant, latest activity first. */
export const ConversationPage = v.object({
  conversations: v.array(ConversationSummary),
  next_after: v.optional(v.string()),
})
export type ConversationPage = v.InferOutput<typeof ConversationPage>
