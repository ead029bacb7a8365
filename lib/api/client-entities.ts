// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
export type { CancelledAnswer, Chunk, MessageDelta, MessageDeltaChoice, MessageDeltaContent, Usage } from './answers.ts'
export type { Attachment, AttachmentState, FileLink, Upload } from './attachments.ts'
export type { Capabilities, CsrfNames, OfferedFiles, OfferedLimits, OfferedProvider } from './capabilities.ts'
export type {
  AddedParticipant,
  ChangedParticipant,
  Conversation,
  ConversationFields,
  ConversationPage,
  ConversationPolicy,
  ConversationSettings,
  ConversationSummary,
  CreatedConversation,
  DirectById,
  DirectByUsername,
  DirectPartner,
  InvitedParticipant,
  IssuedInvite,
  OpenedConversation,
  Participant,
  ParticipantPage,
  PolicyChange,
  Presence,
} from './conversations.ts'
export type { ConversationStreamEvent, EphemeralEvent, PersistedEvent, StreamEvent } from './events.ts'
export type { OwnIdentities, OwnIdentity } from './identities.ts'
export type { Accepted, CreatedInvite, Invite, Invites } from './invites.ts'
export type { ApiKey, ApiKeys, CreatedKey } from './keys.ts'
export type {
  Mentions,
  MentionsInput,
  Message,
  MessagePin,
  PostedMessage,
  Reaction,
  Revision,
  Revisions,
} from './messages.ts'
export type { Notification, NotificationPage, ReadByIds, ReadUpTo } from './notifications.ts'
export type { OauthBegun } from './oauth.ts'
export type { Pin, PinPage } from './pins.ts'
export type { Presences, UserPresence } from './presence.ts'
export type { ReactionOfUser, ReactionPage } from './reactions.ts'
export type { MessageReaders, ThreadReader, ThreadReaders } from './receipts.ts'
export type { SearchExcerpt, SearchPage, SearchPlace, SearchResult } from './search.ts'
export type { SetupDone, SetupStatus } from './setup.ts'
export type { ThreadPage, ThreadSummary, TreePage, UnreadThread, UnreadThreads } from './threads.ts'
export type { LoginAnswer, MeAnswer, OwnSession, OwnSessions, People, Person, Session, User } from './users.ts'
