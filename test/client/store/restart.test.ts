import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { isReady, startThread, textsOf, waitForView } from './world.ts'

/** A promise that the test resolves. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('a store whose session was ended elsewhere', () => {
  const endFormer = async (world: Awaited<ReturnType<typeof startThread>>, name: string) => {
    const { sessions } = await world.ada.auth.listSessions()
    const former = sessions.find(({ current }) => current)!.id
    world.signIn(name)
    await world.chat.sessions.revoke(OPERATOR, { session_id: former })
  }

  it('goes on if the user has another', async () => {
    const world = await startThread()
    const { store, thread, reply, grace } = world
    const stop = thread.subscribe(() => {})
    await waitForView(thread, isReady)
    await endFormer(world, 'ada')
    await waitForView(store.connection, ({ status }) => status === 'offline')
    await waitForView(store.connection, ({ status }) => status === 'online')
    await grace.messages.reply(reply.parent_id, { content: 'Still there?' })
    await waitForView(thread, ({ messages }) => textsOf(messages).includes('Still there?'))
    stop()
  })

  it('ends if the session is that of another user', async () => {
    const world = await startThread()
    const stop = world.thread.subscribe(() => {})
    await waitForView(world.thread, isReady)
    await endFormer(world, 'grace')
    expect(await waitForView(world.store.connection, ({ status }) => status === 'ended')).toEqual({ status: 'ended' })
    stop()
  })
})

describe('a store after a restart', () => {
  it('sends no post of the former user, and shows none that was on its way', async () => {
    const { store, network, signIn, thread, reply, grace } = await startThread()
    const { open, opened } = gate()
    const stop = thread.subscribe(() => {})
    await waitForView(thread, isReady)
    const arrival = gate()
    network.after = (call) => {
      if (!call.endsWith('/reply')) return undefined
      arrival.open()
      return opened
    }
    const posted = ['one of Ada', 'two of Ada'].map((content) => store.post({ ...reply, content }))
    await arrival.opened
    signIn('grace')
    store.restart()
    open()
    expect((await posted[0])?.message.content).toBe('one of Ada')
    expect(await posted[1]).toBeUndefined()
    expect(network.calls.filter((call) => call.endsWith('/reply'))).toHaveLength(1)
    expect(textsOf((await grace.threads.tree(reply.root_id)).messages)).toEqual(['Does it run?', 'one of Ada'])
    stop()
  })

  it('does not send a post that was discarded before its turn', async () => {
    const { store, network, thread, reply } = await startThread()
    const { open, opened } = gate()
    const stop = thread.subscribe(() => {})
    await waitForView(thread, isReady)
    network.before = (call) => call.endsWith('/reply') && opened
    const posted = ['first', 'discarded'].map((content) => store.post({ ...reply, content }))
    store.discard(thread.getSnapshot().messages.at(-1)!.pending!.key)
    open()
    expect(await posted[1]).toBeUndefined()
    expect(await posted[0]).toBeDefined()
    expect(network.calls.filter((call) => call.endsWith('/reply'))).toHaveLength(1)
    stop()
  })

  it('shows nothing that a reading of the former user brings', async () => {
    const { store, network, signIn, ada } = await startThread()
    await ada.conversations.create({ title: "Ada's own" })
    const { open, opened } = gate()
    const seen: string[] = []
    const { conversations } = store
    const stop = conversations.subscribe(() =>
      seen.push(...conversations.getSnapshot().conversations.map(({ title }) => String(title))),
    )
    const arrival = gate()
    network.after = (call) => {
      if (call !== 'GET /api/conversations') return undefined
      arrival.open()
      return opened
    }
    await arrival.opened
    signIn('grace')
    store.restart()
    open()
    await waitForView(conversations, isReady)
    expect(new Set(seen)).toEqual(new Set(['Engines']))
    stop()
  })

  it('forgets what has no subscribers any more, also in a part that the page still holds', async () => {
    const { store, thread } = await startThread()
    const ends = [store.conversations.subscribe(() => {}), thread.subscribe(() => {})]
    await waitForView(store.conversations, isReady)
    await waitForView(thread, isReady)
    for (const end of ends) end()
    // Beyond the second in which a part without subscribers follows the stream.
    await waitForView(store.connection, ({ status }) => status === 'idle')
    store.restart()
    expect(store.conversations.getSnapshot()).toEqual({ status: 'loading', conversations: [], has_more: false })
    expect(thread.getSnapshot()).toEqual({ status: 'loading', messages: [], has_more: false })
  })
})
