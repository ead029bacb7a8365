import type { AuditActor } from './accounts/audit/store.ts'
import type { FindBearer } from './accounts/jwt/tokens.ts'
import type { Provider } from './accounts/oauth/provider.ts'
import type { ClientDocuments } from './accounts/oauth-clients/documents.ts'
import type { Passwords } from './accounts/passwords/hash.ts'
import type { Attempts } from './accounts/passwords/throttle.ts'
import type { RememberedSessions } from './accounts/sessions/remembered.ts'
import type { SessionOfCall } from './accounts/sessions/store.ts'
import type { FailedCall } from './accounts/users/gone.ts'
import type { Assistants } from './assistant/assistants.ts'
import type { Runner } from './assistant/runner.ts'
import type { Backups } from './backups/backups.ts'
import type { CleaningTurns } from './chat/attachments/cleaning.ts'
import type { PartSlots } from './chat/attachments/part-slots.ts'
import type { PieceMemory } from './chat/attachments/piece-memory.ts'
import type { ReadSlots } from './chat/attachments/read-slots.ts'
import type { PostQueue } from './chat/messages/queue.ts'
import type { Notifier } from './chat/notifications/host.ts'
import type { createUserUpdates } from './chat/people/updates.ts'
import type { PresenceWatch } from './chat/presence/watch.ts'
import type { ReactionQueue } from './chat/reactions/adding.ts'
import type { ReadUpdates } from './chat/receipts/publishing.ts'
import type { Search } from './chat/search/search.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { LiveConfig } from './config/live.ts'
import type { Config } from './config/parse.ts'
import type { Access } from './core/access.ts'
import type { Actor } from './core/actor.ts'
import type { Clock } from './core/clock.ts'
import type { Lifecycle } from './core/lifecycle.ts'
import type { Load } from './core/scheduling/load.ts'
import type { Find } from './core/scheduling/loader.ts'
import type { SigningKeys } from './core/signed-text.ts'
import type { FileStore } from './files/file-store.ts'
import type { FilesPlace } from './files/guard.ts'
import type { WebhookEngine } from './integrations/webhooks/engine.ts'
import type { AuthFailures } from './limits/auth-failures.ts'
import type { Limiter } from './limits/limiter.ts'
import type { Hub } from './live/hub/hub.ts'
import type { Poller } from './live/poll/poller.ts'
import type { Login } from './live/readers/reader.ts'
import type { AfterEvents } from './live/transaction/after-events.ts'
import type { Commits } from './live/transaction/commits.ts'
import type { Tx } from './live/transaction/transaction.ts'
import type { LiveOutbox } from './mail/queue.ts'
import type { DatabaseLevels } from './metrics/database.ts'
import type { Metrics } from './metrics/registry.ts'
import type { ClockKeeper } from './ops/clock.ts'
import type { Readiness } from './ops/readiness.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import type { Hooks, Log, Ports } from './ports.ts'
import type { Database, TransactionOptions } from './storage/database.ts'
import type { Keyring } from './storage/keyring.ts'
import type { TaskWorker } from './tasks/runner.ts'

export type { AuditAct } from './accounts/audit/schema.ts'
export type { AuditEntry } from './accounts/audit/store.ts'
// A type that a lower folder needs of a higher one is defined here; its value is passed in.
export type { Client } from './accounts/sessions/service.ts'
export type { AssistantSettings, Assistants } from './assistant/assistants.ts'
export type { GivenPart, Turn, TurnRole } from './assistant/provider.ts'
export type { Tool } from './assistant/tools/tool.ts'
export type {
  CloseReason,
  ConversationStreamEvent,
  EphemeralEvent,
  PersistedEvent,
  PrivateEvent,
  StreamEvent,
} from './chat/events/schema.ts'
export type { UsedTokens } from './chat/metering/rules.ts'
export type { MadeNotification } from './chat/notifications/store-making.ts'
export type { Endpoint } from './limits/rules.ts'
export type { Mail } from './mail/mail.ts'
export type {
  Bus,
  EventAfter,
  Hooks,
  Identity,
  IdentityRequest,
  JoinBefore,
  Log,
  LogField,
  LogFields,
  MessageBefore,
  Ports,
  ToolBefore,
} from './ports.ts'

/** The state of one service, in groups. `createChatService` creates it, and `close()` ends it. */
export interface Context {
  /** The configuration in effect: read it where it is used, since a reload replaces it. */
  readonly config: Config
  readonly settings: LiveConfig
  /** What the roles may do, as the configuration in effect says. */
  readonly access: Access
  readonly lifecycle: Lifecycle
  readonly db: Database
  /** Runs one transaction with its events, which are sent once it is durable. The only way to change data. */
  readonly write: <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>
  /** What reacts to commits subscribes here when it is built. */
  readonly commits: Commits
  readonly log: Log
  readonly metrics: Metrics
  /** Microseconds since 1970. */
  readonly now: () => number
  /** The time by which sessions are judged: in a running process a step of the clock ends none. */
  readonly sessionNow: () => number
  readonly clock: Clock
  readonly id: () => string
  readonly load: Load
  readonly limiter: Limiter
  readonly cluster: Cluster
  readonly tasks: TaskWorker
  readonly backups: Backups
  readonly answers: Runner
  /** The assistants that can be asked. */
  readonly assistants: Assistants
  /** Keeps the index of the search. */
  readonly search: Search
  readonly streams: Streams
  readonly files: Files
  /** What the service signs and encrypts with. */
  readonly keyring: Keyring
  readonly accounts: Accounts
  readonly queues: Queues
  readonly mail: LiveOutbox
  /** Calls addresses that users, or documents from outside, name. */
  readonly outgoing: Outgoing
  /** Sends events to webhooks. */
  readonly webhooks: WebhookEngine
  readonly host: Host
  readonly ops: Ops
}

/** The open streams of this process, and how it learns of what other processes have done. */
export interface Streams {
  readonly hub: Hub
  readonly poller: Poller
  readonly presence: PresenceWatch
  /** Changed users on their way to readers. */
  readonly users: ReturnType<typeof createUserUpdates>
  /** Tells the participants of conversations with read receipts whose read markers have moved. */
  readonly receipts: ReadUpdates
  /** The logins and tokens by which these callers were recognised. */
  readonly logins: WeakMap<Actor, Login>
}

/** The bytes of files, and how many of them this process takes, gives and keeps in memory at once. */
export interface Files {
  /** The storage of the bytes of files. Opened when it is needed first. */
  readonly open: () => Promise<FileStore>
  /** Whether that storage is the one that the database has its files in. */
  readonly place: FilesPlace
  /** Breaks off what the storage of files does. */
  readonly close: () => Promise<void>
  /** The keys that sign links to files. */
  readonly linkKeys: () => Promise<SigningKeys>
  /** How many parts of files this process takes at once. */
  readonly partSlots: PartSlots
  /** The turns of files that are stored again without metadata. */
  readonly cleaningTurns: CleaningTurns
  /** How many files a user reads at once from this process. */
  readonly readSlots: ReadSlots
  /** How many thumbnails a user reads at once from this process: a page reads them beside files. */
  readonly thumbnailSlots: ReadSlots
  /** What readers of files have in memory. */
  readonly pieceMemory: PieceMemory
}

/** What signs users in, and what they lose with their rights. */
export interface Accounts {
  readonly passwords: Passwords
  readonly attempts: Attempts
  /** The session of a token, by the token's digest. */
  readonly findSession: Find<SessionOfCall>
  /** Where reading a session is a wait: SQLite reads it from memory. */
  readonly remembered: RememberedSessions | undefined
  readonly authFailures: AuthFailures
  /** Verifies signed tokens, where `auth.jwt` is configured. */
  readonly bearers: FindBearer | undefined
  /** The keys that sign the tokens of the service. */
  readonly tokenKeys: () => Promise<SigningKeys>
  /** The sign-in providers, by name. */
  readonly providers: ReadonlyMap<string, Provider>
  /** Reads what clients of the authorization server publish of themselves. */
  readonly clientDocuments: ClientDocuments
  /**
   * Revokes the open invites of a user who has lost the right to create any: into conversations, and of newcomers.
   *
   * @returns the number of invites
   */
  readonly revokeInvites: (tx: Tx, userId: string, by?: AuditActor) => Promise<number>
  /**
   * Locks the actor's account in a transaction and checks the role again: it may have been taken away while the call waited.
   *
   * @throws ChatError `forbidden` when the actor is no longer an administrator
   */
  readonly assertStillAdmin: (tx: Tx, actor: Actor) => Promise<void>
  /** Explains the failure of a call whose actor, or another user that it names, was merged or erased meanwhile. */
  readonly explain: (ctx: Pick<Context, 'db' | 'log'>, call: FailedCall, error: unknown) => Promise<unknown>
  /** The conversations that invited newcomers join. */
  readonly rooms: RoomsOfInvites
  /**
   * Makes a new user a participant of the conversations with automatic joins, in the transaction that creates the user: after
   * what the user was invited to, whose role counts.
   */
  readonly joinRooms: (tx: Tx, user: { id: string; roles: string }, ip?: string) => Promise<void>
  /** What a sign-in makes of the guest whose cookie comes along. */
  readonly guests: GuestsOfSignIns
  /** The places of `guests.max`. */
  readonly guestPlaces: GuestPlaces
}

/** The places of guests. */
export interface GuestPlaces {
  /** Takes one for a guest that the transaction adds. @returns false if none is left */
  readonly take: (tx: Tx, max: number) => Promise<boolean>
}

/** A guest of a browser, with the digest of the token of its session. */
export interface ClaimedGuest {
  readonly user_id: string
  readonly token_hash?: string
}

/** What sign-ins make of guests. */
export interface GuestsOfSignIns {
  /** The guest whose session a client has in a cookie. */
  readonly find: (ctx: Context, client: { token?: string | undefined }) => Promise<ClaimedGuest | undefined>
  /** Merges a guest into a user who is about to sign in. @throws ChatError `conflict` for one that has too much */
  readonly claim: (ctx: Context, userId: string, guest: ClaimedGuest) => Promise<void>
  /** Merges a guest, if there is one, into a user who has signed in. It never rejects. */
  readonly claimAfter: (ctx: Context, userId: string, guest: ClaimedGuest | undefined) => Promise<void>
}

/** What invites of newcomers do in conversations. */
export interface RoomsOfInvites {
  /** @throws ChatError `forbidden` unless the actor is owner or admin of each, or the operator */
  readonly assertMayInvite: (tx: Tx, actor: Actor, conversationIds: readonly string[]) => Promise<void>
  /** Asks the host about the newcomer in each that `join` would take. @throws ChatError `forbidden`, `unavailable` */
  readonly review: (ctx: Context, invite: InviteToRooms & { email: string }) => Promise<void>
  /**
   * Makes a new user a participant of those that still exist and in which the maker of the invite is still owner or admin. After
   * the commit the caller calls `streams.presence.introduce`.
   *
   * @returns their ids in the order of the invite
   */
  readonly join: (tx: Tx, user: { id: string }, invite: InviteToRooms & { ip: string | undefined }) => Promise<string[]>
}

/** The conversations that an invite names, the role in them, and its maker: `null` for the operator. */
export interface InviteToRooms {
  readonly ids: readonly string[]
  readonly role: 'member' | 'viewer'
  readonly maker_id: string | null
}

/** What waits for a transaction that it shares. */
export interface Queues {
  readonly posts: PostQueue
  readonly reactions: ReactionQueue
}

/** The functions of the host that are called, those that it has; and the calls that wait. */
export interface Host extends Pick<Ports, 'identity' | 'scan' | 'thumbnail'> {
  readonly hooks: Hooks
  /** Calls the host with the events that this process writes. */
  readonly afterEvents: AfterEvents
  /** Tells the host of the notifications and messages that this process has written. */
  readonly notifier: Notifier
}

/** What an operator sees and keeps of the service. */
export interface Ops {
  readonly readiness: Readiness
  /** The sizes and the load of the database, for the page of metrics. */
  readonly databaseLevels: () => Promise<DatabaseLevels>
  readonly clockKeeper: ClockKeeper
}
