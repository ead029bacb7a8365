import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Message } from '../../../lib/chat/messages/schema.ts'
import { findEntries } from '../../../lib/chat/search/lookup.ts'
import { partitionOf, toWordNumber } from '../../../lib/chat/search/rules.ts'
import { indexTerms, parseQuery } from '../../../lib/chat/search/rules-query.ts'
import { createPage, scan } from '../../../lib/chat/search/scan.ts'
import type { SearchQuery } from '../../../lib/chat/search/schema.ts'
import { findEnds, listChanges, noteChanged, takeChanges } from '../../../lib/chat/search/store.ts'
import { listPartitions, mergePartition, partitionTable } from '../../../lib/chat/search/store-fts5.ts'
import { listTexts } from '../../../lib/chat/search/store-texts.ts'
import { clearIndex } from '../../../lib/chat/search/word-index.ts'
import type { Actor } from '../../../lib/core/actor.ts'
import { MAX_PAGE_BYTES } from '../../../lib/core/pages.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { hasTable } from '../../../lib/storage/catalog.ts'
import { among, FIRST_DOC, sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { describeService } from '../../support/describe-service.ts'
import { placementOf } from '../../support/placement.ts'
import {
  codeOf,
  innerState,
  PASSWORD,
  type Person,
  startService,
  type TestService,
  times,
} from '../../support/service.ts'

/** 500 characters of a script without spaces. */
const CHARACTERS = String.fromCodePoint(...times(500, (n) => 0x7000 + n))
const NOBODY = '0199f3f0-0000-7000-8000-000000000000'

/** Any of the nodes may bring a message into the index. */
const idle = ({ nodes }: TestService) => Promise.all(nodes.map((node) => node.idle()))

describeService('search', { config: { search: { per_user_per_min: 10_000 } } }, (service) => {
  let ada: Person
  let grace: Person
  let alan: Person
  let id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    alan = await service.signIn('alan')
    id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    await ada.participants.add(id, { user_id: grace.id })
  })

  const post = async (content: string, by = ada, conversation = id) =>
    (await by.messages.postRoot(conversation, { content })).message_id
  const find = async (query: Partial<SearchQuery> | string, by = ada) => {
    const { results } = await by.search.messages(typeof query === 'string' ? { q: query } : query)
    return results.map(({ message }) => message.content)
  }
  /** Both ways of finding a message: before and after the index has it. */
  const moved = () => idle(service)

  it('finds words that are cut within a character, and 500 characters of one term', async () => {
    const [first] = CHARACTERS
    const texts = [`a${'𐌰'.repeat(40)}`, times(30, () => '👨').join('\u200D'), `${CHARACTERS} #️⃣ *️⃣`]
    for (const text of texts) await post(text)
    const check = async () => {
      for (const text of texts) expect(await find(text.slice(0, 500))).toEqual([text])
      expect(await find(`#️⃣ *️⃣ ${first}`)).toEqual([texts[2]])
      expect(await find({ q: '#️⃣', from: '@ada' })).toEqual([texts[2]])
    }
    await check()
    await moved()
    expect(await service.chat.search.status(OPERATOR)).toMatchObject({ waiting: 0 })
    await check()
  })

  it('finds words at once, in any language, newest first', async () => {
    const texts = [
      'The quick brown fox',
      'Ein Straßenfest mit Ödön',
      '我喜欢北京烤鸭',
      'データベースを検索する',
      'Съешь ещё этих мягких булок',
      'กินข้าวหรือยัง',
      'مرحبا بالعالم',
      'all good 👍🏽',
      'qwen3.6 against llama',
      'See https://example.org/fox for more',
    ]
    for (const text of texts) await post(text)
    const cases: [q: string, found: number[]][] = [
      ['fox', [9, 0]],
      ['QUICK fox', [0]],
      ['"brown fox"', [0]],
      ['"fox brown"', []],
      ['fox -quick', [9]],
      ['strassenfest', [1]],
      ['STRASSENFEST', [1]],
      ['straßenfest odon', [1]],
      ['北京', [2]],
      ['鸭', [2]],
      ['京', [2]],
      ['検索', [3]],
      ['еще', [4]],
      ['булок', [4]],
      ['ข้าว', [5]],
      ['بالعالم', [6]],
      ['بِالعَالَم', [6]],
      ['👍🏽', [7]],
      ['qwen3.6', [8]],
      ['lla*', [8]],
      ['example.org', [9]],
      ['nothing', []],
    ]
    const check = async () => {
      for (const [q, found] of cases) expect([q, await find(q)]).toEqual([q, found.map((n) => texts[n])])
    }
    await check()
    await moved()
    await check()
  })

  it.each([true, false])('follows edits, deletions and restores (in the index: %s)', async (isMoved) => {
    const tag = `zebra${isMoved}`
    const settle = isMoved ? moved : async () => {}
    const message = await post(`${tag} one`)
    await settle()
    await ada.messages.edit(message, { content: `${tag} two` })
    expect(await find(`${tag} one`)).toEqual([])
    expect(await find(`${tag} two`)).toEqual([`${tag} two`])
    await settle()
    expect(await find(`${tag} two`)).toEqual([`${tag} two`])
    await ada.messages.remove(message)
    expect(await find(tag)).toEqual([])
    await settle()
    expect(await find(tag)).toEqual([])
    await ada.messages.restore(message)
    expect(await find(tag)).toEqual([`${tag} two`])
    await settle()
    expect(await find(tag)).toEqual([`${tag} two`])
  })

  it('finds only what the caller takes part in now', async () => {
    const { conversation_id } = await alan.conversations.create({ title: 'Secret' })
    await post('hidden treasure', alan, conversation_id)
    await moved()
    expect(await find('treasure')).toEqual([])
    expect(await find('treasure', alan)).toEqual(['hidden treasure'])
    for (const where of [conversation_id, '0199f3f0-0000-7000-8000-000000000000', 'x']) {
      expect(await codeOf(ada.search.messages({ q: 'treasure', in: where }))).toBe('not_found')
      expect(await codeOf(ada.search.messages({ q: `treasure in:${where}` }))).toBe('not_found')
      expect(await codeOf(ada.search.messages({ thread: where }))).toBe('not_found')
    }
    await alan.participants.add(conversation_id, { user_id: ada.id, role: 'viewer' })
    expect(await find('treasure')).toEqual(['hidden treasure'])
    await alan.participants.remove(conversation_id, ada.id)
    expect(await find('treasure')).toEqual([])
  })

  it('narrows by place, author, time and what a message has', async () => {
    const { conversation_id } = await ada.conversations.create({ title: 'Narrow' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const inside = (query: Partial<SearchQuery>) => find({ in: conversation_id, ...query })
    const first = await post('narrow first', ada, conversation_id)
    const { message } = await grace.messages.reply(first, { content: 'narrow second @ada' })
    await post('narrow third https://example.org', ada, conversation_id)
    const [one, two, three] = ['narrow first', 'narrow second @ada', 'narrow third https://example.org']
    const check = async () => {
      expect(await find(`in:${conversation_id}`)).toEqual([three, two, one])
      expect(await inside({})).toEqual([three, two, one])
      expect(await inside({ from: grace.id })).toEqual([two])
      expect(await find('narrow from:@grace')).toEqual([two])
      for (const nobody of ['@nobody-there', 'a-a'.padStart(36, 'a'), '-'.repeat(36), NOBODY])
        expect(await find(`narrow from:${nobody}`)).toEqual([])
      expect(await find(`narrow from:${grace.id.toUpperCase()}`)).toEqual([])
      expect(await find({ thread: first })).toEqual([two, one])
      expect(await inside({ before: message.created_at })).toEqual([one])
      expect(await inside({ after: message.created_at })).toEqual([three, two])
      expect(await inside({ before: '2020-01-01' })).toEqual([])
      const day = message.created_at.slice(0, 10)
      expect(await inside({ on: day })).toEqual([three, two, one])
      expect(await inside({ q: `on:${day}`, on: day })).toEqual([three, two, one])
      expect(await inside({ on: '2020-01-01' })).toEqual([])
      expect(await inside({ q: `on:2020-01-01 on:${day}` })).toEqual([])
      expect(await inside({ after: '2020-01-01', q: '-third' })).toEqual([two, one])
      expect(await inside({ has: 'link' })).toEqual([three])
      expect(await inside({ has: 'mention' })).toEqual([two])
      expect(await inside({ has: 'file' })).toEqual([])
    }
    await check()
    await moved()
    await check()
    await ada.pins.add(first)
    await ada.reactions.add(message.id, '👍')
    expect(await inside({ has: 'pin' })).toEqual([one])
    expect(await inside({ has: 'reaction' })).toEqual([two])
    expect(await find({ q: 'has:reaction narrow' })).toEqual([two])
  })

  it('returns the message, its conversation, and an excerpt with the places', async () => {
    const text = `${'before '.repeat(60)}Needle ${'behind '.repeat(60)}`
    const message_id = await post(text)
    const { results } = await ada.search.messages({ q: 'needle' })
    expect(results).toMatchObject([
      {
        message: { id: message_id, content: text },
        conversation: { id, title: 'Engines' },
        excerpts: [{ field: 'content' }],
      },
    ])
    const [{ text: shown, ranges }] = results[0]!.excerpts as unknown as [{ text: string; ranges: number[][] }]
    expect(shown.length).toBeLessThanOrEqual(200)
    expect(ranges.map(([start, end]) => shown.slice(start, end))).toEqual(['Needle'])
  })

  it('finds the question and the text of an answer', async () => {
    const message_id = (await ada.messages.postRoot(id, { content: 'pangolin question', role: 'assistant' })).message_id
    await moved()
    const { results } = await ada.search.messages({ q: 'pangolin' })
    expect(results.map(({ message }) => message.id)).toEqual([message_id])
    expect(results[0]!.excerpts.map(({ field }) => field).sort()).toEqual(['content', 'prompt'])
  })

  it('pages without a gap or a repetition', async () => {
    for (const n of times(25, (n) => n)) await post(`paged ${n}`)
    await moved()
    for (const n of times(5, (n) => 25 + n)) await post(`paged ${n}`)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await ada.search.messages({ q: 'paged', limit: 7, ...(cursor && { cursor }) })
      found.push(...page.results.map(({ message }) => message.content))
      cursor = page.next_cursor
    } while (cursor)
    expect(found).toEqual(times(30, (n) => `paged ${29 - n}`))
    const { next_cursor } = await ada.search.messages({ q: 'paged', limit: 7 })
    expect(await codeOf(ada.search.messages({ q: 'other', cursor: next_cursor! }))).toBe('invalid_cursor')
    expect(await codeOf(ada.search.messages({ q: 'paged', cursor: 'x' }))).toBe('invalid_cursor')
  })

  it('takes the username or the display name of authors, of several users all', async () => {
    const { conversation_id } = await ada.conversations.create({ title: 'Names' })
    const names = { first: 'Émilie du Châtelet', second: 'émilie du CHÂTELET', third: "Émilie's friend" }
    const people = await Promise.all(Object.keys(names).map((name) => service.signIn(name)))
    for (const [n, [username, display_name]] of Object.entries(names).entries()) {
      const person = people[n]!
      await ada.participants.add(conversation_id, { user_id: person.id })
      await person.auth.changeProfile({ display_name })
      await post(`a letter of the ${username}`, person, conversation_id)
    }
    const [first, second, third] = Object.keys(names).map((name) => `a letter of the ${name}`)
    const inside = (query: Partial<SearchQuery>) => find({ in: conversation_id, ...query })
    const check = async () => {
      expect(await inside({ q: 'from:"émilie DU châtelet"' })).toEqual([first])
      expect(await inside({ from: 'Émilie du Châtelet' })).toEqual([first])
      expect(await inside({ from: 'émilie du CHÂTELET' })).toEqual([second, first])
      expect(await inside({ q: 'letter from:"émilie\'s FRIEND"' })).toEqual([third])
      expect(await inside({ q: 'from:second' })).toEqual([second])
      expect(await inside({ q: 'from:"@Émilie du Châtelet"' })).toEqual([])
      expect(await inside({ q: 'from:"Émilie du Châtelet" from:first' })).toEqual([first])
      expect(await inside({ q: 'from:"Émilie du Châtelet" from:second' })).toEqual([])
    }
    await check()
    await people[1]!.auth.changeProfile({ display_name: 'Émilie Du Châtelet' })
    await people[2]!.auth.changeProfile({ display_name: 'first' })
    expect(await inside({ from: 'émilie du châtelet' })).toEqual([second, first])
    expect(await inside({ from: 'FIRST' })).toEqual([third, first])
    await moved()
    expect(await inside({ from: 'ÉMILIE DU CHÂTELET' })).toEqual([second, first])
    expect(await inside({ q: 'letter', from: 'first' })).toEqual([third, first])
    const { db } = innerState(service)
    const explain = db.dialect === 'sqlite' ? sql`EXPLAIN QUERY PLAN` : sql`EXPLAIN`
    const key = db.dialect === 'sqlite' ? sql`lower(display_name)` : sql`lower(display_name COLLATE "C")`
    const plan = await db.snapshot(async (tx) => {
      if (db.dialect === 'postgresql') await tx.run(sql`SET LOCAL enable_seqscan = off`)
      return tx.all(sql`${explain} SELECT id FROM users WHERE ${key} ${among(db, ['a'])} ORDER BY id LIMIT 9`)
    })
    expect(JSON.stringify(plan)).toContain('users_by_display_name')
  })

  it('searches for the first words of a pasted text, and names the filters that it does not have', async () => {
    const sentence = times(40, (n) => `pasted${String.fromCharCode(97 + (n % 26)).repeat(1 + n / 26)}`).join(' ')
    await post(`${sentence}, and so on`)
    const { results, ...rest } = await ada.search.messages({ q: sentence })
    expect([results.length, rest]).toEqual([1, {}])
    const other = await ada.search.messages({ q: `pasteda topic:pastedb http://pastedc` })
    expect(other.unknown_filters).toEqual(['topic'])
    expect((await ada.search.messages({ q: 'pasteda Label:pastedb', limit: 1 })).unknown_filters).toEqual(['label'])
  })

  it.each([
    [{}, 'q'],
    [{ q: '-a' }, 'q'],
    [{ q: '… "" -- *' }, 'q'],
    [{ q: 'ab*' }, 'q'],
    [{ q: 'x'.repeat(501) }, 'q'],
    [{ q: 'a', before: 'yesterday' }, 'before'],
    [{ q: 'a after:2026-02-30' }, 'after'],
    [{ q: 'a on:yesterday' }, 'on'],
    [{ q: 'a', on: '2026-02-30' }, 'on'],
    [{ q: 'a', on: '2026-02-03T00:00:00Z' }, 'on'],
    [{ q: 'a', has: 'legs' }, 'has'],
    [{ before: '2026-01-01' }, 'q'],
  ])('refuses %j', async (query, path) => {
    await expect(ada.search.messages(query as { q: string })).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ path }],
    })
  })
})

describeOnEachDatabase('a search among many messages of others', (openUrl) => {
  it('finds all own ones behind them, in many conversations, by words and by phrases, also in long texts', async () => {
    const config = { search: { per_user_per_min: 1000, budget_ms: 5000 } }
    const service = await startService(await openUrl(), { config })
    onTestFinished(service.close)
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const create = async (by: typeof ada) => (await by.conversations.create({})).conversation_id
    const own = await Promise.all(times(12, () => create(ada)))
    const texts = own.map((_, n) => `${n % 3 === 0 ? 'long '.repeat(2_100) : ''}shared needle ${n}`)
    for (const [n, content] of texts.entries()) await ada.messages.postRoot(own[n]!, { content })
    for (const id of own) await ada.messages.postRoot(id, { content: 'needle shared' })
    const others = await create(grace)
    const { message_id } = await grace.messages.postRoot(others, { content: 'shared needle' })
    await Promise.all(times(220, () => grace.messages.reply(message_id, { content: 'shared needle' })))
    const { search } = innerState(service)
    for (const isMoved of [false, true]) {
      if (isMoved) await search.move()
      const find = async (q: string) =>
        (await ada.search.messages({ q, limit: 50 })).results.map(({ message }) => message.content)
      expect(await find('needle')).toHaveLength(24)
      expect(await find('"shared needle"')).toEqual(texts.toReversed())
      expect(await find('"shared needle" -long')).toHaveLength(8)
    }
  })
})

describe('a page of results', () => {
  it('is full with more text than fits, and the next one begins behind what it shows', () => {
    const page = createPage({} as Actor, 20)
    const message = { content: 'x'.repeat(MAX_PAGE_BYTES / 2) } as Message
    for (const doc of [9, 8, 7]) {
      expect(page.isFull()).toBe(false)
      page.add({ message, conversation: { id: '', title: '' }, excerpts: [], doc })
    }
    expect(page.isFull()).toBe(true)
    const { results, next } = page.end()
    expect([results.length, next]).toEqual([1, 9])
  })
})

describeOnEachDatabase('the search index', (openUrl) => {
  it('keeps a change that is noted again while another process moves the one before', async () => {
    const service = await startService(await openUrl())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { db, search } = innerState(service)
    await search.close()
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'noted twice' })
    const read = await db.write((tx) => listChanges(tx, 10))
    await db.write((tx) => takeChanges(tx, read))
    await db.write((tx) => noteChanged(tx, [message_id]))
    expect(await db.write((tx) => takeChanges(tx, read))).toEqual(new Set())
    await service.close()
  })

  it('reads long texts beside short ones, up to so many bytes', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { db } = innerState(service)
    const texts = ['short', 'long '.repeat(200), 'behind', 'longest '.repeat(200)]
    for (const content of texts) await ada.messages.postRoot(conversation_id, { content })
    const docs = (await db.all<{ doc: number }>(sql`SELECT doc FROM messages ORDER BY doc`)).map(({ doc }) => doc)
    const read = async (bytes: number) => (await listTexts(db, docs, bytes)).map(({ content }) => content)
    expect(await read(1100)).toEqual(texts.slice(0, 3))
    expect(await read(1)).toEqual(texts.slice(0, 1))
    expect(await read(Number.MAX_SAFE_INTEGER)).toEqual(texts)
  })

  it('takes what does not fill a batch behind others without a further change', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { db, search } = innerState(service)
    const ids = await Promise.all(
      times(260, async (n) => (await ada.messages.postRoot(conversation_id, { content: `of many ${n}` })).message_id),
    )
    await search.move()
    await db.write((tx) => noteChanged(tx, ids))
    search.wake(ids.length)
    await expect.poll(async () => (await service.chat.search.status(OPERATOR)).waiting).toBe(0)
  })

  it('ends a search when the time is over, also among the texts of one step', async () => {
    const service = await startService(await openUrl())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    for (const n of times(5, (n) => n)) await ada.messages.postRoot(conversation_id, { content: `right wrong ${n}` })
    const context = innerState(service)
    await context.search.move()
    const { oldest, newest } = await findEnds(context.db)
    const { all, none } = parseQuery('wrong -right')
    const narrowed = { conversations: [], authors: [], threads: [], before: Number.MAX_SAFE_INTEGER, after: 0 }
    const hunt = {
      wanted: { all: all.flatMap(indexTerms), groups: [], own: [] },
      all,
      none,
      needs_link: false,
      oldest,
      newest,
      filters: { ...narrowed, is_pinned: false, has_file: false, has_reaction: false, has_mention: false },
    }
    const nothing = { all: [], groups: [], own: [] }
    const part = { before: newest, limit: 10, span: 1024, isFirst: false, expected: 0 }
    expect((await findEntries(context.db, nothing, part)).docs).toEqual(times(4, (n) => newest - 1 - n))
    const page = createPage(await service.chat.users.actor(ada.id), 20)
    const lows: number[] = []
    for (let low = newest + 1, isOver = true; isOver; lows.push(low))
      ({ low, isOver } = await scan(context, hunt, page, low, performance.now()))
    expect(lows.slice(0, -1)).toEqual(times(4, (n) => newest - n))
    await service.close()
  })

  it('is filled with what is there when search is turned on, newest first', async () => {
    const url = await openUrl()
    const off = await startService(url, { config: { search: { enabled: false } } })
    const ada = await off.signIn('ada')
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    for (const n of times(12, (n) => n)) await ada.messages.postRoot(conversation_id, { content: `older ${n}` })
    expect(await codeOf(ada.search.messages({ q: 'older' }))).toBe('not_found')
    await off.close()
    const on = await startService(url)
    await on.idle()
    const again = await on.signIn('ada')
    const { results, incomplete } = await again.search.messages({ q: 'older' })
    expect(results.map(({ message }) => message.content)).toEqual(times(12, (n) => `older ${11 - n}`))
    expect(incomplete).toBeUndefined()
    await on.close()
  })

  it('is built anew beside posts and edits, from scratch or in place, without what is deleted', async () => {
    const service = await startService(await openUrl(), { config: { search: { per_user_per_min: 1000 } } })
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const ids = await Promise.all(
      times(30, async (n) => (await ada.messages.postRoot(conversation_id, { content: `rebuilt ${n}` })).message_id),
    )
    await ada.messages.remove(ids[0]!)
    await idle(service)
    const { db } = innerState(service)
    await ada.messages.edit(ids[2]!, { content: 'long '.repeat(1500) })
    for (const from_scratch of [true, false]) {
      // What the index lost by an error is there again.
      await db.write((tx) => clearIndex(tx))
      await service.chat.search.rebuild(OPERATOR, { from_scratch })
      await Promise.all([
        service.idle(),
        ada.messages.edit(ids[1]!, { content: `edited ${from_scratch}` }),
        ada.messages.postRoot(conversation_id, { content: `rebuilt meanwhile ${from_scratch}` }),
      ])
      await idle(service)
      const { results, incomplete } = await ada.search.messages({ q: 'rebuilt', limit: 50 })
      expect([results.length, incomplete]).toEqual([from_scratch ? 28 : 29, undefined])
      expect((await ada.search.messages({ q: `edited ${from_scratch}` })).results).toHaveLength(1)
      expect((await ada.search.messages({ q: 'long' })).results).toHaveLength(1)
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    }
    await service.close()
  })

  it('leaves a message that the database refuses to the mover when it is filled', async ({ skip }) => {
    const url = await openUrl()
    if (!url.startsWith('postgres')) return skip()
    const service = await startService(url)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    for (const n of times(5, (n) => n)) await ada.messages.postRoot(conversation_id, { content: `good ${n}` })
    const { db } = innerState(service)
    const { doc } = (await db.get<{ doc: number }>(sql`SELECT max(doc) AS doc FROM messages`))!
    await idle(service)
    await db.run(sql`TRUNCATE search_docs`)
    await db.run(statement(`ALTER TABLE search_docs ADD CONSTRAINT refusing CHECK (doc <> ${doc - 1})`))
    await service.chat.search.rebuild(OPERATOR)
    await idle(service)
    // The mover of another node may have taken a change after this node had looked, and is then not awaited.
    await expect
      .poll(() => service.chat.search.status(OPERATOR))
      .toMatchObject({ documents: 4, waiting: 1, refused: 1 })
    expect((await ada.search.messages({ q: 'good' })).results).toHaveLength(5)
    await service.close()
  })

  it('is empty while search is off, so that nothing deleted stays in it', async () => {
    const url = await openUrl()
    const on = await startService(url)
    const ada = await on.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'fleeting words' })
    await ada.messages.postRoot(conversation_id, { content: 'lasting words' })
    await on.idle()
    await on.close()
    const warnings: string[] = []
    const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
    const off = await startService(url, { config: { search: { enabled: false } }, ports: { log } })
    // Of each node.
    expect([...new Set(warnings)]).toEqual(['There is no search: search.enabled is false'])
    expect(await off.chat.search.status(OPERATOR)).toMatchObject({ enabled: false, documents: 0, waiting: 0 })
    const actor = await off.chat.users.actor(ada.id)
    await off.chat.messages.remove(actor, message_id)
    await off.close()
    const again = await startService(url)
    await again.idle()
    const { results } = await again.chat.search.messages(actor, { q: 'words' })
    expect(results.map(({ message }) => message.content)).toEqual(['lasting words'])
    expect(await again.chat.search.status(OPERATOR)).toMatchObject({ documents: 1, waiting: 0, filling: false })
    expect((await again.chat.ops.fsck()).findings).toEqual([])
    await again.close()
  })

  it('is made anew on SQLite if it is of a version that had one table for all messages', async ({ skip }) => {
    const url = await openUrl()
    if (!url.startsWith('sqlite:')) return skip()
    const service = await startService(url)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    await ada.messages.postRoot(conversation_id, { content: 'older words' })
    await service.idle()
    const { db } = innerState(service)
    for (const each of await listPartitions(db)) await db.run(statement(`DROP TABLE ${partitionTable(each)}`))
    await db.run(
      sql`CREATE VIRTUAL TABLE search_index USING fts5 (words, content='', contentless_delete=1, detail=none)`,
    )
    await db.run(sql`INSERT INTO search_index (rowid, words) VALUES (1, 'former')`)
    await db.run(sql`UPDATE meta SET value = '2' WHERE name = 'search'`)
    await service.close()
    const again = await startService(url)
    const actor = await again.chat.users.actor(ada.id)
    await again.idle()
    const find = async (q: string) => (await again.chat.search.messages(actor, { q })).results.length
    expect([await find('"older words"'), await find('"words older"')]).toEqual([1, 0])
    expect(await hasTable(innerState(again).db, 'search_index')).toBe(false)
    expect((await again.chat.ops.fsck()).findings).toEqual([])
    await again.close()
  })

  it('forgets a deleted conversation', async () => {
    const service = await startService(await openUrl())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({ title: 'Gone' })
    await ada.messages.postRoot(conversation_id, { content: 'vanishing words' })
    await idle(service)
    await ada.conversations.remove(conversation_id)
    expect((await ada.search.messages({ q: 'vanishing' })).results).toEqual([])
    await idle(service)
    const { db } = innerState(service)
    const left =
      db.dialect === 'sqlite'
        ? await db.all(statement(`SELECT rowid AS doc FROM ${partitionTable(partitionOf(FIRST_DOC))}('vanishing')`))
        : [
            ...(await db.all(
              statement(`SELECT doc FROM search_docs WHERE ${toWordNumber('vanishing')} = ANY (words)`),
            )),
            ...(await db.all(sql`SELECT word FROM search_words WHERE word LIKE 'vanish%'`)),
          ]
    expect(left).toEqual([])
    expect(await db.all(sql`SELECT doc FROM search_changes`)).toEqual([])
    await service.close()
  })

  it('has no byte of an erased word in the files of SQLite', async ({ skip }) => {
    const url = await openUrl()
    if (!url.startsWith('sqlite:')) return skip()
    const service = await startService(url)
    const ada = await service.signIn('ada')
    const [kept, gone] = await Promise.all([ada.conversations.create({}), ada.conversations.create({})])
    for (const n of times(20, (n) => n)) {
      await ada.messages.postRoot(kept.conversation_id, { content: `lasting${n} words` })
      await ada.messages.postRoot(gone.conversation_id, { content: `vanishing${n} words` })
      // Some parts of an index each.
      if (n % 7 === 0) await idle(service)
    }
    const bytes = () => [url, `${url}-wal`].map((each) => readFileSync(each.slice('sqlite:'.length), 'latin1')).join('')
    await idle(service)
    expect(bytes()).toContain('anishing3')
    await ada.conversations.remove(gone.conversation_id)
    // The file is emptied of it later if another node reads meanwhile.
    await innerState(service).tasks.settle()
    expect(bytes()).toContain('asting3')
    expect(bytes()).not.toContain('anishing')
    await service.close()
  })

  it('is no damage after another process has merged its parts', async ({ skip }) => {
    const url = await openUrl()
    if (!url.startsWith('sqlite:')) return skip()
    const service = await startService(url)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    for (const n of times(3, (n) => n)) {
      await ada.messages.postRoot(conversation_id, { content: `part ${n}` })
      await idle(service)
    }
    const other = await openStorage({ database: url, ...placementOf(url) })
    const [partition] = await listPartitions(other.db)
    for (const isFirst of [true, false]) await other.db.write((tx) => mergePartition(tx, partition!, 500, isFirst))
    await other.close()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await service.close()
  })

  it('goes on without a message that the database refuses, until it can be taken', async () => {
    const warnings: string[] = []
    const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
    const service = await startService(await openUrl(), { ports: { log } })
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { db, search } = innerState(service)
    await search.move()
    const post = async (content: string) => (await ada.messages.postRoot(conversation_id, { content })).message_id
    await post('good 1')
    const { doc } = (await db.get<{ doc: number }>(sql`SELECT max(doc) AS doc FROM messages`))!
    const [refuse, accept] =
      db.dialect === 'sqlite'
        ? [
            `CREATE TRIGGER refusing BEFORE DELETE ON search_changes WHEN old.doc = ${doc + 1} BEGIN SELECT RAISE(ABORT, 'refused'); END`,
            'DROP TRIGGER refusing',
          ]
        : [
            `ALTER TABLE search_docs ADD CONSTRAINT refusing CHECK (doc <> ${doc + 1})`,
            'ALTER TABLE search_docs DROP CONSTRAINT refusing',
          ]
    await db.run(statement(refuse))
    const bad = await post('good 2')
    for (const n of [3, 4, 5]) await post(`good ${n}`)
    await search.move()
    expect(await service.chat.search.status(OPERATOR)).toMatchObject({ waiting: 1, refused: 1, documents: 4 })
    expect(warnings.filter((message) => /refuses a message/.test(message))).toHaveLength(1)
    expect((await ada.search.messages({ q: 'good' })).results).toHaveLength(5)
    expect((await service.chat.ops.fsck()).findings.filter(({ name }) => name.startsWith('search'))).toEqual([])
    await db.run(statement(accept))
    await ada.messages.edit(bad, { content: 'good again' })
    await search.move()
    expect(await service.chat.search.status(OPERATOR)).toMatchObject({ waiting: 0, refused: 0, documents: 5 })
    await service.close()
  })

  it('can be searched by a command before any service has started', async () => {
    const url = await openUrl()
    const storage = await openStorage({ database: url, ...placementOf(url) })
    const chat = createChatService(parseConfig({}), storage)
    await chat.start({ background: false })
    const { user } = await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
    const ada = await chat.users.actor(user.id)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'First' })
    await chat.messages.postRoot(ada, conversation_id, { content: 'before any start' })
    const { results, incomplete } = await chat.search.messages(ada, { q: 'start' })
    expect(results.map(({ message }) => message.content)).toEqual(['before any start'])
    // Messages of before are brought into the index by a service.
    expect(incomplete).toBe(true)
    await chat.close()
  })

  it('ends a statement when the time is over, and leaves the connection as it was (postgresql)', async ({ skip }) => {
    const url = await openUrl()
    if (!url.startsWith('postgres')) return skip()
    const service = await startService(url, { config: { search: { budget_ms: 50 } } })
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    await ada.messages.postRoot(conversation_id, { content: 'locked away' })
    const context = innerState(service)
    await context.search.move()
    const timeout = () => context.db.get(sql`SELECT current_setting('statement_timeout') AS of_statements`)
    const before = await timeout()
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query('BEGIN')
    await client.query('LOCK TABLE search_docs IN ACCESS EXCLUSIVE MODE')
    const page = await ada.search.messages({ q: 'locked' })
    expect(page).toMatchObject({ results: [], partial: true, next_cursor: expect.any(String) })
    await client.query('ROLLBACK')
    await client.end()
    for (const _ of times(3, (n) => n)) expect(await timeout()).toEqual(before)
    expect((await ada.search.messages({ q: 'locked', cursor: page.next_cursor! })).results).toHaveLength(1)
    await service.close()
  })

  it('limits the searches of a user', async () => {
    const service = await startService(await openUrl(), { config: { search: { per_user_per_min: 2 } } })
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    const search = () => service.chat.search.messages(ada, { q: 'any' })
    for (const _ of times(2, (n) => n)) await search()
    await expect(search()).rejects.toMatchObject({
      code: 'rate_limited',
      retry_after_seconds: expect.any(Number),
    })
    await service.close()
  })
})
