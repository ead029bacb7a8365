import type * as v from 'valibot'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { allRoutes } from './all-routes.ts'
import type { Filled } from './full-lists.ts'

/** An item of a list, with the fields needed to page through it. */
export type Item = Record<string, string | number>

/** How a list is paged: the field that identifies its items, and how the next page is requested. */
export interface Followed {
  /** The field with the name of an item; of a nested one, its path. */
  key: string
  /** The names of all its items; `undefined` if they need not be known one by one. */
  expected: (filled: Filled) => (string | number)[] | undefined
  path: (filled: Filled) => string
  query?: string | ((filled: Filled) => string)
  /** How the cursor is passed, and where it is found: in the response, or in the last item. */
  next?: [parameter: string, from: (answer: Record<string, string>, last: Item) => string | number | undefined]
}

const after: Followed['next'] = ['after', (answer) => answer.next_after]
const before: Followed['next'] = ['before', (answer) => answer.next_before]
const conversation = ({ conversation_id }: Filled) => `/api/conversations/${conversation_id}`

/** Every list, by the name of its route. */
export const LISTS: Record<string, Followed> = {
  // The assistants and the providers, which are as many as are configured: none.
  assistantsList: { key: 'key', expected: () => [], path: () => '/api/assistants' },
  capabilitiesGet: { key: 'name', expected: () => [], path: () => '/api/features' },
  usersList: {
    key: 'id',
    expected: ({ users }) => users,
    path: () => '/api/admin/users',
    query: 'limit=200&query=many',
    next: after,
  },
  auditList: {
    key: 'id',
    expected: ({ audit }) => audit,
    path: () => '/api/admin/audit',
    query: 'limit=200&act=doctor.probed',
    next: after,
  },
  tasksList: {
    key: 'id',
    expected: ({ tasks }) => tasks,
    path: () => '/api/admin/tasks',
    query: 'limit=200',
    next: after,
  },
  approvalsList: {
    key: 'call_id',
    expected: ({ approvals }) => approvals,
    path: () => '/api/approvals',
    query: 'limit=200',
    next: after,
  },
  // The votes: of each participant at most one.
  approvalsGet: { key: 'at', expected: () => [], path: ({ approvals }) => `/api/approvals/${approvals[0]}` },
  // Small rows: test/chat/usage reads their pages.
  usageList: {
    key: 'key',
    expected: () => undefined,
    path: () => '/api/admin/attachments',
    query: 'by=user&limit=200',
    next: after,
  },
  // Small rows: test/chat/metering reads their pages.
  // Always two.
  usageGet: { key: 'period', expected: () => undefined, path: () => '/api/usage' },
  usageReport: {
    key: 'key',
    expected: () => undefined,
    path: () => '/api/admin/usage',
    query: 'by=user&limit=200',
    next: after,
  },
  // Nothing without a position: test/chat/feed reads its pages.
  feedRead: { key: 'id', expected: () => undefined, path: () => '/api/feed' },
  // All of them, at most 1,000.
  nodesList: { key: 'id', expected: () => undefined, path: () => '/api/admin/nodes' },
  // The best fifty matches only: it is for completing a name.
  usersSearch: { key: 'id', expected: () => undefined, path: () => '/api/users', query: 'limit=50&query=many' },
  authListSessions: {
    key: 'id',
    expected: ({ sessions }) => sessions,
    path: () => '/api/auth/sessions',
    query: 'limit=1000',
    next: after,
  },
  usersListSessions: {
    key: 'id',
    expected: ({ sessions }) => sessions,
    path: ({ owner_id }) => `/api/admin/users/${owner_id}/sessions`,
    query: 'limit=200',
    next: after,
  },
  // Small ones: test/accounts/administration reads their pages.
  newcomersList: { key: 'id', expected: () => undefined, path: () => '/api/admin/invites', next: after },
  conversationsList: {
    key: 'id',
    expected: ({ conversations }) => conversations,
    path: () => '/api/conversations',
    query: 'limit=200',
    next: after,
  },
  // Small rows: test/chat/rooms reads their pages.
  conversationsDirectory: {
    key: 'id',
    expected: () => undefined,
    path: () => '/api/conversations/directory',
    next: after,
  },
  // Returns the first 200 only.
  conversationsGet: { key: 'user_id', expected: () => undefined, path: conversation },
  participantsList: {
    key: 'user_id',
    expected: ({ people }) => people,
    path: (filled) => `${conversation(filled)}/participants`,
    query: 'limit=1000',
    next: after,
  },
  // As many as the query names.
  presenceList: {
    key: 'user_id',
    expected: ({ people }) => people.slice(0, 200),
    path: () => '/api/presence',
    query: ({ people }) => `user_ids=${people.slice(0, 200).join()}`,
  },
  notificationsList: {
    key: 'id',
    expected: ({ notifications }) => notifications,
    path: () => '/api/notifications',
    query: 'limit=200',
    next: after,
  },
  invitesList: {
    key: 'id',
    expected: ({ invites }) => invites,
    path: (filled) => `${conversation(filled)}/invites`,
    query: 'limit=1000',
    next: after,
  },
  threadsList: {
    key: 'root_id',
    expected: ({ threads }) => threads,
    path: (filled) => `${conversation(filled)}/threads`,
    query: 'limit=200',
    next: after,
  },
  threadsUnread: {
    key: 'root_id',
    expected: ({ threads }) => threads,
    path: (filled) => `${conversation(filled)}/unread`,
    query: 'limit=1000',
    next: after,
  },
  // Small ones: test/chat/threads reads their pages while threads move.
  threadsListFollowed: {
    key: 'root_id',
    expected: () => undefined,
    path: () => '/api/threads',
    query: 'limit=200',
    next: after,
  },
  threadsTree: {
    key: 'id',
    expected: ({ messages }) => messages,
    path: ({ root_id }) => `/api/threads/${root_id}/tree`,
    query: 'limit=500',
    next: ['cursor_path', (answer) => answer.next_cursor],
  },
  threadsMessages: {
    key: 'id',
    expected: ({ messages }) => messages.slice(1),
    path: ({ root_id }) => `/api/threads/${root_id}/messages`,
    query: 'limit=200',
    next: before,
  },
  messagesList: {
    key: 'id',
    expected: ({ messages }) => messages,
    path: (filled) => `${conversation(filled)}/messages`,
    query: 'limit=200&view=all',
    next: before,
  },
  messagesListRevisions: {
    key: 'replaced_at',
    expected: ({ revisions }) => revisions,
    path: ({ root_id }) => `/api/messages/${root_id}/revisions`,
    query: 'limit=200',
    next: after,
  },
  pinsList: {
    key: 'at',
    expected: ({ pinned }) => pinned,
    path: (filled) => `${conversation(filled)}/pins`,
    query: 'limit=100',
    next: after,
  },
  searchMessages: {
    key: 'message.id',
    expected: ({ messages }) => messages,
    path: () => '/api/search',
    query: ({ conversation_id }) => `limit=50&in=${conversation_id}`,
    next: ['cursor', (answer) => answer.next_cursor],
  },
  receiptsOfMessage: {
    key: 'user_id',
    expected: () => undefined,
    path: ({ root_id }) => `/api/messages/${root_id}/readers`,
    query: 'limit=200',
    next: after,
  },
  // The latest 1,000.
  receiptsOfThread: {
    key: 'user_id',
    expected: () => undefined,
    path: ({ root_id }) => `/api/threads/${root_id}/readers`,
  },
  reactionsList: {
    key: 'user_id',
    expected: ({ reactors }) => reactors,
    path: ({ messages }) => `/api/messages/${messages[1]}/reactions`,
    query: `limit=200&emoji=${encodeURIComponent('👍')}`,
    next: after,
  },
  answersListChunks: {
    key: 'idx',
    expected: ({ chunks }) => chunks,
    path: ({ answer_id }) => `/api/messages/${answer_id}/chunks`,
    query: 'limit=1000',
    next: ['from', (_, last) => last && Number(last.idx) + 1],
  },
  uiChatsGet: {
    key: 'id',
    expected: () => undefined,
    path: ({ root_id }) => `/api/ui/chat/${root_id}`,
    query: 'limit=1',
    next: before,
  },
  // None was named.
  uiChatsList: { key: 'id', expected: () => [], path: () => '/api/ui/chats', query: 'limit=200', next: after },
  // Those who wait longest only.
  limitsStatus: { key: 'until', expected: () => undefined, path: () => '/api/admin/limits/status' },
  limitsListProfiles: {
    key: 'name',
    expected: ({ profiles }) => profiles,
    path: () => '/api/admin/limits/profiles',
    next: ['after', (_, last) => last?.name],
  },
  limitsListAssignments: {
    key: 'id',
    expected: ({ assignments }) => assignments,
    path: () => '/api/admin/limits/assignments',
  },
  // At most a hundred.
  webhooksList: { key: 'id', expected: () => undefined, path: () => '/api/webhooks' },
  webhooksListAll: {
    key: 'id',
    expected: () => undefined,
    path: () => '/api/admin/webhooks',
    query: 'limit=200',
    next: after,
  },
  feedbackList: {
    key: 'message_id',
    expected: () => undefined,
    path: () => '/api/admin/feedback',
    query: 'limit=200',
    next: after,
  },
  webhooksListDeliveries: {
    key: 'id',
    expected: ({ deliveries }) => deliveries,
    path: ({ webhook_id }) => `/api/webhooks/${webhook_id}/deliveries`,
    query: 'limit=200',
    next: after,
  },
  // At most twenty.
  hooksList: {
    key: 'id',
    expected: () => undefined,
    path: ({ conversation_id }) => `/api/conversations/${conversation_id}/hooks`,
  },
  // Of each bot at most fifty.
  commandsList: {
    key: 'name',
    expected: () => undefined,
    path: ({ conversation_id }) => `/api/conversations/${conversation_id}/commands`,
  },
  // At most a hundred.
  noticesList: {
    key: 'id',
    expected: () => undefined,
    path: ({ conversation_id }) => `/api/conversations/${conversation_id}/notices`,
  },
  // At most a hundred, and at most fifty.
  botsList: { key: 'id', expected: () => undefined, path: () => '/api/bots' },
  botsListKeys: { key: 'id', expected: () => undefined, path: ({ bot_id }) => `/api/bots/${bot_id}/keys` },
  // At most fifty.
  grantsList: { key: 'id', expected: () => undefined, path: () => '/api/auth/grants' },
  // At most fifty.
  keysList: { key: 'id', expected: () => undefined, path: () => '/api/auth/keys' },
  keysListAll: {
    key: 'id',
    expected: ({ keys }) => [...keys].reverse(),
    path: () => '/api/admin/keys',
    query: 'limit=200',
    next: after,
  },
  // At most fifty.
  identitiesList: { key: 'id', expected: ({ identities }) => identities, path: () => '/api/auth/identities' },
  // Two entries.
  openaiListModels: { key: 'id', expected: () => undefined, path: () => '/v1/models' },
}

/** The field of a response with the list; empty for a response that is a list, `undefined` for one without any. */
function listIn(schema: v.GenericSchema | undefined): string | undefined {
  const { type, entries = {} } = (schema ?? {}) as { type?: string; entries?: Record<string, { type: string }> }
  if (type === 'array') return ''
  return Object.keys(entries).find((name) => entries[name]!.type === 'array')
}

/** The lists of the route table: the name of the route, and the field of the response with the items. */
/** Those of protocols are of one answer, or tested with their clients. */
export const lists = allRoutes.flatMap(([name, route]: [string, AnyRoute]) => {
  if (route.is_protocol) return []
  const field = route.method === 'GET' && route.answer === 'json' ? listIn(route.output) : undefined
  return field === undefined ? [] : [{ name, field }]
})
