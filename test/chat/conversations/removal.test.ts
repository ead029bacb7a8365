import { afterAll, beforeAll, expect, it } from 'vitest'
import { removeConversation } from '../../../lib/chat/conversations/removal.ts'
import { insertSilently } from '../../../lib/chat/notifications/store-all.ts'
import { exportArchive } from '../../../lib/storage/archive/export.ts'
import { TABLES } from '../../../lib/storage/archive/format.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('a deleted conversation', (openUrl) => {
  let url: string
  /** Runs no tasks, on any node: deleted conversations are hidden, but not removed yet. */
  let service: TestService
  beforeAll(async () => {
    url = await openUrl()
    service = await startService(url)
    for (const node of service.nodes) await innerState(node).tasks.stop()
  })
  afterAll(() => service.close())

  it('is not found, like a conversation that never existed, before its rows are removed', async () => {
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const eve = await service.signIn('eve')
    const { conversation_id } = await ada.conversations.create({ title: 'CANARY title' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { token = '' } = await ada.invites.create(conversation_id, {})
    const post = () =>
      ada.messages.postRoot(conversation_id, { content: 'CANARY text' }, { headers: { 'idempotency-key': 'once' } })
    const { message_id } = await post()
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')

    await ada.conversations.remove(conversation_id)
    await stream.until('stream.closed')
    const unknown = [
      ada.conversations.get(conversation_id),
      ada.conversations.rename(conversation_id, { title: 'again' }),
      ada.conversations.remove(conversation_id),
      ada.participants.add(conversation_id, { user_id: eve.id }),
      ada.participants.remove(conversation_id, ada.id),
      ada.invites.create(conversation_id, {}),
      ada.invites.list(conversation_id),
      eve.invites.accept({ token }),
      ada.invites.revoke(token),
      ada.threads.list(conversation_id),
      ada.threads.unread(conversation_id),
      ada.threads.tree(message_id),
      ada.threads.markRead(message_id, {}),
      ada.messages.get(message_id),
      ada.messages.listRevisions(message_id),
      ada.answers.listChunks(message_id),
      ada.messages.edit(message_id, { content: 'again' }),
      ada.messages.remove(message_id),
      post(),
      ada.messages.postRoot(conversation_id, { content: 'again' }),
      ada.messages.reply(message_id, { content: 'again' }),
      ada.presence.setTyping({ conversation_id }),
    ]
    expect(await Promise.all(unknown.map(codeOf))).toEqual(unknown.map(() => 'not_found'))
    const refused = await fetch(`${service.base_url}/api/conversations/${conversation_id}/stream`, {
      headers: { cookie },
    })
    expect(refused.status).toBe(404)
    expect((await ada.conversations.list({})).conversations).toEqual([])

    const { db } = innerState(service)
    expect(await db.all(sql`SELECT id FROM messages WHERE id = ${message_id}`)).toHaveLength(1)
    const { tasks } = await ada.tasks.list({})
    expect(tasks).toMatchObject([{ kind: 'conversation.remove', subject_id: conversation_id, attempts: 0 }])
    expect(await codeOf(grace.tasks.list({}))).toBe('forbidden')
    const { entries } = await ada.audit.list({ act: 'conversation.deleted' })
    expect(entries).toMatchObject([{ actor_id: ada.id, subject_id: conversation_id }])
  })

  it('is removed completely by another process', async () => {
    const other = await startService(url)
    await innerState(other).tasks.settle()
    const { db } = innerState(service)
    const tables = TABLES.map(([name]) => name).filter((name) =>
      /conv|part|thread|mess|react|answ|invite|events|idem/.test(name),
    )
    for (const table of tables) expect(await db.all(statement(`SELECT * FROM ${table}`)), table).toEqual([])
    expect(await db.all(sql`SELECT * FROM tasks`)).toEqual([])
    await other.close()
  })

  it('leaves a consistent database at every step of its removal, and no archive contains it', async () => {
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    const grace = await service.chat.users.actor((await service.signIn('grace')).id)
    const { chat } = service
    const create = async (title: string) => {
      const { conversation_id } = await chat.conversations.create(ada, { title })
      await chat.participants.add(ada, conversation_id, { user_id: grace.user_id })
      return conversation_id
    }
    const [gone, kept] = [await create('CANARY'), await create('kept')]
    for (const [conversation_id, content] of [[gone, 'CANARY'] as const, [kept, 'kept'] as const]) {
      for (const _ of times(3, (i) => i)) {
        const root = await chat.messages.postRoot(ada, conversation_id, { content })
        const replies = await Promise.all(times(40, () => chat.messages.reply(ada, root.root_id, { content })))
        await chat.messages.edit(ada, replies[0]!.message_id, { content: `${content} edited` })
        await chat.threads.markRead(grace, root.root_id, {})
        await chat.reactions.add(grace, root.root_id, '👍')
      }
    }
    await chat.conversations.remove(ada, gone)

    const { db } = innerState(chat)
    const counts: number[] = []
    for (let batches = 1; (await db.all(sql`SELECT id FROM conversations WHERE id = ${gone}`)).length > 0; batches++) {
      let left = batches
      const run = { key: gone, detail: {}, signal: new AbortController().signal, isOver: () => left-- === 0 }
      await removeConversation(innerState(chat), run)
      const { findings } = await chat.ops.fsck({ repair: true })
      expect(findings).toEqual([])
      let archive = ''
      await exportArchive(db, (lines) => {
        // The audit log has the id of the deleted conversation.
        archive += lines.replaceAll(/^.*"audit_log".*$/gm, '')
      })
      expect([archive.includes('CANARY'), archive.includes(gone)]).toEqual([false, false])
      expect(archive.split('"kept"').length).toBeGreaterThan(100)
      counts.push((await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM messages`))!.count)
    }
    expect(counts.some((count) => count > 123)).toBe(true)
    expect(counts.at(-1)).toBe(123)
  })

  it('removes a bounded number of notifications in a transaction, however many users a message has notified', async () => {
    const { chat } = service
    const ada = await chat.users.actor((await service.signIn('ada')).id)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'CANARY' })
    const { db, now } = innerState(chat)
    const users = times(600, (n) => `user ${n}`)
    for (const content of times(10, (n) => `To all, ${n}`)) {
      const { message_id: id } = await chat.messages.postRoot(ada, conversation_id, { content })
      await db.write((tx) => insertSilently(tx, { id, at: now(), read_at: null, hidden: 0 }, users))
    }
    const { message_id: id } = await chat.messages.postRoot(ada, conversation_id, { content: 'To more' })
    const more = times(5_000, (n) => `user ${n}`)
    await db.write((tx) => insertSilently(tx, { id, at: now(), read_at: null, hidden: 0 }, more))
    await chat.conversations.remove(ada, conversation_id)

    const all = "SELECT count(*) AS n FROM notifications WHERE kind = 'mention_all'"
    const count = async () => (await db.get<{ n: number }>(statement(all)))!.n
    const removed: number[] = []
    for (let before = await count(); before > 0; before -= removed.at(-1)!) {
      let left = 1
      await removeConversation(innerState(chat), {
        ...{ key: conversation_id, detail: {}, signal: new AbortController().signal, isOver: () => left-- === 0 },
      })
      removed.push(before - (await count()))
    }
    expect(removed.reduce((sum, n) => sum + n)).toBe(11_000)
    expect(Math.max(...removed)).toBeLessThan(4_000)
  })
})
