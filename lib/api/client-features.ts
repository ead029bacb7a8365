// Made from the use-cases, routes and schemas by `npm run docs`: change it there.

import type { AnswersClient } from './answers.ts'
import type { AttachmentsClient } from './attachments.ts'
import type { AuthClient } from './auth.ts'
import type { CapabilitiesClient } from './capabilities.ts'
import type { ConversationsClient } from './conversations.ts'
import type { EmailsClient } from './emails.ts'
import type { IdentitiesClient } from './identities.ts'
import type { InvitesClient } from './invites.ts'
import type { KeysClient } from './keys.ts'
import type { MessagesClient } from './messages.ts'
import type { NewcomersClient } from './newcomers.ts'
import type { NotificationsClient } from './notifications.ts'
import type { OauthClient } from './oauth.ts'
import type { ParticipantsClient } from './participants.ts'
import type { PinsClient } from './pins.ts'
import type { PresenceClient } from './presence.ts'
import type { ReactionsClient } from './reactions.ts'
import type { ReceiptsClient } from './receipts.ts'
import type { ResetsClient } from './resets.ts'
import type { SearchClient } from './search.ts'
import type { SetupClient } from './setup.ts'
import type { ThreadsClient } from './threads.ts'
import type { UsersClient } from './users.ts'

/** The endpoints of users, by feature and verb: the ids of the path, then the input, then what is sent beside it. */
export interface ClientFeatures {
  setup: SetupClient
  capabilities: CapabilitiesClient
  users: UsersClient
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
  attachments: AttachmentsClient
  pins: PinsClient
  receipts: ReceiptsClient
  search: SearchClient
  reactions: ReactionsClient
  notifications: NotificationsClient
  answers: AnswersClient
  presence: PresenceClient
}
