import type * as v from 'valibot'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../lib/context.ts'
import { conversationSource } from '../../lib/events/sources.ts'
import type { AnyRoute } from '../../lib/http/route.ts'
import { allRoutes } from '../support/all-routes.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { type Filled, fill } from '../support/full-lists.ts'
import { codeOf, PASSWORD, startService, type TestService, times } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

const MIB = 1024 * 1024

/** How long the texts are that an event carries. */
const textsOf = (event: unknown) => {
  const { message } = (event as { payload: { message?: { content: string; prompt?: string } } }).payload
  return (message?.content.length ?? 0) + (message?.prompt?.length ?? 0)
}

/** What an answer has beside its items. */
const FRAME = 8 * 1024

type Item = Record<string, string | number>

/** How a list is followed, when it is filled: what names its items, and how the next page is asked for. */
interface Followed {
  /** The field that its items have their name in. */
  key: string
  /** The names of all its items; `undefined` where they need not be known one by one. */
  expected: (filled: Filled) => (string | number)[] | undefined
  path: (filled: Filled) => string
  query?: string
  /** How the cursor is asked for, and where it is: in the answer, or in the last item. */
  next?: [parameter: string, from: (answer: Record<string, string>, last: Item) => string | number | undefined]
}

const after: Followed['next'] = ['after', (answer) => answer.next_after]
const conversation = ({ conversation_id }: Filled) => `/api/conversations/${conversation_id}`

const LISTS: Record<string, Followed> = {
  listUsers: {
    key: 'id',
    expected: ({ users }) => users,
    path: () => '/api/admin/users',
    query: 'limit=200&query=many',
    next: after,
  },
  listAudit: {
    key: 'id',
    expected: ({ audit }) => audit,
    path: () => '/api/admin/audit',
    query: 'limit=200&act=doctor.probed',
    next: after,
  },
  // Filled by removals alone, which are soon done.
  listTasks: { key: 'id', expected: () => undefined, path: () => '/api/admin/tasks', query: 'limit=200', next: after },
  // The best fifty, and no more: it is for completing a name.
  searchUsers: { key: 'id', expected: () => undefined, path: () => '/api/users', query: 'limit=50&query=many' },
  listSessions: {
    key: 'id',
    expected: ({ sessions }) => sessions,
    path: () => '/api/auth/sessions',
    query: 'limit=1000',
    next: after,
  },
  listConversations: {
    key: 'id',
    expected: ({ conversations }) => conversations,
    path: () => '/api/conversations',
    query: 'limit=200',
    next: after,
  },
  // Shows the first 200.
  readConversation: { key: 'user_id', expected: () => undefined, path: conversation },
  listParticipants: {
    key: 'user_id',
    expected: ({ people }) => people,
    path: (filled) => `${conversation(filled)}/participants`,
    query: 'limit=1000',
    next: after,
  },
  listInvites: {
    key: 'id',
    expected: ({ invites }) => invites,
    path: (filled) => `${conversation(filled)}/invites`,
    query: 'limit=1000',
    next: after,
  },
  listThreads: {
    key: 'root_id',
    expected: ({ threads }) => threads,
    path: (filled) => `${conversation(filled)}/threads`,
    query: 'limit=200',
    next: after,
  },
  readUnread: {
    key: 'root_id',
    expected: ({ threads }) => threads,
    path: (filled) => `${conversation(filled)}/unread`,
    query: 'limit=1000',
    next: after,
  },
  readThread: {
    key: 'id',
    expected: ({ messages }) => messages,
    path: ({ root_id }) => `/api/threads/${root_id}/tree`,
    query: 'limit=500',
    next: ['cursor_path', (answer) => answer.next_cursor],
  },
  listRevisions: {
    key: 'replaced_at',
    expected: ({ revisions }) => revisions,
    path: ({ root_id }) => `/api/messages/${root_id}/revisions`,
    query: 'limit=200',
    next: after,
  },
  listChunks: {
    key: 'idx',
    expected: ({ chunks }) => chunks,
    path: ({ answer_id }) => `/api/messages/${answer_id}/chunks`,
    query: 'limit=1000',
    next: ['from', (_, last) => last && Number(last.idx) + 1],
  },
  listLimitProfiles: {
    key: 'name',
    expected: ({ profiles }) => profiles,
    path: () => '/api/admin/limits/profiles',
    next: ['after', (_, last) => last?.name],
  },
  listLimitAssignments: {
    key: 'id',
    expected: ({ assignments }) => assignments,
    path: () => '/api/admin/limits/assignments',
  },
  // Fifty at most.
  listKeys: { key: 'id', expected: () => undefined, path: () => '/api/auth/keys' },
  // As many as one has linked.
  listIdentities: { key: 'id', expected: () => undefined, path: () => '/api/auth/identities' },
  // Two.
  listModels: { key: 'id', expected: () => undefined, path: () => '/v1/models' },
}

/** The name of the list in an answer; empty for an answer that is one, `undefined` for one that has none. */
function listIn(schema: v.GenericSchema | undefined): string | undefined {
  const { type, entries = {} } = (schema ?? {}) as { type?: string; entries?: Record<string, { type: string }> }
  if (type === 'array') return ''
  return Object.keys(entries).find((name) => entries[name]!.type === 'array')
}

const lists = allRoutes.flatMap(([name, route]: [string, AnyRoute]) => {
  const field = route.method === 'GET' && route.answer === 'json' ? listIn(route.output) : undefined
  return field === undefined ? [] : [{ name, field }]
})

it('knows how each list of the route table goes on', () => {
  expect(lists.map(({ name }) => name).filter((name) => !LISTS[name])).toEqual([])
})

describeOnEachDatabase('lists with the largest items', (openUrl) => {
  let service: TestService
  let filled: Filled
  let cookie: string
  beforeAll(async () => {
    service = await startService(await openUrl(), { config: { session: { max_sessions_per_user: false } } })
    const ada = await service.signIn('ada')
    filled = await fill(service.chat, ada.id)
    ;({ cookie } = await signInByHand(service.base_url, ada.email, PASSWORD))
  }, 120_000)
  afterAll(() => service.close())

  it.each(lists)('$name is never too large, misses and repeats nothing', async ({ name, field }) => {
    const { key, expected, path, query = '', next } = LISTS[name]!
    const seen: (string | number)[] = []
    let cursor: string | number | undefined
    do {
      const goOn = cursor === undefined ? '' : `&${next![0]}=${encodeURIComponent(cursor)}`
      const response = await fetch(`${service.base_url}${path(filled)}?${query}${goOn}`, { headers: { cookie } })
      expect(response.status).toBe(200)
      const text = await response.text()
      const answer = JSON.parse(text)
      const items: Item[] = field ? answer[field] : answer
      const largest = Math.max(0, ...items.map((item) => Buffer.byteLength(JSON.stringify(item))))
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MIB + largest + FRAME)
      seen.push(...items.map((item) => item[key]!))
      cursor = next?.[1](answer, items.at(-1)!)
    } while (cursor !== undefined)

    expect(new Set(seen).size).toBe(seen.length)
    const all = expected(filled)
    if (all) expect(seen.filter((each) => all.includes(each)).sort()).toEqual([...all].sort())
  })

  it('gives the library no more at once than a caller over HTTP', async () => {
    const actor = await service.chat.users.actor(filled.owner_id)
    const page = await service.chat.threads.tree(actor, filled.root_id, { limit: 500 })
    expect(page.messages.length).toBeLessThan(filled.messages.length)
    expect(page.next_cursor).toBe(page.messages.at(-1)!.path)
  })

  it('says how much is unread in all, and how many take part, on whatever page', async () => {
    const actor = await service.chat.users.actor(filled.owner_id)
    const { threads, total } = await service.chat.threads.unread(actor, filled.conversation_id, { limit: 1 })
    expect(threads).toHaveLength(1)
    expect(total).toBeGreaterThanOrEqual(filled.threads.length)
    const { participants, participant_count } = await service.chat.conversations.get(actor, filled.conversation_id)
    expect([participants.length, participant_count]).toEqual([200, filled.people.length])
  })

  it('reads long messages of a replay by their bytes', async () => {
    const source = conversationSource(service.chat.context.db, filled.conversation_id)
    const { last } = (await source.head())!
    let seq = 1
    const sizes: number[] = []
    while (seq < last) {
      const { lines, isLast } = await source.read(seq, 64)
      sizes.push(lines.reduce((sum, { event }) => sum + textsOf(event), 0))
      seq = lines.at(-1)!.seq
      expect(isLast).toBe(seq === last)
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MIB)
    expect(sizes.length).toBeGreaterThan(2)
  })

  it('keeps the last hundred texts of a message, also where there were more', async () => {
    const { chat } = service
    const author = await chat.users.actor(filled.users[0]!)
    await chat.messages.edit(author, filled.root_id, { content: 'one more' })
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await chat.messages.revisions(author, filled.root_id, { after })
      seen.push(...page.revisions.map((each) => each.replaced_at))
      after = page.next_after
    } while (after)
    expect(seen.slice(0, -1)).toEqual(filled.revisions.slice(1))
  })

  it('takes a thousand profiles, and no more of several that come at once', async () => {
    const { limits } = service.chat
    const make = (name: string) =>
      limits.createProfile(OPERATOR, { name, params: { requests_per_second: 1, burst: 1 } })
    expect(await codeOf(make('one more'))).toBe('conflict')
    for (const name of filled.profiles.slice(1, 3)) await limits.deleteProfile(OPERATOR, name.slice(1, 37))
    const made = await Promise.allSettled(times(8, (n) => make(`again ${n}`)))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  })
})
