import { beforeAll, expect, it } from 'vitest'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, startThread, times } from '../../support/service.ts'

describeService('conversations', (service) => {
  let world: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    world = await startThread(service)
  })

  it('are owned by the user who creates them', async () => {
    const { ada } = world
    const { conversation_id, conversation } = await ada.conversations.create({ title: ' Täglich\u3000' })
    expect(conversation).toMatchObject({
      id: conversation_id,
      title: 'Täglich',
      is_group: true,
      participants: [{ user_id: ada.id, role: 'owner' }],
    })
    expect(await ada.conversations.get(conversation_id)).toMatchObject(conversation)
  })

  it('have titles without outer spaces, invisible characters and those that turn the text around them', async () => {
    const { ada } = world
    const { conversation_id } = await ada.conversations.create({ title: ' \u00A0 ' })
    const titleOf = async () => (await ada.conversations.get(conversation_id)).title
    expect(await titleOf()).toBe('')
    await ada.conversations.rename(conversation_id, { title: '  ❤️ Engines ' })
    expect(await titleOf()).toBe('❤️ Engines')
    for (const title of ['a\u202Eb', 'a\u200Bb', 'a\nb', '\uFEFF', 'a\u200Db']) {
      const refusal = { code: 'validation_failed', errors: [{ path: 'title' }] }
      await expect(ada.conversations.rename(conversation_id, { title })).rejects.toMatchObject(refusal)
      await expect(ada.conversations.create({ title })).rejects.toMatchObject(refusal)
      const actor = await service.chat.users.actor(ada.id)
      await expect(service.chat.conversations.create(actor, { title })).rejects.toMatchObject(refusal)
    }
    expect(await titleOf()).toBe('❤️ Engines')
  })

  it('add users by id, username or email address, in any spelling', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.conversations.create()
    const linus = await service.signIn('linus')
    const add = (body: Parameters<typeof ada.participants.add>[1]) => ada.participants.add(conversation_id, body)
    expect(await add({ user_id: grace.id })).toMatchObject({
      participant: { user_id: grace.id, username: 'grace', role: 'member' },
    })
    expect(await add({ username: 'EVE', role: 'viewer' })).toMatchObject({
      participant: { user_id: eve.id, role: 'viewer' },
    })
    expect(await add({ email: ' Linus@EXAMPLE.org', role: 'admin' })).toMatchObject({
      participant: { user_id: linus.id },
    })
    expect((await ada.conversations.get(conversation_id)).participants.map((each) => each.role)).toEqual([
      'owner',
      'member',
      'viewer',
      'admin',
    ])
    expect(await codeOf(ada.participants.add(conversation_id, { user_id: grace.id }))).toBe('already_participant')
    expect(await codeOf(ada.participants.add(conversation_id, { username: 'nobody' }))).toBe('not_found')
  })

  it('add a user once, however many calls arrive at once', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.conversations.create()
    const call = () =>
      ada.participants.add(conversation_id, { user_id: grace.id }).then(
        () => 'added',
        (error) => error.code,
      )
    const answers = await Promise.all(times(10, call))
    expect(answers.sort()).toEqual(['added', ...Array(9).fill('already_participant')])
  })

  it('let owners manage all participants, admins those below owner, and other roles none', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.conversations.create()
    const linus = await service.signIn('linus')
    await ada.participants.add(conversation_id, { user_id: grace.id, role: 'admin' })
    expect(await codeOf(grace.participants.add(conversation_id, { user_id: eve.id, role: 'owner' }))).toBe('forbidden')
    await grace.participants.add(conversation_id, { user_id: eve.id, role: 'member' })
    expect(await codeOf(eve.participants.add(conversation_id, { user_id: linus.id }))).toBe('forbidden')
    expect(await codeOf(eve.participants.remove(conversation_id, grace.id))).toBe('forbidden')
    expect(await codeOf(grace.participants.remove(conversation_id, ada.id))).toBe('forbidden')
    await grace.participants.remove(conversation_id, eve.id)
    expect(await codeOf(eve.conversations.get(conversation_id))).toBe('not_found')
    expect(await codeOf(ada.participants.remove(conversation_id, eve.id))).toBe('not_found')
  })

  it('let every participant leave but the last owner', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    expect(await codeOf(ada.participants.remove(conversation_id, ada.id))).toBe('last_owner')
    await grace.participants.remove(conversation_id, grace.id)
    await ada.participants.add(conversation_id, { user_id: grace.id, role: 'owner' })
    const leave = (person: typeof ada) =>
      person.participants.remove(conversation_id, person.id).then(
        () => 'left',
        (error) => error.code,
      )
    expect((await Promise.all([leave(ada), leave(grace)])).sort()).toEqual(['last_owner', 'left'])
  })

  it('of two have at most two participants', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.conversations.create({ is_group: false })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    expect(await codeOf(ada.participants.add(conversation_id, { user_id: eve.id }))).toBe('conflict')
    expect((await ada.conversations.get(conversation_id)).participants).toHaveLength(2)
  })

  it('let a read-only user read, and change nothing', async () => {
    const { ada, root, conversation_id } = world
    const rita = await service.signIn('rita', ['read_only'])
    await ada.participants.add(conversation_id, { user_id: rita.id, role: 'owner' })
    expect((await rita.threads.tree(root.root_id)).messages).toHaveLength(1)
    expect(await codeOf(rita.conversations.create())).toBe('forbidden')
    expect(await codeOf(rita.messages.postRoot(conversation_id, { content: 'x' }))).toBe('forbidden')
    expect(await codeOf(rita.participants.remove(conversation_id, ada.id))).toBe('forbidden')
  })

  it('accept no post of a removed participant', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const posts = times(20, (i) =>
      grace.messages.postRoot(conversation_id, { content: `${i}` }).then(
        ({ message }) => message.id,
        () => undefined,
      ),
    )
    await ada.participants.remove(conversation_id, grace.id)
    const ids = (await Promise.all(posts)).filter((id) => id !== undefined)
    const { threads } = await ada.threads.list(conversation_id, { limit: 200 })
    expect(new Set(threads.map((thread) => thread.root_id))).toEqual(new Set(ids))
    const log = await innerState(service).db.all<{ type: string }>(
      sql`SELECT type FROM events WHERE conversation_id = ${conversation_id} ORDER BY seq`,
    )
    expect(log.at(-1)!.type).toBe('membership.changed')
  })

  it('show which participants are online', async () => {
    const { ada, grace, conversation_id } = world
    const presenceOf = async (id: string) =>
      (await ada.conversations.get(conversation_id)).participants.find((each) => each.user_id === id)!.presence
    expect(await presenceOf(grace.id)).toEqual({ status: 'offline' })
    await grace.presence.sendHeartbeat({ status: 'away' })
    // Another process hears of it a moment later.
    await expect.poll(() => presenceOf(grace.id)).toMatchObject({ status: 'away', last_seen_at: expect.any(String) })
  })

  it('are listed by their latest activity, in pages, with unread counts', async () => {
    const mia = await service.signIn('mia')
    const { ada } = world
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      const { conversation_id } = await ada.conversations.create({ title: `No. ${i}` })
      await ada.participants.add(conversation_id, { user_id: mia.id })
      ids.unshift(conversation_id)
    }
    await ada.messages.postRoot(ids[4]!, { content: 'wake up' })
    const { conversations } = await mia.conversations.list()
    expect(conversations.map((each) => each.id)).toEqual([ids[4], ...ids.slice(0, 4)])
    expect(conversations[0]).toMatchObject({ title: 'No. 0', role: 'member', participant_count: 2, unread: 1 })
    expect(conversations[1]!.unread).toBe(0)

    const paged: string[] = []
    let after: string | undefined
    do {
      const page = await mia.conversations.list({ limit: 2, ...(after && { after }) })
      paged.push(...page.conversations.map((each) => each.id))
      after = page.next_after
    } while (after)
    expect(paged).toEqual(conversations.map((each) => each.id))
    for (const after of ['', 'x', '1_2', `${'9'.repeat(30)}_${ids[0]}`]) {
      expect(await codeOf(mia.conversations.list({ after })), after).toBe('invalid_cursor')
    }
  })

  it('are renamed and deleted by their owner, with all their data', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.conversations.create({ title: 'before' })
    await ada.participants.add(conversation_id, { user_id: grace.id, role: 'admin' })
    const root = await grace.messages.postRoot(conversation_id, { content: 'gone soon' })
    await grace.messages.edit(root.message_id, { content: 'gone sooner' })
    expect(await codeOf(grace.conversations.rename(conversation_id, { title: 'mine' }))).toBe('forbidden')
    expect(await codeOf(grace.conversations.remove(conversation_id))).toBe('forbidden')
    expect(await ada.conversations.rename(conversation_id, { title: 'after' })).toMatchObject({ title: 'after' })

    await ada.conversations.remove(conversation_id)
    for (const call of [
      () => ada.conversations.get(conversation_id),
      () => ada.threads.tree(root.root_id),
      () => grace.messages.get(root.message_id),
      () => ada.conversations.remove(conversation_id),
    ]) {
      expect(await codeOf(call())).toBe('not_found')
    }
    await innerState(service).tasks.settle()
    for (const table of ['messages', 'threads', 'events', 'participants', 'message_revisions', 'thread_members']) {
      const column =
        table === 'message_revisions' ? 'message_id' : table === 'thread_members' ? 'root_id' : 'conversation_id'
      const value = table === 'message_revisions' || table === 'thread_members' ? root.root_id : conversation_id
      const rows = await innerState(service).db.all(
        statement(`SELECT 1 AS one FROM ${table} WHERE ${column} = ?`, [value]),
      )
      expect(rows, table).toEqual([])
    }
  })

  it('change roles by the same rights, and always keep an owner', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.conversations.create()
    const change = (by: typeof ada, user_id: string, role: 'owner' | 'admin' | 'member' | 'viewer') =>
      by.participants.changeRole(conversation_id, user_id, { role })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await ada.participants.add(conversation_id, { user_id: eve.id })
    expect(await codeOf(change(grace, eve.id, 'viewer'))).toBe('forbidden')
    expect(await change(ada, grace.id, 'admin')).toMatchObject({ participant: { user_id: grace.id, role: 'admin' } })
    await change(grace, eve.id, 'viewer')
    expect(await codeOf(eve.messages.postRoot(conversation_id, { content: 'x' }))).toBe('forbidden')
    expect(await codeOf(change(grace, eve.id, 'owner'))).toBe('forbidden')
    expect(await codeOf(change(grace, ada.id, 'member'))).toBe('forbidden')
    expect(await codeOf(change(ada, ada.id, 'member'))).toBe('last_owner')
    await change(ada, grace.id, 'owner')
    const step = (by: typeof ada) =>
      change(by, by.id, 'member').then(
        () => 'stepped down',
        (error) => error.code,
      )
    expect((await Promise.all([step(ada), step(grace)])).sort()).toEqual(['last_owner', 'stepped down'])
  })

  it('find users by the beginning of their names, and return public fields only', async () => {
    const { ada, grace } = world
    expect((await ada.users.search({ query: 'GRA' })).users).toEqual([
      { id: grace.id, username: 'grace', kind: 'person' },
    ])
    expect((await ada.users.search({ query: '%r' })).users).toEqual([])
    expect((await ada.users.search({ query: 'grace@example' })).users).toEqual([])
    for (const query of ['', 'g', ' g ', '  '])
      expect(await codeOf(ada.users.search({ query }))).toBe('validation_failed')
  })
})
