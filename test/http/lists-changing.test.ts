import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Primitive, Queries } from '../../lib/storage/database.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { type Filled, fill, insert } from '../support/full-lists.ts'
import { type Item, LISTS, lists } from '../support/list-table.ts'
import { innerState, PASSWORD, startService, type TestService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

/** The number of items per page, if it is fixed. */
const PAGE = 25

type Row = Record<string, Primitive>

/** A copy of a row is next to it in a list ordered by time or id: only the end of its id differs. */
const beside = (id: string, n: number) => id.slice(0, -4) + (0x1000 + n).toString(16)

/** Adds a copy of an item next to it, under its own name, and removes one again. */
interface Copied {
  staying: (filled: Filled) => string[]
  copy: (tx: Queries, template: string, name: string, filled: Filled) => Promise<void>
  remove: (tx: Queries, name: string, filled: Filled) => Promise<unknown>
  nameOf?: (template: string, n: number) => string
}

async function copyRow(tx: Queries, table: string, key: Row, change: Row): Promise<void> {
  const where = Object.keys(key).map((column) => `${column} = ?`)
  const row = await tx.get<Row>(statement(`SELECT * FROM ${table} WHERE ${where.join(' AND ')}`, Object.values(key)))
  await insert(tx, table, [{ ...row!, ...change }])
}

const byId = (table: string, staying: Copied['staying'], others: (id: string) => Row = () => ({})): Copied => ({
  staying,
  copy: (tx, template, id) => copyRow(tx, table, { id: template }, { id, ...others(id) }),
  remove: (tx, id) => tx.run(statement(`DELETE FROM ${table} WHERE id = ?`, [id])),
})

const userOf = (id: string): Row => ({
  email: `${id}@example.org`,
  email_key: `${id}@example.org`,
  username: `many-${id}`,
  username_key: `many-${id}`,
})

/** Lists whose items are added and removed as rows, anywhere in the list. */
const COPIED: Record<string, Copied> = {
  usersList: byId('users', ({ users }) => users, userOf),
  auditList: byId('audit_log', ({ audit }) => audit),
  tasksList: byId(
    'tasks',
    ({ tasks }) => tasks,
    (id) => ({ key: id }),
  ),
  authListSessions: byId(
    'sessions',
    ({ sessions }) => sessions,
    (id) => ({ token_hash: id, csrf_hash: id }),
  ),
  usersListSessions: byId(
    'sessions',
    ({ sessions }) => sessions,
    (id) => ({ token_hash: id, csrf_hash: id }),
  ),
  keysListAll: byId(
    'api_keys',
    ({ keys }) => keys,
    (id) => ({ key_hash: id }),
  ),
  invitesList: byId(
    'invites',
    ({ invites }) => invites,
    (id) => ({ token_hash: id }),
  ),
  conversationsList: {
    staying: ({ conversations }) => conversations,
    async copy(tx, template, id, { owner_id: user_id }) {
      await copyRow(tx, 'conversations', { id: template }, { id })
      await copyRow(tx, 'participants', { conversation_id: template, user_id }, { conversation_id: id })
    },
    remove: (tx, id) => tx.run(sql`UPDATE conversations SET deleted_at = 1 WHERE id = ${id}`),
  },
  participantsList: {
    staying: ({ users }) => users,
    async copy(tx, template, id, { conversation_id }) {
      await copyRow(tx, 'users', { id: template }, { id, ...userOf(id) })
      await copyRow(tx, 'participants', { conversation_id, user_id: template }, { user_id: id })
    },
    remove: (tx, id, { conversation_id }) =>
      tx.run(sql`DELETE FROM participants WHERE conversation_id = ${conversation_id} AND user_id = ${id}`),
  },
  reactionsList: {
    staying: ({ reactors }) => reactors,
    copy: (tx, template, user_id, { messages }) =>
      copyRow(tx, 'reactions', { message_id: messages[1]!, emoji_key: '👍', user_id: template }, { user_id }),
    remove: (tx, user_id) => tx.run(sql`DELETE FROM reactions WHERE user_id = ${user_id}`),
  },
  limitsListProfiles: {
    staying: ({ profiles }) => profiles,
    copy: (tx, template, name) =>
      copyRow(tx, 'limit_profiles', { name: template }, { id: name.slice(1, 37), name, name_key: name }),
    remove: (tx, name) => tx.run(sql`DELETE FROM limit_profiles WHERE name = ${name}`),
    nameOf: (template, n) => `p${beside(template.slice(1, 37), n)}`.padEnd(64, '~'),
  },
}

/**
 * Lists whose items are added, removed or moved by actions of users: the items that stay, and a change of the others.
 */
const LIVED: Record<
  string,
  (service: TestService, filled: Filled) => Promise<[staying: string[], change: () => Promise<unknown>]>
> = {
  async threadsList({ chat }, { threads, users, conversation_id }) {
    const author = await chat.users.actor(users[0]!)
    const moving = threads.filter((_, n) => n % 4 === 1)
    return [
      threads.filter((_, n) => n % 4 !== 1),
      async () => {
        await chat.messages.postRoot(author, conversation_id, { content: 'new' })
        for (const root of [moving.shift(), moving.pop()])
          if (root) await chat.messages.reply(author, root, { content: 'to the front' })
      },
    ]
  },
  async threadsUnread({ chat }, { threads, users, conversation_id, owner_id }) {
    const [author, reader] = [await chat.users.actor(users[0]!), await chat.users.actor(owner_id)]
    const read = threads.filter((_, n) => n % 4 === 3)
    return [
      threads.filter((_, n) => n % 4 === 0 || n % 4 === 2),
      async () => {
        await chat.messages.postRoot(author, conversation_id, { content: 'new' })
        for (const root of [read.shift(), read.pop()]) if (root) await chat.threads.markRead(reader, root, {})
      },
    ]
  },
  async threadsTree({ chat }, { messages, users }) {
    const author = await chat.users.actor(users[0]!)
    const parents = messages.slice(1, -1)
    return [
      messages,
      async () => {
        for (const parent of [parents.shift(), parents.pop()])
          if (parent) await chat.messages.reply(author, parent, { content: 'in between' })
      },
    ]
  },
  async pinsList({ chat }, { pinned, messages, users }) {
    const author = await chat.users.actor(users[0]!)
    const going = messages.filter((_, n) => n % 4 === 1)
    return [
      pinned.filter((_, n) => (messages.length - 1 - n) % 4 !== 1),
      async () => {
        for (const message of [going.shift(), going.pop()]) if (message) await chat.pins.remove(author, message)
      },
    ]
  },
  async messagesListRevisions({ chat }, { root_id, revisions, users }) {
    const author = await chat.users.actor(users[0]!)
    // An edit adds one at the end, and the oldest of a hundred is deleted.
    return [revisions.slice(20), () => chat.messages.edit(author, root_id, { content: 'edited' })]
  },
}

/** Lists with a single page, or that do not change once they are read. */
const WHOLE = [
  'presenceList',
  'usersSearch',
  'conversationsGet',
  'limitsListAssignments',
  'limitsStatus',
  'grantsList',
  'keysList',
  'botsList',
  'hooksList',
  // At most a hundred of a user; those of all are read as keys are, by a descending id.
  'webhooksList',
  'webhooksListAll',
  // Read as keys are, by a descending id.
  'feedbackList',
  'approvalsList',
  'approvalsGet',
  'webhooksListDeliveries',
  // Of each program at most fifty, in one page.
  'commandsList',
  // At most a hundred, which test/chat/notices adds to and removes.
  'noticesList',
  'botsListKeys',
  'identitiesList',
  'nodesList',
  // test/chat/usage reads its pages while its sums are made anew.
  'usageList',
  // Sorted by sums that change: test/chat/metering reads its pages.
  'usageReport',
  'usageGet',
  'openaiListModels',
  'capabilitiesGet',
  'assistantsList',
  // test/chat/feed reads it while events come.
  'feedRead',
  'answersListChunks',
  'receiptsOfThread',
  // Small ones: test/chat/notifications, test/chat/threads, test/chat/receipts and test/accounts/administration read their pages.
  'notificationsList',
  'threadsListFollowed',
  'receiptsOfMessage',
  'newcomersList',
  // test/chat/rooms reads its pages.
  'conversationsDirectory',
  // test/chat/search reads its pages while messages arrive.
  'searchMessages',
  // test/chat/timeline walks them in both directions while messages are posted, deleted, restored and erased.
  'messagesList',
  'threadsMessages',
  // test/protocols/ui-stream reads their pages.
  'uiChatsGet',
  'uiChatsList',
]

it('changes every list of several pages', () => {
  const known = [...Object.keys(COPIED), ...Object.keys(LIVED), ...WHOLE]
  expect(known.sort()).toEqual(lists.map(({ name }) => name).sort())
})

describeOnEachDatabase('lists that change while they are read', (openUrl) => {
  let service: TestService
  let filled: Filled
  let cookie: string
  /** The number of copies, so that no two have the same name. */
  let copies = 0
  beforeAll(async () => {
    service = await startService(await openUrl(), { config: { session: { max_sessions_per_user: false } } })
    const ada = await service.signIn('ada')
    filled = await fill(service.chat, ada.id)
    ;({ cookie } = await signInByHand(service.base_url, ada.email, PASSWORD))
  }, 120_000)
  afterAll(() => service.close())

  /** Reads a list to its end, with a change during the request of each page. */
  async function walk(name: string, change: (page: string[]) => Promise<unknown>): Promise<string[]> {
    const { key, path, query = '', next } = LISTS[name]!
    const { field } = lists.find((list) => list.name === name)!
    const seen: string[] = []
    let page: string[] = []
    let cursor: string | number | undefined
    do {
      const goOn = cursor === undefined ? '' : `&${next![0]}=${encodeURIComponent(cursor)}`
      const search = String(query).replace(/limit=\d+/, `limit=${PAGE}`) + goOn
      const [response] = await Promise.all([
        fetch(`${service.base_url}${path(filled)}?${search}`, { headers: { cookie } }),
        change(page),
      ])
      expect(response.status).toBe(200)
      const answer = await response.json()
      const items: Item[] = field ? answer[field] : answer
      page = items.map((item) => String(item[key]))
      seen.push(...page)
      cursor = next?.[1](answer, items.at(-1)!)
    } while (cursor !== undefined)
    return seen
  }

  function expectOnce(staying: string[], seen: string[]): void {
    const counts = new Map<string, number>()
    for (const each of seen) counts.set(each, (counts.get(each) ?? 0) + 1)
    expect(staying.filter((each) => counts.get(each) !== 1)).toEqual([])
  }

  it.each(Object.entries(COPIED))(
    '%s misses and repeats no item that stays',
    { timeout: 60_000 },
    async (name, copied) => {
      const { write } = innerState(service)
      const { copy, remove, nameOf = beside } = copied
      const staying = copied.staying(filled)
      const passing = new Map<string, string>()
      /** Adds a copy next to each of these. */
      const add = (tx: Queries, templates: string[]) =>
        templates.reduce(async (before, template) => {
          await before
          let added = nameOf(template, copies++)
          // Ids of one moment follow each other: the copy of one may be the next.
          while (staying.includes(added)) added = nameOf(template, copies++)
          await copy(tx, template, added, filled)
          passing.set(added, template)
        }, Promise.resolve())
      // Every other item may go, so that the last one of a page often does.
      await write((tx) => add(tx, staying.filter((_, index) => index % 2 === 0).slice(0, 120)))
      let from = 0
      const seen = await walk(name, (page) =>
        write(async (tx) => {
          const gone = [...page.filter((each) => passing.has(each)), ...[...passing.keys()].slice(-2)]
          for (const each of new Set(gone)) {
            await remove(tx, each, filled)
            passing.delete(each)
          }
          await add(tx, [staying[from % staying.length]!, staying.at(-1 - (from % staying.length))!])
          from += 7
        }),
      )
      expect(seen.length).toBeGreaterThan(staying.length)
      expectOnce(staying, seen)
    },
  )

  it.each(Object.entries(LIVED))(
    '%s misses and repeats no item that stays',
    { timeout: 60_000 },
    async (name, live) => {
      const [staying, change] = await live(service, filled)
      expectOnce(staying, await walk(name, change))
    },
  )
})
