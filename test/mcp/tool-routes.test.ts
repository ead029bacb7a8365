import { describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { routes } from '../../lib/endpoints.ts'
import { TOOLS } from '../../lib/mcp/tools/table.ts'

/** The tools of each route that agents use. */
const TOOLS_OF: Record<string, string[]> = {
  conversationsList: ['list_conversations'],
  threadsList: ['list_threads'],
  threadsTree: ['read_thread'],
  searchMessages: ['search_messages'],
  usersSearch: ['find_users'],
  notificationsList: ['list_notifications'],
  feedRead: ['wait_for_messages'],
  messagesGet: ['get_answer'],
  messagesPostRoot: ['post_message', 'ask_assistant'],
  messagesReply: ['post_message', 'ask_assistant'],
  answersCancel: ['stop_answer'],
  threadsMarkRead: ['mark_read'],
}

/** Why no tool stands for the other routes, each named by its feature or whole. A new one needs a decision: add it here, or make a tool. */
const WITHOUT: Record<string, string[]> = {
  'signs in, or is of an account and its means of access': [
    ...['setup', 'auth', 'oauth', 'resets', 'emails', 'newcomers', 'guests', 'keys', 'grants', 'tokens', 'identities'],
  ],
  'administers the service': [
    ...['audit', 'tasks', 'nodes', 'limits', 'ops', 'wellKnown', 'openai', 'capabilities'],
    ...[
      'usersEndBySubject',
      'usersEnsure',
      'usersFindBySubject',
      'usersMerge',
      'usersCreate',
      'usersList',
      'usersChange',
    ],
    ...['usersDescribe', 'usersLockDown', 'usersUnlock', 'usersIssueReset', 'usersEndSession', 'usersEndSessions'],
    ...['usersListSessions', 'usersErase', 'usersEraseBySubject', 'usersRemoveAvatar'],
  ],
  'is for other programs': [
    'bots',
    'hooks',
    'webhooks',
    'commands',
    'notices',
    'eventsStream',
    'eventsStreamAll',
    'answersAddChunk',
    'answersEnd',
  ],
  'deletes, invites, or changes who takes part': [
    ...[
      'participants',
      'invites',
      'conversationsJoin',
      'conversationsLeave',
      'conversationsCreate',
      'conversationsDirect',
    ],
    ...[
      'conversationsRemove',
      'messagesRemove',
      'messagesRestore',
      'attachmentsRemove',
      'pinsRemove',
      'reactionsRemove',
    ],
  ],
  'changes what others see, and is not posting': [
    'messagesEdit',
    'reactionsAdd',
    'pinsAdd',
    'threadsSetTitle',
    'conversationsRename',
    'presenceSendHeartbeat',
    'presenceSetTyping',
  ],
  'is a setting of the user': [
    ...['conversationsSettings', 'conversationsSetSettings', 'threadsFollow', 'threadsUnfollow', 'feedback'],
    ...[
      'conversationsMarkAllRead',
      'conversationsMarkRead',
      'conversationsMarkUnread',
      'threadsMarkUnread',
      'notificationsMarkRead',
    ],
  ],
  'is seen in the result of another tool': [
    ...[
      'usersGet',
      'usersAvatar',
      'conversationsGet',
      'conversationsDirectory',

      'messagesList',
      'messagesListRevisions',
    ],
    ...[
      'threadsListFollowed',
      'threadsUnread',
      'threadsMessages',
      'answersListChunks',
      'reactionsList',
      'pinsList',
      'receipts',
    ],
    ...['assistants', 'presenceList', 'usage'],
  ],
  'is of files, which results link to': [
    'attachmentsContent',
    'attachmentsCreate',
    'attachmentsGet',
    'attachmentsLink',
    'attachmentsLinked',
    'attachmentsPutPart',
    'attachmentsThumbnail',
  ],
  'is the same in the format of another protocol': ['uiChats', 'responses', 'runs'],
  'is a task of the protocol': ['approvals'],
}

const isNamed = (id: string, name: string) => id === name || new RegExp(`^${name}[A-Z]`).test(id)

describe('the routes of the service', () => {
  it.each(Object.keys(routes))('%s has a tool, or a reason to have none', (id) => {
    const reasons = Object.values(WITHOUT).filter((names) => names.some((name) => isNamed(id, name)))
    expect(reasons.length + (id in TOOLS_OF ? 1 : 0)).toBe(1)
  })

  it('are those that the tools stand for', () => {
    const ARGS = [{}, { parent_id: 'x' }]
    const ids = (name: string) =>
      ARGS.map((args) => {
        const { method, path } = TOOLS[name]!.route(args)
        return Object.entries<AnyRoute>(routes).find(([, route]) => route.method === method && route.path === path)?.[0]
      })
    const made: Record<string, string[]> = {}
    for (const name of Object.keys(TOOLS))
      for (const id of new Set(ids(name))) made[String(id)] = [...(made[String(id)] ?? []), name]
    expect(made).toEqual(TOOLS_OF)
  })

  it.each(Object.entries(TOOLS))('%s reads, or writes, as its route does', (_, { route, effect, scope }) => {
    const { method } = route({})
    expect([effect === 'reads', scope === 'chat:read']).toEqual([method === 'GET', method === 'GET'])
  })

  it('are not named that do not exist', () => {
    const names = [...Object.values(WITHOUT).flat(), ...Object.keys(TOOLS_OF)]
    expect(names.filter((name) => !Object.keys(routes).some((id) => isNamed(id, name)))).toEqual([])
  })
})
