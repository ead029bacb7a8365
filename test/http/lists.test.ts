import { afterAll, beforeAll, expect, it } from 'vitest'
import { conversationSource } from '../../lib/chat/events/sources.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { MIB } from '../../lib/core/units.ts'
import { listHeads } from '../../lib/live/log/log.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { type Filled, fill } from '../support/full-lists.ts'
import { type Item, LISTS, lists } from '../support/list-table.ts'
import { codeOf, innerState, PASSWORD, startService, type TestService, times } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

/** The length of the texts in an event. */
const textsOf = (event: unknown) => {
  const { message } = (event as { payload: { message?: { content: string; prompt?: string } } }).payload
  return (message?.content.length ?? 0) + (message?.prompt?.length ?? 0)
}

const nameOf = (item: Item, key: string) =>
  key.split('.').reduce<unknown>((value, part) => (value as Item)[part], item) as string | number

/** The fields of a response besides its items. */
const FRAME = 8 * 1024

it('covers how each list of the route table is continued', () => {
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

  it.each(lists)('$name stays below the maximum size, misses and repeats nothing', async ({ name, field }) => {
    const { key, expected, path, query = '', next } = LISTS[name]!
    const seen: (string | number)[] = []
    let cursor: string | number | undefined
    do {
      const goOn = cursor === undefined ? '' : `&${next![0]}=${encodeURIComponent(cursor)}`
      const response = await fetch(
        `${service.base_url}${path(filled)}?${typeof query === 'string' ? query : query(filled)}${goOn}`,
        { headers: { cookie } },
      )
      expect(response.status).toBe(200)
      const text = await response.text()
      const answer = JSON.parse(text)
      const items: Item[] = field ? answer[field] : answer
      const largest = Math.max(0, ...items.map((item) => Buffer.byteLength(JSON.stringify(item))))
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MIB + largest + FRAME)
      seen.push(...items.map((item) => nameOf(item, key)))
      cursor = next?.[1](answer, items.at(-1)!)
    } while (cursor !== undefined)

    expect(new Set(seen).size).toBe(seen.length)
    const all = expected(filled)
    if (all) expect(seen.filter((each) => all.includes(each)).sort()).toEqual([...all].sort())
  })

  it('return no more to the library at once than to a caller over HTTP', async () => {
    const actor = await service.chat.users.actor(filled.owner_id)
    const page = await service.chat.threads.tree(actor, filled.root_id, { limit: 500 })
    expect(page.messages.length).toBeLessThan(filled.messages.length)
    expect(page.next_cursor).toBe(page.messages.at(-1)!.path)
  })

  it('return the total of unread messages and participants on every page', async () => {
    const actor = await service.chat.users.actor(filled.owner_id)
    const { threads, total } = await service.chat.threads.unread(actor, filled.conversation_id, { limit: 1 })
    expect(threads).toHaveLength(1)
    expect(total).toBeGreaterThanOrEqual(filled.threads.length)
    const { participants, participant_count } = await service.chat.conversations.get(actor, filled.conversation_id)
    expect([participants.length, participant_count]).toEqual([200, filled.people.length])
  })

  it('limit the messages of a replay by their bytes', async () => {
    const { db } = innerState(service)
    const findHead = async (id: string) => (await listHeads(db, [id])).get(id)
    const source = conversationSource(db, filled.conversation_id, { findHead, photos: () => ({}), now: () => 0 })
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

  it('keep the last hundred texts of a message, also if there were more', async () => {
    const { chat } = service
    const author = await chat.users.actor(filled.users[0]!)
    await chat.messages.edit(author, filled.root_id, { content: 'one more' })
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await chat.messages.listRevisions(author, filled.root_id, { after })
      seen.push(...page.revisions.map((each) => each.replaced_at))
      after = page.next_after
    } while (after)
    expect(seen.slice(0, -1)).toEqual(filled.revisions.slice(1))
  })

  it('limit profiles to a thousand, also with several calls at once', async () => {
    const { limits } = service.chat
    const make = (name: string) =>
      limits.createProfile(OPERATOR, { name, params: { requests_per_second: 1, burst: 1 } })
    expect(await codeOf(make('one more'))).toBe('conflict')
    for (const name of filled.profiles.slice(1, 3)) await limits.deleteProfile(OPERATOR, name.slice(1, 37))
    const made = await Promise.allSettled(times(8, (n) => make(`again ${n}`)))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  })
})
