import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../lib/index.ts'
import type { SharedChat } from '../lib/service.ts'
import { fileOf } from './storage/handles.ts'
import { describeOnEachDatabase } from './support/databases.ts'
import { codeOf, startService } from './support/service.ts'
import { openStream } from './support/stream.ts'

describeOnEachDatabase('withTransaction', (openUrl, dialect) => {
  /** A service, a second node, and transactions of a host that are committed or rolled back. */
  async function start() {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(() => service.close())
    const node = await startService(url)
    onTestFinished(() => node.close())
    const sqlite = dialect === 'sqlite' ? new Sqlite(fileOf(url)) : undefined
    const client = sqlite ? undefined : new pg.Client(url)
    await client?.connect()
    onTestFinished(async () => {
      sqlite?.close()
      await client?.end()
    })
    const inTransaction = async (work: (chat: SharedChat) => Promise<unknown>, outcome: 'COMMIT' | 'ROLLBACK') => {
      if (sqlite) {
        const run = service.chat.withTransaction(sqlite, async (chat) => {
          await work(chat)
          if (outcome === 'ROLLBACK') throw new Error('rolled back')
        })
        await run.catch((error: Error) => expect(error.message).toBe('rolled back'))
        return
      }
      await client!.query('BEGIN')
      await service.chat.withTransaction(client!, work)
      await client!.query(outcome)
      await service.chat.flush()
    }
    return { service, node, inTransaction }
  }

  it('joins and leaves a room with the commit, and leaves nothing after a rollback', async () => {
    const { service, node, inTransaction } = await start()
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const { conversation_id } = await ada.conversations.create({ visibility: 'listed', policy: { join: 'anyone' } })
    const actor = await service.chat.users.actor(grace.id)
    const { key } = await ada.keys.create({ name: 'own' })
    const stream = await openStream(node.base_url, conversation_id, { authorization: `Bearer ${key}` })
    await stream.until('stream.ready')
    const join = (chat: SharedChat) => chat.conversations.join(actor, conversation_id)
    const leave = (chat: SharedChat) => chat.conversations.leave(actor, conversation_id)
    const participates = async () =>
      (await ada.participants.list(conversation_id, {})).participants.some(({ user_id }) => user_id === grace.id)

    await inTransaction(join, 'ROLLBACK')
    expect(await participates()).toBe(false)
    await inTransaction(join, 'COMMIT')
    expect(await participates()).toBe(true)
    await inTransaction(leave, 'ROLLBACK')
    expect(await participates()).toBe(true)
    await inTransaction(leave, 'COMMIT')
    expect(await participates()).toBe(false)
    const { event: added } = (await stream.until('membership.changed')).at(-1)!
    const { event: removed } = (await stream.until('membership.changed')).at(-1)!
    expect([added, removed]).toMatchObject([
      { payload: { user_id: grace.id, action: 'added' } },
      { payload: { user_id: grace.id, action: 'removed' } },
    ])
    await stream.close()
  })

  it('merges two users with the commit, and leaves both after a rollback', async () => {
    const { service, node, inTransaction } = await start()
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { chat } = service
    for (const subject of ['visitor', '42']) await chat.users.ensure(OPERATOR, { subject })
    const visitor = await chat.users.actorOf('visitor')
    const { user_id } = await chat.users.actorOf('42')
    await ada.participants.add(conversation_id, { user_id: visitor.user_id })
    const { message_id } = await chat.messages.postRoot(visitor, conversation_id, { content: 'mine' })
    const { key } = await ada.keys.create({ name: 'own' })
    const stream = await openStream(node.base_url, conversation_id, { authorization: `Bearer ${key}` })
    await stream.until('stream.ready')
    const merge = (shared: SharedChat) =>
      shared.users.merge(OPERATOR, { from: { subject: 'visitor' }, into: { subject: '42' } })
    const authorOf = async () => (await ada.messages.get(message_id)).author_user_id

    await inTransaction(merge, 'ROLLBACK')
    expect(await authorOf()).toBe(visitor.user_id)
    expect((await chat.users.actorOf('visitor')).user_id).toBe(visitor.user_id)
    await inTransaction(merge, 'COMMIT')
    expect(await authorOf()).toBe(user_id)
    expect(await codeOf(chat.users.actor(visitor.user_id))).toBe('not_found')
    const seen = await stream.until('user.merged')
    expect(seen.at(-1)!.event.payload).toMatchObject({ from_user_id: visitor.user_id, user: { id: user_id } })
    expect(seen.filter(({ event }) => event.type === 'user.merged')).toHaveLength(1)
    await stream.close()
  })
})
