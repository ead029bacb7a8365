import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('read receipts', (openUrl) => {
  let url: string
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url)
  })
  let ada: Person
  let grace: Person
  let alan: Person
  let id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    alan = await service.signIn('alan')
    id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    for (const { id: user_id } of [grace, alan]) await ada.participants.add(id, { user_id, role: 'viewer' })
    await ada.conversations.rename(id, { policy: { receipts: 'on' } })
  })

  const readersOf = async (message_id: string, by = ada) =>
    (await by.receipts.ofMessage(message_id, {})).readers.map(({ user_id }) => user_id)

  it('are the participants whose marker is at the message or later, without its author', async () => {
    const { message } = await ada.messages.postRoot(id, { content: 'first' })
    const { root_id } = message
    const { message: second } = await ada.messages.reply(message.id, { content: 'second' })
    expect(await ada.receipts.ofMessage(message.id, {})).toEqual({ readers: [], count: 0 })
    await ada.threads.markRead(root_id, {})
    await grace.threads.markRead(root_id, {})
    await alan.threads.markRead(root_id, { message_id: message.id })
    expect((await readersOf(message.id)).sort()).toEqual([grace.id, alan.id].sort())
    expect(await ada.receipts.ofMessage(second.id, {})).toEqual({
      readers: [{ user_id: grace.id, read_at: second.created_at }],
      count: 1,
    })
    expect((await grace.receipts.ofThread(root_id)).readers).toEqual([
      ...[ada, grace]
        .map((person) => ({ user_id: person.id, read_at: second.created_at }))
        .sort((a, b) => (a.user_id < b.user_id ? -1 : 1)),
      { user_id: alan.id, read_at: message.created_at },
    ])
    const first = await ada.receipts.ofMessage(message.id, { limit: 1 })
    expect(first).toMatchObject({ count: 2, readers: [{}] })
    const rest = await ada.receipts.ofMessage(message.id, { limit: 1, after: first.next_after! })
    expect([...first.readers, ...rest.readers].map(({ user_id }) => user_id).sort()).toEqual([grace.id, alan.id].sort())
    expect(rest).not.toHaveProperty('next_after')
    await ada.messages.remove(second.id)
    expect(await codeOf(ada.receipts.ofMessage(second.id, {}))).toBe('message_deleted')
  })

  it('can be turned off by a reader, who then sees none of others either', async () => {
    const { message_id, root_id } = await ada.messages.postRoot(id, { content: 'again' })
    for (const person of [grace, alan]) await person.threads.markRead(root_id, {})
    await grace.conversations.setSettings(id, { receipts: false })
    expect(await ada.receipts.ofMessage(message_id, {})).toMatchObject({ readers: [{ user_id: alan.id }], count: 1 })
    expect((await alan.receipts.ofThread(root_id)).readers.map(({ user_id }) => user_id)).toEqual([alan.id])
    expect(await codeOf(grace.receipts.ofMessage(message_id, {}))).toBe('forbidden')
    expect(await codeOf(grace.receipts.ofThread(root_id))).toBe('forbidden')
    await grace.conversations.setSettings(id, { receipts: true })
    expect(await readersOf(message_id, grace)).toHaveLength(2)
  })

  it('can be turned off for all conversations, also by a person of the host and one who may only read', async () => {
    const { message_id, root_id } = await ada.messages.postRoot(id, { content: 'everywhere' })
    for (const person of [grace, alan]) await person.threads.markRead(root_id, {})
    expect((await grace.auth.me()).receipts).toBe(true)
    expect(await grace.auth.changeProfile({ receipts: false })).toMatchObject({ receipts: false })
    expect((await grace.auth.me()).receipts).toBe(false)
    expect(await readersOf(message_id)).toEqual([alan.id])
    expect((await ada.receipts.ofThread(root_id)).readers.map(({ user_id }) => user_id)).toEqual([alan.id])
    expect(await codeOf(grace.receipts.ofMessage(message_id, {}))).toBe('forbidden')
    expect(await codeOf(grace.receipts.ofThread(root_id))).toBe('forbidden')
    // The own setting of the conversation is a different one.
    expect((await grace.conversations.settings(id)).receipts).toBe(true)
    await service.chat.users.change(OPERATOR, grace.id, { roles: ['read_only'] })
    const host = await service.chat.users.actor(grace.id)
    expect(await codeOf(service.chat.auth.changeProfile(host, { receipts: true, display_name: 'G' }))).toBe('forbidden')
    expect(await service.chat.auth.changeProfile(host, { receipts: true })).toMatchObject({ receipts: true })
    await service.chat.users.change(OPERATOR, grace.id, { roles: ['member'] })
    expect((await readersOf(message_id, grace)).sort()).toEqual([grace.id, alan.id].sort())
    const [entry] = (await service.chat.audit.list(OPERATOR, { act: 'profile.changed' })).entries
    expect(entry).toBeUndefined()
  })

  it('are off in conversations by default, and on in direct ones', async () => {
    const group = (await ada.conversations.create({ title: 'Quiet' })).conversation_id
    const quiet = await ada.messages.postRoot(group, { content: 'Hi' })
    expect(await codeOf(ada.receipts.ofMessage(quiet.message_id, {}))).toBe('forbidden')
    const { conversation_id } = await ada.conversations.direct({ user_id: grace.id })
    const { message_id, root_id } = await ada.messages.postRoot(conversation_id, { content: 'Hi' })
    await grace.threads.markRead(root_id, {})
    expect(await readersOf(message_id)).toEqual([grace.id])
    expect(await codeOf(alan.receipts.ofMessage(message_id, {}))).toBe('not_found')
    const off = await startService(url, { config: { receipts: { enabled: false } } })
    const actor = await off.chat.users.actor(ada.id)
    expect(await codeOf(off.chat.receipts.ofMessage(actor, message_id, {}))).toBe('not_found')
    await off.close()
  })

  it('store one marker for a reader and a thread, however many messages are read', async () => {
    const { message_id, root_id } = await ada.messages.postRoot(id, { content: 'many' })
    const replies: string[] = []
    for (const content of times(10, (n) => `${n}`))
      replies.push((await ada.messages.reply(message_id, { content })).message_id)
    for (const person of [grace, alan]) await person.threads.markRead(root_id, { message_id })
    const before = await countRows()
    for (const reply of replies)
      for (const person of [grace, alan]) await person.threads.markRead(root_id, { message_id: reply })
    await innerState(service).streams.receipts.flush()
    expect(await countRows()).toEqual(before)
    for (const reply of replies) expect(await readersOf(reply)).toHaveLength(2)
  })

  /** The number of rows of each table, but those in which the processes tell each other what is new, or index it meanwhile. */
  async function countRows(): Promise<Map<string, number>> {
    const { db } = innerState(service)
    const tables = await db.all<{ name: string }>(
      statement(
        db.dialect === 'sqlite'
          ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
          : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
      ),
    )
    const counts = new Map<string, number>()
    for (const { name } of tables)
      counts.set(
        name,
        Number((await db.get<{ count: number }>(statement(`SELECT count(*) AS count FROM ${name}`)))!.count),
      )
    for (const name of counts.keys())
      if (['nodes', 'signals'].includes(name) || name.startsWith('search_')) counts.delete(name)
    return counts
  }

  it('do not count the marker of a participant from before they were removed', async () => {
    const { message_id, root_id } = await ada.messages.postRoot(id, { content: 'gone' })
    await grace.threads.markRead(root_id, {})
    await ada.participants.remove(id, grace.id)
    expect(await readersOf(message_id)).toEqual([])
    await ada.participants.add(id, { user_id: grace.id })
    expect(await readersOf(message_id)).toEqual([])
  })

  it('name a newcomer only by what came since, unless they marked the thread itself', async () => {
    const { message_id: old, root_id } = await ada.messages.postRoot(id, { content: 'before' })
    const quiet = await ada.messages.postRoot(id, { content: 'before, without replies' })
    const late = await service.signIn('late')
    await ada.participants.add(id, { user_id: late.id })
    await late.conversations.markRead(id, { all: true })
    expect(await readersOf(old)).not.toContain(late.id)
    const markerOf = async (thread: string) =>
      (await ada.receipts.ofThread(thread)).readers.find(({ user_id }) => user_id === late.id)?.read_at
    for (const thread of [root_id, quiet.root_id]) expect(await markerOf(thread)).toBeUndefined()
    const { message: reply } = await ada.messages.reply(old, { content: 'since' })
    const { message: root } = await ada.messages.postRoot(id, { content: 'a thread since' })
    await late.conversations.markRead(id, { all: true })
    for (const { id: message } of [reply, root]) expect(await readersOf(message)).toContain(late.id)
    for (const message of [old, quiet.message_id]) expect(await readersOf(message)).not.toContain(late.id)
    expect(await markerOf(root_id)).toBe(reply.created_at)
    expect(await markerOf(quiet.root_id)).toBeUndefined()
    await ada.messages.reply(old, { content: 'unread' })
    expect(await markerOf(root_id)).toBe(reply.created_at)
    await late.threads.markRead(root_id, {})
    expect(await readersOf(old)).toContain(late.id)
  })
})
