import { beforeAll, expect, it } from 'vitest'
import type { SnapshotInput } from '../../../lib/chat/snapshots/schema.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, type Person, startThread } from '../../support/service.ts'

const MIB = 1024 * 1024
const sizeOf = (snapshot: unknown) => Buffer.byteLength(JSON.stringify(snapshot))

describeService('a snapshot', (service) => {
  let world: Awaited<ReturnType<typeof startThread>>
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    world = await startThread(service)
    ;({ ada, grace } = world)
  })

  const snapshot = ({ id }: Person, input?: SnapshotInput) =>
    service.chat.snapshots.create({ user_id: id, roles: id === ada.id ? ['admin', 'member'] : ['member'] }, input)

  /** A conversation of both with a thread. */
  async function open() {
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    await grace.messages.reply(root_id, { content: 'It runs.' })
    return { conversation_id, root_id }
  }

  it('has the first page of each list that the page shows, as the reader reads it', async () => {
    const { conversation_id, root_id } = await open()
    const { user, ...pages } = await snapshot(ada, { conversation_id, root_id })
    expect(user).toEqual((await ada.auth.me()).user)
    expect(JSON.parse(JSON.stringify(pages))).toEqual({
      conversations: await ada.conversations.list({ limit: 50 }),
      messages: await ada.messages.list(conversation_id, {}),
      threads: { conversation_id, ...(await ada.threads.list(conversation_id, { limit: 50 })) },
      replies: await ada.threads.messages(root_id, {}),
      tree: await ada.threads.tree(root_id, { limit: 200 }),
    })
    expect(pages.threads!.threads[0]).toMatchObject({ root_id, unread: 1 })
    expect(Object.keys(await snapshot(ada))).toEqual(['user', 'conversations'])
  })

  it('has at most 1 MiB: what does not fit has fewer entries, what is shown first has all', async () => {
    const { conversation_id, root_id } = await open()
    for (let n = 0; n < 12; n++) await ada.messages.reply(root_id, { content: `${n} ${'ä'.repeat(30_000)}` })
    const { replies, tree, messages, conversations, ...rest } = await snapshot(ada, { conversation_id, root_id })
    expect(sizeOf({ replies, tree, messages, conversations, ...rest })).toBeLessThanOrEqual(MIB)
    expect([replies?.messages.length, messages?.messages.length]).toEqual([13, 1])
    expect(conversations?.conversations[0]?.id).toBe(conversation_id)
    expect(tree?.messages.length).toBeLessThan(14)
    expect(tree?.next_cursor).toBeDefined()
  })

  it('has a page of long messages: as many of the newest as fit', async () => {
    const { conversation_id, root_id } = await open()
    for (let n = 0; n < 18; n++) await ada.messages.postRoot(conversation_id, { content: `${n} ${'ä'.repeat(30_000)}` })
    const { messages } = await snapshot(ada, { conversation_id, root_id })
    expect(messages?.messages.length).toBeGreaterThan(5)
    expect(messages?.messages.at(-1)?.content).toMatch(/^17 /)
    expect(messages?.next_before).toBeDefined()
  })

  it('is refused of what the actor cannot read', async () => {
    const { conversation_id, root_id } = await open()
    for (const input of [{ conversation_id }, { root_id }, { conversation_id: 'none' }, { root_id: '' }])
      expect(await codeOf(snapshot(world.eve, input))).toBe('not_found')
    expect(await codeOf(snapshot(ada, { conversation_id: 'x'.repeat(100_000) }))).toBe('validation_failed')
    const orders = await service.chat.system('orders')
    expect(await codeOf(service.chat.snapshots.create(orders))).toBe('forbidden')
  })
})
