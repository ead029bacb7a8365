// Made from the use-cases, routes and schemas by `npm run docs`: change it there.

import type { AnswersClient, AnswersUseCases } from './answers.ts'
import type { AuditClient, AuditUseCases } from './audit.ts'
import type { AuthClient, AuthUseCases } from './auth.ts'
import type { ConversationsClient, ConversationsUseCases } from './conversations.ts'
import type { EmailsClient, EmailsUseCases } from './emails.ts'
import type { EventsUseCases } from './events.ts'
import type { IdentitiesClient, IdentitiesUseCases } from './identities.ts'
import type { InvitesClient, InvitesUseCases } from './invites.ts'
import type { KeysClient, KeysUseCases } from './keys.ts'
import type { LimitsClient, LimitsUseCases } from './limits.ts'
import type { MailsUseCases } from './mails.ts'
import type { MessagesClient, MessagesUseCases } from './messages.ts'
import type { NewcomersClient, NewcomersUseCases } from './newcomers.ts'
import type { NodesClient, NodesUseCases } from './nodes.ts'
import type { OauthClient, OauthUseCases } from './oauth.ts'
import type { OpenaiClient, OpenaiUseCases } from './openai.ts'
import type { OpsClient, OpsUseCases } from './ops.ts'
import type { ParticipantsClient, ParticipantsUseCases } from './participants.ts'
import type { PresenceClient, PresenceUseCases } from './presence.ts'
import type { ResetsClient, ResetsUseCases } from './resets.ts'
import type { SessionsUseCases } from './sessions.ts'
import type { SetupClient, SetupUseCases } from './setup.ts'
import type { TasksClient, TasksUseCases } from './tasks.ts'
import type { ThreadsClient, ThreadsUseCases } from './threads.ts'
import type { UsersClient, UsersUseCases } from './users.ts'
import type { WellKnownClient, WellKnownUseCases } from './well-known.ts'

/** The use-cases of a service, by feature and verb. Those that act in a user's name take the actor first. */
export interface Features {
  setup: SetupUseCases
  users: UsersUseCases
  sessions: SessionsUseCases
  audit: AuditUseCases
  tasks: TasksUseCases
  mails: MailsUseCases
  nodes: NodesUseCases
  auth: AuthUseCases
  resets: ResetsUseCases
  emails: EmailsUseCases
  newcomers: NewcomersUseCases
  keys: KeysUseCases
  identities: IdentitiesUseCases
  oauth: OauthUseCases
  conversations: ConversationsUseCases
  participants: ParticipantsUseCases
  invites: InvitesUseCases
  threads: ThreadsUseCases
  messages: MessagesUseCases
  answers: AnswersUseCases
  presence: PresenceUseCases
  limits: LimitsUseCases
  events: EventsUseCases
  ops: OpsUseCases
  wellKnown: WellKnownUseCases
  openai: OpenaiUseCases
}

/** The endpoints, by feature and verb: the ids of the path, then the input, then what is sent beside it. */
export interface ClientFeatures {
  setup: SetupClient
  users: UsersClient
  audit: AuditClient
  tasks: TasksClient
  nodes: NodesClient
  auth: AuthClient
  resets: ResetsClient
  emails: EmailsClient
  newcomers: NewcomersClient
  keys: KeysClient
  identities: IdentitiesClient
  oauth: OauthClient
  conversations: ConversationsClient
  participants: ParticipantsClient
  invites: InvitesClient
  threads: ThreadsClient
  messages: MessagesClient
  answers: AnswersClient
  presence: PresenceClient
  limits: LimitsClient
  ops: OpsClient
  wellKnown: WellKnownClient
  openai: OpenaiClient
}
