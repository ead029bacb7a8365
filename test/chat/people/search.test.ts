import { beforeAll, expect, it } from 'vitest'
import { indexNames } from '../../../lib/accounts/users/indexing.ts'
import { hasOutdated } from '../../../lib/accounts/users/store-naming.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'

describeService('people are found', (service) => {
  let ada: Person
  let eve: Person
  const ids = new Map<string, string>()

  async function add(username: string, display_name?: string): Promise<string> {
    const email = `u${ids.size}@people.example`
    const { user } = await ada.users.create({ username, email, ...(display_name && { display_name }) })
    ids.set(username, user.id)
    return user.id
  }
  const found = async (query: string, by = ada) => (await by.users.search({ query })).users.map((user) => user.username)

  beforeAll(async () => {
    ada = await service.signIn('ada')
    eve = await service.signIn('eve')
    await add('grace', 'Grace Hopper')
    await add('lovelace.a', 'Ada Lovelace')
    await add('mhb', 'Márta von Hohenberg')
    await add('wang', '王小明')
  })

  it.each([
    ['lo ad', ['lovelace.a']],
    ['@grace', ['grace']],
    ['HOHEN mar', ['mhb']],
    ['明', ['wang']],
    ['小明', ['wang']],
    ['grace@', ['grace']],
    ['grace@example', []],
    ['velace', []],
    ['%r', []],
    ['%%', []],
  ])('by %j', async (query, usernames) => {
    expect(await found(query)).toEqual(usernames)
  })

  it.each(['', 'g', ' g ', '  ', '@', '@g', '@ g', 'e\u0301'])('not by %j, which is too short', async (query) => {
    expect(await codeOf(ada.users.search({ query }))).toBe('validation_failed')
  })

  it('for a direct conversation only where it would open', async () => {
    const { conversation_id } = await eve.conversations.create({})
    await eve.participants.add(conversation_id, { user_id: ids.get('wang')! })
    const direct = async (query: string, by = eve) =>
      (await by.users.search({ query, for: 'direct' })).users.map((user) => user.username)
    expect(await direct('小明')).toEqual(['wang'])
    expect(await direct('明')).toEqual(['wang'])
    expect(await direct('grace')).toEqual([])
    expect(await direct('eve')).toEqual(['eve'])
    for (const name of ['wang', 'eve']) await eve.conversations.direct({ username: name })
    expect(await codeOf(eve.conversations.direct({ username: 'grace' }))).toBe('forbidden')
    const reader = await service.signIn('reader', ['read_only'])
    expect(await direct('reader', reader)).toEqual([])
  })

  it('with names and state, and without address, roles and subject', async () => {
    const { users } = await eve.users.search({ query: 'hopper' })
    expect(users).toEqual([{ id: ids.get('grace'), username: 'grace', display_name: 'Grace Hopper', kind: 'person' }])
  })

  it('the very username first, then users of shared conversations, then others by username', async () => {
    for (const [username, name] of [
      ['zoe.b', 'Zoe B'],
      ['zoe.c', 'Zoe C'],
      ['zoe', 'Zoe'],
      ['a.zoe', 'Zoe A'],
    ] as const)
      await add(username, name)
    expect(await found('zoe')).toEqual(['zoe', 'a.zoe', 'zoe.b', 'zoe.c'])
    const { conversation } = await ada.conversations.create({ title: 'Zoe' })
    await ada.participants.add(conversation.id, { user_id: ids.get('zoe.c')! })
    expect(await found('zo')).toEqual(['zoe.c', 'a.zoe', 'zoe', 'zoe.b'])
    expect(await found('zoe')).toEqual(['zoe', 'zoe.c', 'a.zoe', 'zoe.b'])
    expect(await found('zoe', eve)).toEqual(['zoe', 'a.zoe', 'zoe.b', 'zoe.c'])
  })

  it('among more than are compared, and each exactly while no more have both words', async () => {
    const { db } = innerState(service.chat)
    await Promise.all(times(700, (n) => insertUser(`many${n}`, `Quirin Quell${n}`)))
    await insertUser('rare.one', 'Zacharias Quell')
    await insertUser('rare.two', 'Quirin Zimt')
    await indexAll()
    expect(await db.get(sql`SELECT count(*) AS count FROM user_words WHERE word = ${'qu'}`)).toEqual({ count: 702 })
    expect((await ada.users.search({ query: 'quirin', limit: 50 })).users).toHaveLength(50)
    expect(await found('quell zacharias')).toEqual(['rare.one'])
    expect(await found('qu zi')).toEqual(['rare.two'])
    expect(await found('quirin quell699')).toEqual(['many699'])
  })

  it('among more than are compared with both beginnings, while no more than 2,000 have the longest word', async () => {
    await Promise.all(times(600, (n) => insertUser(`aa-kalo${n}`, 'Kalomi Sanera')))
    await Promise.all(times(600, (n) => insertUser(`bb-kalo${n}`, 'Kalovo Satezu')))
    await insertUser('zz-kalo', 'Kalovo Sanera')
    await indexAll()
    expect(await found('kalovo sane')).toEqual(['zz-kalo'])
    expect(await found('sane kalovo k')).toEqual(['zz-kalo'])
    expect(await found('kalomi sate')).toEqual([])
  })

  it('by the new names after a rename, and not by the old ones', async () => {
    await add('turing', 'Alan Turing')
    const id = ids.get('turing')!
    await ada.users.change(id, { username: 'mathison', display_name: 'Morris' })
    expect(await found('turing')).toEqual([])
    expect(await found('mor')).toEqual(['mathison'])
    await ada.users.change(id, { disabled: true })
    expect(await found('mor')).toEqual([])
    await ada.users.change(id, { disabled: false })
    expect(await found('mor')).toEqual(['mathison'])
  })

  it('by no word once they are erased', async () => {
    const id = await add('noether', 'Emmy Noether')
    await ada.users.erase(id)
    await service.idle()
    expect(await found('noether')).toEqual([])
    const { db } = innerState(service.chat)
    expect(await db.all(sql`SELECT word FROM user_words WHERE user_id = ${id}`)).toEqual([])
  })

  it('that an older program has added, renamed or disabled, at once and after their words are made', async () => {
    const { db } = innerState(service.chat)
    await insertUser('older', 'Olga Older')
    await db.run(sql`UPDATE users SET display_name = ${'Amazing Hopper'} WHERE id = ${ids.get('grace')!}`)
    await db.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${ids.get('mhb')!}`)
    for (const state of ['outdated', 'made']) {
      expect([state, await found('olga')]).toEqual([state, ['older']])
      expect([state, await found('amaz')]).toEqual([state, ['grace']])
      expect([state, await found('hohen')]).toEqual([state, []])
      await indexAll()
    }
    expect(
      await db.all(sql`SELECT word FROM user_words WHERE user_id = ${ids.get('mhb')!} AND word = ${'-mhb'}`),
    ).toHaveLength(1)
  })

  it('by username while the words of many are being made', async () => {
    const { db } = innerState(service.chat)
    await db.run(sql`UPDATE users SET words_of = NULL WHERE username LIKE 'many%'`)
    expect(await found('many69')).toEqual(expect.arrayContaining(['many69', 'many690', 'many699']))
    await indexAll()
    expect(await db.get(sql`SELECT count(*) AS count FROM users WHERE words_of IS NULL`)).toEqual({ count: 0 })
  })

  async function indexAll(): Promise<void> {
    const ctx = innerState(service.chat)
    while (await hasOutdated(ctx.db)) await indexNames(ctx)
  }

  /** As a program without words stores a user. */
  async function insertUser(username: string, display_name: string): Promise<void> {
    const ctx = innerState(service.chat)
    const id = ctx.id()
    const email = `${id}@older.example`
    await ctx.db.run(sql`INSERT INTO users (id, email, email_key, username, username_key, display_name, roles, created_at, updated_at)
         VALUES (${id}, ${email}, ${email}, ${username}, ${username}, ${display_name}, 'member', 1, 1)`)
  }
})
