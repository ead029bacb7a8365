import * as v from 'valibot'
import { Email, ReadAvatar, ShownKind, Subject, Username } from '../../accounts/users/schema.ts'
import { PARTICIPANT_RIGHTS } from '../../core/access.ts'
import { ROLE_NAME } from '../../core/actor.ts'
import { MAX_EXCERPT_LENGTH } from '../../core/excerpt.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Cursor, Id, Instant, Limit, label, StreamPosition, text } from '../../core/schema.ts'
import { AssistantChange, ConversationAssistant } from './schema-assistant.ts'
import { LookFields, LookInput } from './schema-look.ts'
import { Metadata } from './schema-metadata.ts'
import { AutoJoin, AutoJoinChange, ConversationPolicy, OwnFields, PolicyChange, Visibility } from './schema-settings.ts'

/** The role of a participant: one that every service has, or one of `access.participant_roles`. */
export const ParticipantRole = v.pipe(
  text(MAX_LENGTH.role),
  v.regex(ROLE_NAME, 'must be the name of a role'),
  v.metadata({ pattern: ROLE_NAME.source }),
  v.description('`owner`, `admin`, `moderator`, `member`, `viewer`, or one of `access.participant_roles`'),
)
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
  avatar_url: ReadAvatar,
  kind: ShownKind,
  role: ParticipantRole,
  joined_at: Instant,
  presence: Presence,
})
export type Participant = v.InferOutput<typeof Participant>

/** The host's id of the thing that a conversation is about. */
const Ref = text(MAX_LENGTH.subject)

/** The other person of a direct conversation; the caller in their own. */
export const DirectPartner = v.object({
  user_id: Id,
  username: v.string(),
  display_name: v.optional(v.string()),
  avatar_url: ReadAvatar,
  kind: v.optional(v.pipe(v.picklist(['bot', 'guest', 'system']), v.description('Missing for a person'))),
})
export type DirectPartner = v.InferOutput<typeof DirectPartner>

/** A conversation without its participants. */
export const ConversationFields = v.object({
  id: Id,
  title: v.string(),
  is_group: v.boolean(),
  direct: v.optional(v.pipe(v.literal(true), v.description('Set for a direct conversation'))),
  ...LookFields,
  visibility: v.pipe(Visibility, v.description('Which users see it without participating')),
  policy: ConversationPolicy,
  assistant: v.optional(ConversationAssistant),
  auto_join: v.optional(v.pipe(AutoJoin, v.description('Which users join by themselves; missing: none'))),
  frozen_at: v.optional(v.pipe(Instant, v.description('Since when it is frozen: it can be read, and is not changed'))),
  ref: v.optional(v.pipe(v.string(), v.description('What the conversation is about: an id of the application'))),
  metadata: v.optional(Metadata),
  created_at: Instant,
})
export type ConversationFields = v.InferOutput<typeof ConversationFields>

const Count = v.pipe(v.number(), v.integer())

/** Something that a caller may do in a conversation: the rights of participants, and what takes several of them, or none. */
export const ConversationAct = v.picklist([...PARTICIPANT_RIGHTS, 'reply', 'mention_all', 'join'])
export type ConversationAct = v.InferOutput<typeof ConversationAct>

const Can = v.pipe(
  v.array(ConversationAct),
  v.description('What the caller may do in it at the moment: any other act would be refused'),
)

/** A conversation with its first participants. */
export const Conversation = v.object({
  ...ConversationFields.entries,
  participants: v.pipe(v.array(Participant), v.description('The first 200 in the order they joined')),
  participant_count: v.pipe(Count, v.description('Number of all participants')),
  with: v.optional(DirectPartner),
  joined: v.optional(
    v.pipe(v.literal(false), v.description('Set for a caller who reads an open conversation without participating')),
  ),
  can: Can,
  ...OwnFields,
  stream_position: v.optional(StreamPosition),
})
export type Conversation = v.InferOutput<typeof Conversation>

export const ParticipantsQuery = v.object({
  query: v.optional(
    v.pipe(
      text(MAX_LENGTH.search),
      v.description('Only participants with such names, as `query` of `GET /api/users`: up to 50, without `after`'),
    ),
  ),
  after: v.optional(Cursor),
  limit: Limit(200, 1000),
})
export type ParticipantsQuery = v.InferOutput<typeof ParticipantsQuery>

/** A page of the participants of a conversation, in the order they joined. */
export const ParticipantPage = v.object({ participants: v.array(Participant), next_after: v.optional(v.string()) })
export type ParticipantPage = v.InferOutput<typeof ParticipantPage>

/** A title; an empty one is none. */
const Title = label(MAX_LENGTH.title)

export const NewConversation = v.object({
  title: v.optional(Title, ''),
  ...LookInput,
  is_group: v.optional(v.pipe(v.boolean(), v.description('false: two participants at most')), true),
  ref: v.optional(
    v.pipe(
      Ref,
      v.minLength(1),
      v.description('The id of what the conversation is about; unique. Over HTTP for administrators only'),
    ),
  ),
  metadata: v.optional(Metadata),
  visibility: v.optional(Visibility),
  policy: v.optional(PolicyChange),
  frozen: v.optional(v.pipe(v.boolean(), v.description('Whether nothing can be added or changed'))),
  auto_join: v.optional(AutoJoinChange),
})
export type NewConversation = v.InferOutput<typeof NewConversation>

/** The conversation of a thing of the host's; the rest is for a new one. */
export const ConversationByRef = v.object({
  ...NewConversation.entries,
  ref: v.pipe(Ref, v.minLength(1), v.description('The id of what the conversation is about; unique')),
})
export type ConversationByRef = v.InferOutput<typeof ConversationByRef>

/** What a client of the service creates a conversation with. */
export const ConversationInput = v.object({
  ...NewConversation.entries,
  ensure: v.optional(
    v.pipe(v.boolean(), v.description('With a `ref`: returns the conversation that has it, and else creates it')),
  ),
})
export type ConversationInput = v.InferOutput<typeof ConversationInput>

export const CreatedConversation = v.object({ conversation_id: Id, conversation: Conversation })
export type CreatedConversation = v.InferOutput<typeof CreatedConversation>

/** A conversation that a client has created, or with `ensure` one that may have existed. */
export const EnsuredConversation = v.object({
  ...CreatedConversation.entries,
  created: v.optional(v.pipe(v.boolean(), v.description('With `ensure`: whether this call has created it'))),
})
export type EnsuredConversation = v.InferOutput<typeof EnsuredConversation>

/** A conversation that was there already, or was created. */
export const OpenedConversation = v.object({
  conversation_id: Id,
  created: v.pipe(v.boolean(), v.description('Whether this call has created it')),
  conversation: Conversation,
})
export type OpenedConversation = v.InferOutput<typeof OpenedConversation>

const role = v.optional(ParticipantRole, 'member')

export const ParticipantById = v.object({ user_id: Id, role })
export const ParticipantByUsername = v.object({ username: Username, role })
export const ParticipantByEmail = v.object({
  email: Email,
  role,
  mail: v.optional(v.pipe(v.boolean(), v.description('Mail the token of an invite, and do not return it')), false),
})

/** The user to add: by id, username or email address. */
export const ParticipantInput = v.union([ParticipantById, ParticipantByUsername, ParticipantByEmail])
export type ParticipantInput = v.InferOutput<typeof ParticipantInput>

export const ParticipantBySubject = v.object({
  subject: v.pipe(Subject, v.description("The host's own id of a person")),
  role,
})

/** A participant to add: a host may pass its own id, in the process and by a server key. For users, that would reveal subjects. */
export const AnyParticipantInput = v.union([...ParticipantInput.options, ParticipantBySubject])
export type AnyParticipantInput = v.InferOutput<typeof AnyParticipantInput>

export const ChangedParticipant = v.object({ participant: Participant })
export type ChangedParticipant = v.InferOutput<typeof ChangedParticipant>

/** The token of an invite for an email address; it cannot be read again, and is missing if it is mailed. */
export const IssuedInvite = v.object({ token: v.optional(v.string()), expires_at: Instant })

export const InvitedParticipant = v.object({ invite: IssuedInvite })

/** The new participant, or the invite for an email address that no user has verified. */
export const AddedParticipant = v.union([ChangedParticipant, InvitedParticipant])
export type AddedParticipant = v.InferOutput<typeof AddedParticipant>

export const RoleChange = v.object({ role: ParticipantRole })
export type RoleChange = v.InferOutput<typeof RoleChange>

/** A change of a conversation; missing fields keep their value. */
export const Rename = v.object({
  title: v.optional(Title),
  ...LookInput,
  ref: v.optional(v.pipe(Ref, v.description('An empty text removes it. Over HTTP for administrators only'))),
  metadata: v.optional(Metadata),
  visibility: v.optional(Visibility),
  policy: v.optional(PolicyChange),
  assistant: v.optional(AssistantChange),
  frozen: v.optional(v.pipe(v.boolean(), v.description('Whether nothing can be added or changed; for owners'))),
  auto_join: v.optional(AutoJoinChange),
})
export type Rename = v.InferOutput<typeof Rename>

/** The newest message of a conversation that is not deleted, for a list of conversations. */
export const LastMessage = v.object({
  id: Id,
  author_user_id: v.optional(v.pipe(Id, v.description('Missing for an answer, and when the user was erased'))),
  author_kind: ShownKind,
  role: v.picklist(['user', 'assistant', 'system']),
  excerpt: v.pipe(
    v.string(),
    v.description(
      `Its first ${MAX_EXCERPT_LENGTH} characters, of an answer without a text yet those of the question, or the names of its files`,
    ),
  ),
  at: Instant,
})
export type LastMessage = v.InferOutput<typeof LastMessage>

/** A conversation in the list of a participant. */
export const ConversationSummary = v.object({
  ...ConversationFields.entries,
  role: ParticipantRole,
  participant_count: Count,
  unread: v.pipe(
    Count,
    v.description('All unread messages; in a `stream` the first messages of threads, and `unread_replies`'),
  ),
  unread_replies: v.pipe(
    Count,
    v.description('Replies that arrived since the caller follows their thread; in a direct conversation all replies'),
  ),
  last_message: v.optional(LastMessage),
  with: v.optional(DirectPartner),
  can: Can,
  ...OwnFields,
  last_activity_at: v.pipe(Instant, v.description('The time of the latest message; without one, of the creation')),
})
export type ConversationSummary = v.InferOutput<typeof ConversationSummary>

/** The part of a list of conversations that one belongs to. */
export const Section = v.picklist(['favourites', 'rooms', 'direct', 'assistant'])
export type Section = v.InferOutput<typeof Section>

const ByRef = v.optional(v.pipe(Ref, v.description('Only the one with this `ref`')))

export const ConversationsQuery = v.object({
  after: v.optional(Cursor),
  ref: ByRef,
  archived: v.optional(
    v.pipe(v.picklist(['false', 'true', 'all']), v.description('true: only those that the caller has archived')),
    'false',
  ),
  section: v.optional(
    v.pipe(
      Section,
      v.description(
        'Only those of a section: a favourite is in no other one, and the rest in the one of its `layout`, of `direct`, or in `rooms`',
      ),
    ),
  ),
  unread: v.optional(
    v.pipe(v.literal('true'), v.description('Only those with `unread`, `unread_replies` or `mentions` above 0')),
  ),
  limit: Limit(50, 200),
})
export type ConversationsQuery = v.InferOutput<typeof ConversationsQuery>

/** A page of the conversations of a participant, latest activity first. */
export const ConversationPage = v.object({
  conversations: v.array(ConversationSummary),
  next_after: v.optional(v.string()),
})
export type ConversationPage = v.InferOutput<typeof ConversationPage>
