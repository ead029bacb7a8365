import { createElement, StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it, vi } from 'vitest'
import { createChatClient } from '../../../lib/client/index.ts'
import {
  ChatProvider,
  useAssistant,
  useAssistantChat,
  useChatStore,
  useCommands,
  useConnection,
  useConversationSettings,
  useConversations,
  useMessages,
  useNotices,
  useNotifications,
  usePresence,
  useReaders,
  useSearch,
  useThread,
  useThreadReaders,
  useThreads,
  useTyping,
  useUnread,
  useUnreadNotifications,
} from '../../../lib/client/react/index.ts'

function Everything() {
  const shown = {
    conversations: useConversations(),
    archived: useConversations({ archived: true }),
    settings: useConversationSettings('c'),
    threads: useThreads('c'),
    thread: useThread('r'),
    messages: useMessages('r'),
    answers: useAssistant('r').answers,
    talk: useAssistantChat('c'),
    typists: useTyping('c').typists,
    presence: usePresence(['u']),
    unread: useUnread(),
    notifications: useNotifications({ unread: true }),
    readers: useReaders('m'),
    markers: useThreadReaders('r'),
    unreadNotifications: useUnreadNotifications(),
    search: useSearch({ q: 'steam' }),
    connection: useConnection(),
    commands: useCommands('c'),
    notices: useNotices('c'),
    store: typeof useChatStore().post,
  }
  return createElement('pre', null, JSON.stringify(shown))
}

it('renders on a server what there is before anything was read, without a request, a timer or a warning', () => {
  const fetch = vi.fn()
  const timer = vi.spyOn(globalThis, 'setTimeout')
  const warn = vi.spyOn(console, 'error')
  const client = createChatClient({ base_url: '/chat', fetch })
  const app = createElement(ChatProvider, { client }, createElement(Everything))
  const html = renderToString(createElement(StrictMode, null, app))
  expect(JSON.parse(/<pre>(.*)<\/pre>/.exec(html)![1]!.replaceAll('&quot;', '"'))).toEqual({
    conversations: { status: 'loading', conversations: [], has_more: false },
    archived: { status: 'loading', conversations: [], has_more: false },
    commands: { status: 'loading', commands: [], calls: [] },
    notices: { status: 'loading', notices: [] },
    settings: { status: 'loading' },
    threads: { status: 'loading', threads: [], has_more: false, pending: [] },
    thread: { status: 'loading', messages: [], has_more: false },
    messages: { messages: [] },
    answers: [],
    talk: { status: 'loading', messages: [], has_older: false, approvals: [] },
    typists: [],
    presence: {},
    unread: 0,
    notifications: { status: 'loading', notifications: [], has_more: false },
    readers: { status: 'loading', readers: [], count: 0, has_more: false, is_off: false },
    markers: { status: 'loading', readers: [], is_off: false },
    unreadNotifications: 0,
    search: { status: 'idle', results: [], has_more: false, is_incomplete: false, unknown_filters: [] },
    connection: { status: 'idle' },
    store: 'function',
  })
  expect([fetch.mock.calls, warn.mock.calls, timer.mock.calls]).toEqual([[], [], []])
  vi.restoreAllMocks()
})

it('names what is missing', () => {
  const warn = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect(() => renderToString(createElement(Everything))).toThrow('need a <ChatProvider> above them')
  warn.mockRestore()
})
