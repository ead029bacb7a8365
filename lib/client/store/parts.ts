export {
  type AssistantChat,
  type AssistantChatActions,
  type AssistantChatView,
  assistantOf,
  type QuestionOptions,
  type RegenerateOptions,
} from './assistant.ts'
export { type ConversationCanView, canOf, type ServiceCanView, type StoreCan } from './can.ts'
export { type CommandsView, commandsOf, type PendingCall, type StoreCommands } from './commands.ts'
export { type FollowedThreadsView, followedThreadsOf } from './followed.ts'
export { inboxOf, type NotificationsFilter, type NotificationsView, type StoreInbox } from './inbox.ts'
export type { NotificationMark } from './marks.ts'
export { type NoticesView, noticesOf, type StoreNotices } from './notices.ts'
export { peopleOf, type StorePeople, type UserView } from './people.ts'
export { type PinsView, pinsOf, type StorePins } from './pins.ts'
export { type PresenceView, presenceOf, type StorePresence, type Typist } from './presence.ts'
export { type ReadersView, receiptsOf, type StoreReceipts, type ThreadReadersView } from './receipts.ts'
export {
  createMessageSearch,
  type MessageQuery,
  type MessageSearch,
  type SearchOptions,
  type SearchView,
  searchMessages,
  searchOf,
} from './search.ts'
export { type SeenOptions, type StoreSeen, seenOf } from './seen.ts'
export { type FileUpload, type StoreUploads, uploadsOf } from './uploads.ts'
