// Made from the use-cases, routes and schemas by `npm run docs`: change it there.

import type { AnswersUseCases } from './answers-use-cases.ts'
import type { AttachmentsUseCases } from './attachments-use-cases.ts'
import type { AuditUseCases } from './audit-use-cases.ts'
import type { AuthUseCases } from './auth-use-cases.ts'
import type { CapabilitiesUseCases } from './capabilities-use-cases.ts'
import type { ConversationsUseCases } from './conversations-use-cases.ts'
import type { EmailsUseCases } from './emails-use-cases.ts'
import type { EventsUseCases } from './events-use-cases.ts'
import type { IdentitiesUseCases } from './identities-use-cases.ts'
import type { InvitesUseCases } from './invites-use-cases.ts'
import type { KeysUseCases } from './keys-use-cases.ts'
import type { LimitsUseCases } from './limits-use-cases.ts'
import type { MailsUseCases } from './mails-use-cases.ts'
import type { MessagesUseCases } from './messages-use-cases.ts'
import type { NewcomersUseCases } from './newcomers-use-cases.ts'
import type { NodesUseCases } from './nodes-use-cases.ts'
import type { NotificationsUseCases } from './notifications-use-cases.ts'
import type { OauthUseCases } from './oauth-use-cases.ts'
import type { OpenaiUseCases } from './openai-use-cases.ts'
import type { OpsUseCases } from './ops-use-cases.ts'
import type { ParticipantsUseCases } from './participants-use-cases.ts'
import type { PinsUseCases } from './pins-use-cases.ts'
import type { PresenceUseCases } from './presence-use-cases.ts'
import type { ReactionsUseCases } from './reactions-use-cases.ts'
import type { ReceiptsUseCases } from './receipts-use-cases.ts'
import type { ResetsUseCases } from './resets-use-cases.ts'
import type { SearchUseCases } from './search-use-cases.ts'
import type { SessionsUseCases } from './sessions-use-cases.ts'
import type { SetupUseCases } from './setup-use-cases.ts'
import type { TasksUseCases } from './tasks-use-cases.ts'
import type { ThreadsUseCases } from './threads-use-cases.ts'
import type { UsageUseCases } from './usage-use-cases.ts'
import type { UsersUseCases } from './users-use-cases.ts'
import type { WellKnownUseCases } from './well-known-use-cases.ts'

/** The use-cases of a service, by feature and verb. Those that act in a user's name take the actor first. */
export interface Features {
  setup: SetupUseCases
  capabilities: CapabilitiesUseCases
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
  attachments: AttachmentsUseCases
  pins: PinsUseCases
  receipts: ReceiptsUseCases
  search: SearchUseCases
  reactions: ReactionsUseCases
  notifications: NotificationsUseCases
  answers: AnswersUseCases
  presence: PresenceUseCases
  limits: LimitsUseCases
  events: EventsUseCases
  usage: UsageUseCases
  ops: OpsUseCases
  wellKnown: WellKnownUseCases
  openai: OpenaiUseCases
}
