// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
export type { CancelledAnswer, Chunk, MessageDelta, MessageDeltaChoice, MessageDeltaContent, Usage } from './answers.ts'
export type {
  Attachment,
  AttachmentState,
  FileAnswer,
  FileInput,
  FileLink,
  FileTotals,
  LinkOptions,
  PartInput,
  ReadOptions,
  ReadPart,
  RequestHeaders,
  Upload,
} from './attachments.ts'
export type { AuditPage, AuditRecord, NamedAuditPage, NamedAuditRecord } from './audit.ts'
export type { Caller } from './auth.ts'
export type { Capabilities, CsrfNames, OfferedFiles, OfferedLimits, OfferedProvider } from './capabilities.ts'
export type { WellKnownContent, WellKnownEntry, WellKnownInput } from './config.ts'
export type {
  AddedParticipant,
  ChangedParticipant,
  Conversation,
  ConversationFacts,
  ConversationFields,
  ConversationOverview,
  ConversationPage,
  ConversationPolicy,
  ConversationSettings,
  ConversationSummary,
  ConversationsPage,
  CreatedConversation,
  DirectById,
  DirectBySubject,
  DirectByUsername,
  DirectPartner,
  InvitedParticipant,
  IssuedInvite,
  OpenedConversation,
  Participant,
  ParticipantFacts,
  ParticipantPage,
  PolicyChange,
  Presence,
} from './conversations.ts'
export type {
  ConversationStreamEvent,
  Delivered,
  Delivery,
  EphemeralEvent,
  Followed,
  FollowOptions,
  Micros,
  Opening,
  PersistedEvent,
  Sink,
  StreamEvent,
} from './events.ts'
export type { OwnIdentities, OwnIdentity } from './identities.ts'
export type { Accepted, CreatedInvite, Invite, Invites } from './invites.ts'
export type { ApiKey, ApiKeys, CreatedKey, KeyOfUser, KeysOfUsers } from './keys.ts'
export type {
  Endpoint,
  LimitAssignment,
  LimitProfile,
  LimitRate,
  LimitReset,
  LimitResetOfAddress,
  LimitResetOfUser,
  LimitStatus,
  SignInCounts,
  Throttled,
} from './limits.ts'
export type { MailPage, MailRecord } from './mails.ts'
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
export type { InvitedNewcomer, Newcomer, NewcomerPage } from './newcomers.ts'
export type { NodeList, NodeRecord } from './nodes.ts'
export type { Notification, NotificationPage, ReadByIds, ReadUpTo } from './notifications.ts'
export type { OauthBegun } from './oauth.ts'
export type {
  Completion,
  CompletionAnswer,
  CompletionChoice,
  CompletionChunk,
  CompletionChunkChoice,
  CompletionDelta,
  CompletionMessage,
  CompletionUsage,
  Model,
  ModelChoice,
  Models,
  OtherPart,
  Part,
  TextPart,
} from './openai.ts'
export type {
  AdoptedFiles,
  Checkup,
  CollectedFiles,
  FileCheckOptions,
  FileCheckup,
  Finding,
  Health,
  Probe,
  ProbeOptions,
  Pruned,
  Readiness,
  ReadinessChecks,
  RecoveredFiles,
} from './ops.ts'
export type { Pin, PinPage } from './pins.ts'
export type { Presences, UserPresence } from './presence.ts'
export type { ReactionOfUser, ReactionPage } from './reactions.ts'
export type { MessageReaders, ThreadReader, ThreadReaders } from './receipts.ts'
export type { SearchExcerpt, SearchPage, SearchPlace, SearchResult, SearchStatus } from './search.ts'
export type { SetupDone, SetupStatus } from './setup.ts'
export type { TaskPage, TaskRecord } from './tasks.ts'
export type { ThreadPage, ThreadSummary, TreePage, UnreadThread, UnreadThreads } from './threads.ts'
export type { StorageUsage, StorageUsagePage } from './usage.ts'
export type {
  Account,
  AccountAnswer,
  AccountFacts,
  AccountPage,
  Client,
  Lockdown,
  LoginAnswer,
  MeAnswer,
  OwnSession,
  OwnSessions,
  People,
  Person,
  ResetLink,
  Revoked,
  Session,
  SessionOfUser,
  SessionsOfUsers,
  SignedIn,
  User,
} from './users.ts'
