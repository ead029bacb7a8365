import { beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../../lib/core/actor.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { promised } from '../../storage/handles.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { innerState, type Person, times } from '../../support/service.ts'

// Where a user has posted before, PostgreSQL stores a root in one statement, if everything is as it was.
describeOnEachDatabase('a root of a user who has posted in the conversation', (openUrl, dialect) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl()))
  let [ada, grace]: Person[] = []
  let actors: { ada: Actor; grace: Actor }
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actors = { ada: await service.chat.users.actor(ada.id), grace: await service.chat.users.actor(grace.id) }
  })

  const post = (actor: Actor, conversationId: string, content = 'root', at = service) =>
    at.chat.messages.postRoot(actor, conversationId, { content })

  async function createRoom(): Promise<string> {
    const { conversation_id } = await service.chat.conversations.create(actors.ada)
    await service.chat.participants.add(actors.ada, conversation_id, { user_id: grace!.id })
    for (const actor of [actors.ada, actors.grace]) await post(actor, conversation_id)
    return conversation_id
  }

  const codeOf = (posted: Promise<unknown>) =>
    posted.then(
      () => 'stored',
      (error: { code: string }) => error.code,
    )

  async function expectSound() {
    const { findings } = await service.chat.ops.fsck()
    expect(findings).toEqual([])
  }

  it('has the number, the instant, the title and the counts of its place', async () => {
    const conversation_id = await createRoom()
    const unreadOf = async () => (await grace!.conversations.list()).conversations.find(isRoom)!.unread
    const isRoom = ({ id }: { id: string }) => id === conversation_id
    const before = await unreadOf()
    const { message, root_id } = await service.chat.messages.postRoot(actors.ada, conversation_id, {
      content: 'text',
      title: 'Title',
      metadata: { key: 'value' },
    })
    const tree = await service.chat.threads.tree(actors.grace, root_id!)
    expect(tree).toMatchObject({ title: 'Title', messages: [message] })
    const { threads } = await service.chat.threads.list(actors.grace, conversation_id)
    expect(threads[0]).toMatchObject({ root_id, title: 'Title', message_count: 1, participant_count: 1, unread: 1 })
    expect(await unreadOf()).toBe(before + 1)
    await expectSound()
  })

  it('is decided by what another process has just changed', async () => {
    const { chat } = node
    const changes: [string, (id: string) => Promise<unknown>][] = [
      ['forbidden', (id) => chat.participants.changeRole(actors.ada, id, grace!.id, { role: 'viewer' })],
      ['not_found', (id) => chat.participants.remove(actors.ada, id, grace!.id)],
      ['not_found', (id) => chat.conversations.remove(actors.ada, id)],
      ['stored', (id) => chat.conversations.setSettings(actors.grace, id, { archived: true })],
      ['stored', (id) => advanceClock(id)],
    ]
    for (const [code, change] of changes) {
      const conversation_id = await createRoom()
      await change(conversation_id)
      // The second one, too: what was learned is forgotten.
      for (const _ of times(2, () => 0)) expect(await codeOf(post(actors.grace, conversation_id))).toBe(code)
    }
    await expectSound()
  })

  /** As if a process with a clock that is ahead had posted. */
  const advanceClock = (id: string) =>
    innerState(node).db.write((tx) => tx.run(sql`UPDATE conversations SET clock = clock + 3600000000 WHERE id = ${id}`))

  it('returns an archived conversation to the list of its author', async () => {
    const conversation_id = await createRoom()
    await node.chat.conversations.setSettings(actors.grace, conversation_id, { archived: true })
    await post(actors.grace, conversation_id)
    expect(await service.chat.conversations.settings(actors.grace, conversation_id)).toMatchObject({ archived: false })
  })

  it('asks the assistant where another process has made that the layout', async () => {
    const conversation_id = await createRoom()
    await node.chat.conversations.rename(actors.ada, conversation_id, { layout: 'assistant' })
    const { message } = await post(actors.grace, conversation_id)
    expect(message.role).toBe('assistant')
  })

  it('is refused without one of another author in the same transaction', async () => {
    const [one, other] = [await createRoom(), await createRoom()]
    await node.chat.participants.changeRole(actors.ada, one, grace!.id, { role: 'viewer' })
    const posted = times(12, (n) => post(n % 2 ? actors.ada : actors.grace, n % 3 ? one : other))
    const codes = await Promise.all(posted.map(codeOf))
    expect(codes).toEqual(times(12, (n) => (n % 2 === 0 && n % 3 ? 'forbidden' : 'stored')))
    await expectSound()
  })

  it('gets instants and numbers without a gap beside those of another process', async () => {
    const rooms = [await createRoom(), await createRoom()]
    for (const actor of [actors.ada, actors.grace]) for (const id of rooms) await post(actor, id, 'before', node)
    const posted = await Promise.all(
      times(48, (n) =>
        post(n % 2 ? actors.ada : actors.grace, rooms[n % 3 ? 0 : 1]!, `${n}`, n % 4 < 2 ? service : node),
      ),
    )
    expect(new Set(posted.map(({ message_id }) => message_id)).size).toBe(48)
    for (const id of rooms) {
      const { messages } = await service.chat.messages.list(actors.ada, id, { limit: 200 })
      expect(new Set(messages.map(({ created_at }) => created_at)).size).toBe(messages.length)
      const log = await innerState(service).db.all<{ seq: number }>(
        sql`SELECT seq FROM events WHERE conversation_id = ${id} ORDER BY seq`,
      )
      expect(log.map(({ seq }) => seq)).toEqual(times(log.length, (n) => n + 1))
    }
    await expectSound()
  })

  it.runIf(dialect === 'postgresql')('waits for another process that has locked the conversation', async () => {
    const [locked, free] = [await createRoom(), await createRoom()]
    const [held, go] = [promised(), promised()]
    const holder = innerState(node).db.write(async (tx) => {
      await tx.get(sql`SELECT id FROM conversations WHERE id = ${locked} FOR UPDATE`)
      held.resolve()
      await go.promise
    })
    await held.promise
    const waiting = Promise.all(times(3, () => post(actors.ada, locked)))
    await post(actors.ada, free)
    go.resolve()
    await holder
    expect(await waiting).toHaveLength(3)
  })
})
