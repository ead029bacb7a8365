import * as administration from './accounts/administration/routes.ts'
import * as throttling from './accounts/administration/routes-throttling.ts'
import * as keys from './accounts/api-keys/routes.ts'
import * as keysOfUsers from './accounts/api-keys/routes-admin.ts'
import * as audit from './accounts/audit/routes.ts'
import * as emails from './accounts/email-addresses/routes.ts'
import * as grants from './accounts/grants/routes.ts'
import * as hostPeople from './accounts/host-identity/routes.ts'
import * as identities from './accounts/identities/routes.ts'
import * as oauth from './accounts/oauth/routes.ts'
import * as resets from './accounts/password-resets/routes.ts'
import * as resetsOfUsers from './accounts/password-resets/routes-admin.ts'
import * as profile from './accounts/profile/routes.ts'
import * as auth from './accounts/sessions/routes.ts'
import * as sessionsOfUsers from './accounts/sessions/routes-admin.ts'
import * as setup from './accounts/setup/routes.ts'
import * as newcomers from './accounts/sign-ups/routes.ts'
import * as tokens from './accounts/tokens/routes.ts'
import * as users from './accounts/users/routes.ts'
import * as answers from './chat/answers/routes.ts'
import * as approvals from './chat/approvals/routes.ts'
import * as assistants from './chat/assistants/routes.ts'
import * as attachments from './chat/attachments/routes.ts'
import * as avatars from './chat/avatars/routes.ts'
import * as commands from './chat/commands/routes.ts'
import * as conversations from './chat/conversations/routes.ts'
import * as events from './chat/events/routes.ts'
import * as feed from './chat/feed/routes.ts'
import * as feedback from './chat/feedback/routes.ts'
import * as invites from './chat/invites/routes.ts'
import * as messages from './chat/messages/routes.ts'
import * as metering from './chat/metering/routes.ts'
import * as notices from './chat/notices/routes.ts'
import * as notifications from './chat/notifications/routes.ts'
import * as participants from './chat/participants/routes.ts'
import * as people from './chat/people/routes.ts'
import * as pins from './chat/pins/routes.ts'
import * as presence from './chat/presence/routes.ts'
import * as reactions from './chat/reactions/routes.ts'
import * as receipts from './chat/receipts/routes.ts'
import * as rooms from './chat/rooms/routes.ts'
import * as search from './chat/search/routes.ts'
import * as streaming from './chat/streaming/routes.ts'
import * as threads from './chat/threads/routes.ts'
import * as timeline from './chat/timeline/routes.ts'
import * as marks from './chat/unread/routes.ts'
import * as follows from './chat/unread/routes-follows.ts'
import * as usage from './chat/usage/routes.ts'
import * as nodes from './cluster/routes.ts'
import type { AnyRoute } from './endpoint.ts'
import * as erasure from './erasure/routes.ts'
import * as guests from './guests/routes.ts'
import * as bots from './integrations/bots/routes.ts'
import * as hooks from './integrations/hooks/routes.ts'
import * as webhooks from './integrations/webhooks/routes.ts'
import * as webhooksOfAll from './integrations/webhooks/routes-admin.ts'
import * as limits from './limits/routes.ts'
import * as merging from './merging/routes.ts'
import * as completions from './openai-api/completions/routes.ts'
import * as responseConversations from './openai-api/conversations/routes.ts'
import * as responses from './openai-api/responses/routes.ts'
import * as openai from './openai-api/routes.ts'
import * as capabilities from './ops/capabilities/routes.ts'
import * as ops from './ops/routes.ts'
import * as runs from './protocols/ag-ui/routes.ts'
import * as uiChats from './protocols/ui-stream/routes.ts'
import * as tasks from './tasks/routes.ts'
import * as wellKnown from './well-known/routes.ts'

/** Every endpoint by its feature and its verb, as in `chat.messages.reply` and `client.messages.reply`. */
export const endpoints = {
  setup,
  capabilities,
  auth: { ...auth, ...profile, setAvatar: avatars.setAvatar, removeAvatar: avatars.removeAvatar },
  oauth,
  resets,
  emails,
  newcomers,
  guests,
  keys: { ...keys, ...keysOfUsers },
  grants,
  tokens,
  bots,
  hooks,
  webhooks: { ...webhooks, ...webhooksOfAll },
  identities,
  users: {
    // By subject first: their paths are none of a user's id.
    ...hostPeople,
    ...merging,
    ...users,
    ...people,
    ...administration,
    ...resetsOfUsers,
    ...sessionsOfUsers,
    ...erasure,
    removeAvatar: avatars.removeAvatarOf,
    avatar: avatars.avatar,
  },
  audit,
  tasks,
  nodes,
  // The rooms first: their paths are none of a conversation's id.
  conversations: { ...rooms, ...conversations, ...marks },
  participants,
  invites,
  threads: { ...threads, ...follows, messages: timeline.replies },
  messages: { ...messages, list: timeline.list },
  attachments,
  reactions,
  receipts,
  pins,
  search,
  answers: { ...answers, ...streaming },
  assistants,
  commands,
  notices,
  approvals,
  feedback,
  notifications,
  presence,
  limits: { ...limits, ...throttling },
  events,
  feed,
  usage: { ...usage, ...metering },
  ops,
  wellKnown,
  openai: { ...openai, ...completions },
  uiChats,
  runs,
  responses: { ...responses, ...responseConversations },
}

/** The routes by operation id: `messagesReply`. */
export const routes: Readonly<Record<string, AnyRoute>> = Object.fromEntries(
  Object.entries(endpoints).flatMap(([feature, verbs]) =>
    Object.entries<AnyRoute>(verbs).map(([verb, route]) => [operationId(feature, verb), route]),
  ),
)

/** @returns for `messages` and `reply`: `messagesReply` */
export function operationId(feature: string, verb: string): string {
  return feature + verb[0]!.toUpperCase() + verb.slice(1)
}
