import { describe, expect, it, vi } from 'vitest'
import { presenceOf } from '../../../lib/client/store/parts.ts'
import { isReady, startThread, startWorld, textsOf, waitForView } from './world.ts'

describe('a store', () => {
  it('sends nothing without a subscriber, and keeps a snapshot until it changes', async () => {
    const { store, network, thread, conversation_id, root_id } = await startThread()
    expect(thread.getSnapshot()).toEqual({ status: 'loading', messages: [], has_more: false })
    expect(store.conversations.getSnapshot()).toEqual({ status: 'loading', conversations: [], has_more: false })
    expect(store.connection.getSnapshot()).toEqual({ status: 'idle' })
    expect(store.thread(root_id)).toBe(thread)
    expect(presenceOf(store).typing(conversation_id).getSnapshot()).toEqual([])
    expect(store.unreadNotifications.getSnapshot()).toBe(0)
    expect(network.calls).toEqual([])
    const ready = await waitForView(thread, isReady)
    expect(thread.getSnapshot()).toBe(ready)
    expect(textsOf(ready.messages)).toEqual(['Does it run?'])
  })

  it('keeps its stream and what it read between two subscriptions', async () => {
    const { network, thread } = await startThread()
    const first = thread.subscribe(() => {})
    first()
    const second = thread.subscribe(() => {})
    await waitForView(thread, isReady)
    second()
    const third = thread.subscribe(() => {})
    expect(network.calls.filter((call) => call === 'GET /api/stream')).toHaveLength(1)
    expect(network.calls.filter((call) => call.endsWith('/tree'))).toHaveLength(1)
    third()
  })

  it('shows a post at once, in its place, and once', async () => {
    const { store, network, thread, reply } = await startThread()
    await waitForView(thread, isReady)
    const seen: string[][] = []
    const stop = thread.subscribe(() => seen.push(textsOf(thread.getSnapshot().messages)))
    // The response comes after the event.
    network.after = (call) =>
      call.endsWith('/reply') && waitForView(thread, ({ messages }) => messages.length === 2 && !messages[1]!.pending)
    const posted = store.post({ ...reply, content: 'It runs.' })
    expect(thread.getSnapshot().messages.at(-1)).toMatchObject({ content: 'It runs.', pending: { status: 'sending' } })
    const { message_id } = (await posted)!
    const { messages } = await waitForView(thread, ({ messages }) => messages.at(-1)!.pending === undefined)
    expect(messages.map(({ id }) => id)).toEqual([reply.root_id, message_id])
    expect(seen.every((texts) => texts.filter((text) => text === 'It runs.').length === 1)).toBe(true)
    stop()
  })

  it('keeps a failed post, and stores it once however often it is retried', async () => {
    const { store, network, thread, reply, grace } = await startThread()
    await waitForView(thread, isReady)
    const stop = thread.subscribe(() => {})
    let answer = 0
    network.before = (call) => {
      if (call.endsWith('/reply') && answer++ === 0) throw new TypeError('the response was lost')
    }
    expect(await store.post({ ...reply, content: 'It runs.' })).toBeUndefined()
    const failed = thread.getSnapshot().messages.at(-1)!
    expect(failed.pending).toMatchObject({ status: 'failed', error: new TypeError('the response was lost') })
    expect(await store.retry(failed.pending!.key)).toMatchObject({ message: { content: 'It runs.' } })
    expect(await store.retry(failed.pending!.key)).toBeUndefined()
    expect((await grace.threads.tree(reply.root_id)).messages).toHaveLength(2)
    stop()
  })

  it('stores a post once that an earlier page has sent with the same key', async () => {
    const { store, reply, grace } = await startThread()
    const [first, second] = [
      await store.post({ ...reply, key: 'kept', content: 'It runs.' }),
      await store.post({ ...reply, key: 'kept', content: 'It runs.' }),
    ]
    expect(second!.message_id).toBe(first!.message_id)
    expect((await grace.threads.tree(reply.root_id)).messages).toHaveLength(2)
  })

  it('keeps a refused post until it is discarded', async () => {
    const { store, thread, reply, grace } = await startThread()
    await grace.messages.remove(reply.root_id)
    await waitForView(thread, isReady)
    const stop = thread.subscribe(() => {})
    await store.post({ ...reply, content: 'It runs.' })
    const { pending } = thread.getSnapshot().messages.at(-1)!
    expect(pending).toMatchObject({ status: 'failed', error: { code: 'message_deleted' } })
    store.discard(pending!.key)
    expect(thread.getSnapshot().messages).toHaveLength(1)
    stop()
  })

  it('keeps a post that is refused after an equal message of the user has arrived from another page', async () => {
    const { store, network, thread, reply, ada } = await startThread()
    const stop = thread.subscribe(() => {})
    await waitForView(thread, isReady)
    await waitForView(store.connection, ({ status }) => status === 'online')
    network.before = async (call) => {
      if (!call.endsWith('/reply')) return
      network.before = () => {}
      await ada.messages.reply(reply.root_id, { content: 'ok' })
      await waitForView(thread, ({ messages }) => messages.some(({ content, pending }) => content === 'ok' && !pending))
      throw Object.assign(new Error('refused'), { code: 'forbidden' })
    }
    expect(await store.post({ ...reply, content: 'ok' })).toBeUndefined()
    const { messages } = thread.getSnapshot()
    expect(textsOf(messages)).toEqual(['Does it run?', 'ok', 'ok'])
    expect(messages.map(({ pending }) => pending?.status)).toEqual([undefined, undefined, 'failed'])
    stop()
  })

  it('sends what was posted offline when the connection is back', async () => {
    const { store, network, thread, reply } = await startThread()
    await waitForView(thread, isReady)
    const stop = thread.subscribe(() => {})
    network.isOffline = true
    network.cut()
    await store.post({ ...reply, content: 'It runs.' })
    await waitForView(store.connection, ({ status }) => status === 'offline')
    expect(thread.getSnapshot().messages.at(-1)!.pending?.status).toBe('failed')
    network.isOffline = false
    await waitForView(thread, ({ messages }) => messages.length === 2 && !messages[1]!.pending)
    expect(store.connection.getSnapshot()).toEqual({ status: 'online' })
    stop()
  })

  it('assembles an answer in progress, and stops it', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { store, thread, reply } = await startThread({
      async *assistant() {
        yield 'It '
        await held
        yield 'runs.'
      },
    })
    await waitForView(thread, isReady)
    const stop = thread.subscribe(() => {})
    await store.post({ ...reply, role: 'assistant', content: 'Does it?' })
    await waitForView(thread, ({ messages }) => messages.at(-1)!.content === 'It ')
    // Read in the middle of an answer, and followed from there.
    await thread.reload()
    expect(thread.getSnapshot().messages.at(-1)).toMatchObject({ content: 'It ', status: 'streaming' })
    release()
    const { messages } = await waitForView(thread, ({ messages }) => messages.at(-1)!.status === 'complete')
    expect(messages.at(-1)).toMatchObject({ content: 'It runs.', prompt: 'Does it?' })
    stop()
  })

  it('asks the assistant that a post names, and asks again without a question of its own', async () => {
    const coder = async function* () {
      yield 'Sorted.'
    }
    const { store, thread, reply } = await startThread({
      async *assistant() {
        yield 'It runs.'
      },
      assistants: { coder: { title: 'Coder', provider: coder } },
    })
    await waitForView(thread, isReady)
    const stop = thread.subscribe(() => {})
    const asking = store.post({ ...reply, role: 'assistant', assistant: 'coder', content: 'How?' })
    expect(thread.getSnapshot().messages.at(-1)).toMatchObject({ assistant: 'coder', prompt: 'How?', pending: {} })
    expect((await asking)!.message).toMatchObject({ assistant: 'coder' })

    const { answers, message } = (await store.post({ ...reply, content: 'And you, @coder?' }))!
    const [answer] = answers!
    await waitForView(thread, ({ messages }) =>
      messages.some(({ id, status }) => id === answer!.id && status === 'complete'),
    )
    const place = { conversation_id: message.conversation_id, root_id: message.root_id, parent_id: message.id }
    const again = await store.post({ ...place, role: 'assistant', content: '', variant_of: answer!.id })
    expect(again!.message).toMatchObject({ assistant: 'coder', variant_of: answer!.id })
    const { messages } = await waitForView(thread, ({ messages }) =>
      messages.some(({ id, status }) => id === again!.message_id && status === 'complete'),
    )
    expect(messages.filter(({ pending }) => pending)).toEqual([])
    stop()
  })

  it('posts without a role as the layout of the conversation says, and shows the post once', async () => {
    const { store, ada } = await startWorld({
      async *assistant() {
        yield 'It runs.'
      },
    })
    for (const [layout, role] of [
      ['assistant', 'assistant'],
      ['stream', 'user'],
    ] as const) {
      const { conversation_id } = await ada.conversations.create({ layout })
      const part = store.conversation(conversation_id)
      const shown = new Set<number>()
      const stop = part.subscribe(() => shown.add(part.getSnapshot().messages.length))
      await waitForView(part, isReady)
      const posted = await store.post({ conversation_id, content: 'Does it run?' })
      const { messages } = await waitForView(part, ({ messages }) => messages[0]?.status === 'complete')
      expect([posted!.message.role, messages[0]]).toMatchObject([role, { role, content: expect.stringMatching(/run/) }])
      expect(Math.max(...shown)).toBe(1)
      stop()
    }
  })

  it('shows who is typing until a message or the time ends it', async () => {
    const { store, grace, conversation_id } = await startThread()
    const typing = presenceOf(store).typing(conversation_id)
    const stop = typing.subscribe(() => {})
    await waitForView(store.connection, ({ status }) => status === 'online')
    await grace.presence.setTyping({ conversation_id })
    expect(await waitForView(typing, (typists) => typists.length > 0)).toMatchObject([{ user_id: expect.any(String) }])
    await grace.messages.postRoot(conversation_id, { content: 'Here' })
    await waitForView(typing, (typists) => typists.length === 0)
    stop()
  })

  it('knows the presence of others, and that a conversation was left', async () => {
    const { store, grace, ada, actor, conversation_id } = await startThread()
    const { user_id } = actor('grace')
    const presence = presenceOf(store).presence([user_id])
    const stop = store.conversations.subscribe(() => {})
    await grace.presence.sendHeartbeat({ status: 'away' })
    await waitForView(presence, (users) => users[user_id]?.status === 'away')
    await waitForView(store.conversations, ({ conversations }) => conversations.length === 1)
    await ada.participants.remove(conversation_id, actor('ada').user_id)
    await waitForView(store.conversations, ({ conversations }) => conversations.length === 0)
    stop()
  })

  it('reports that the session has ended, and begins anew', async () => {
    const { store, network, ada } = await startThread()
    const stop = store.conversations.subscribe(() => {})
    await waitForView(store.conversations, isReady)
    await ada.auth.logout()
    expect(await waitForView(store.connection, ({ status }) => status === 'ended')).toMatchObject({ status: 'ended' })
    store.restart()
    const { error } = await waitForView(store.conversations, ({ status }) => status === 'failed')
    expect(error).toMatchObject({ code: 'unauthenticated' })
    expect(store.conversations.getSnapshot().conversations).toEqual([])
    const sent = network.calls.length
    store.close()
    await vi.waitFor(() => expect(store.connection.getSnapshot().status).toBe('idle'), { timeout: 30_000 })
    expect(network.calls).toHaveLength(sent)
    stop()
  })

  it("lists another user's new thread in the turn of its event, without a request", async () => {
    const { store, network, grace, ada, conversation_id } = await startThread()
    const threads = store.threads(conversation_id)
    const stop = threads.subscribe(() => {})
    await waitForView(threads, isReady)
    await waitForView(store.connection, ({ status }) => status === 'online')
    const sent = network.calls.length
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Another' })
    await grace.messages.reply(root_id, { content: 'one' })
    const asked = await ada.messages.postRoot(conversation_id, { content: 'And this?', role: 'assistant' })
    await waitForView(threads, ({ threads }) => threads.length === 3 && threads[1]!.message_count === 2)
    await waitForView(threads, ({ threads }) => threads[0]!.unread === 0)
    expect(network.calls.slice(sent).filter((call) => call.startsWith('GET'))).toEqual([])
    expect(threads.getSnapshot().threads).toMatchObject([
      { root_id: asked.root_id, unread: 0 },
      { root_id, root_excerpt: 'Another', message_count: 2, unread: 2 },
      { message_count: 1 },
    ])
    stop()
  })

  it('reads lists and threads in pages, each once', async () => {
    const { store, network, chat, actor, conversation_id, root_id, thread } = await startThread()
    for (let index = 0; index < 210; index++)
      await chat.messages.reply(actor('grace'), root_id, { content: `reply ${index}` })
    expect((await waitForView(thread, isReady)).messages).toHaveLength(200)
    const stop = thread.subscribe(() => {})
    await thread.loadMore()
    expect(thread.getSnapshot()).toMatchObject({ has_more: false, messages: { length: 211 } })
    expect(network.calls.filter((call) => call.endsWith('/tree'))).toHaveLength(2)
    stop()
    const threads = store.threads(conversation_id)
    expect(await waitForView(threads, isReady)).toMatchObject({ has_more: false, threads: [{ message_count: 211 }] })
  })

  it('reads all pages again if its place in the stream is lost while the next page is read', async () => {
    const { store, network, chat, actor, root_id, thread, grace } = await startThread()
    for (let index = 0; index < 210; index++)
      await chat.messages.reply(actor('grace'), root_id, { content: `reply ${index}` })
    await waitForView(thread, isReady)
    const stop = thread.subscribe(() => {})
    let isLost = false
    network.before = async (call) => {
      if (!call.endsWith('/tree') || isLost) return
      isLost = true
      network.forget()
      network.cut()
      await grace.messages.edit(root_id, { content: 'Edited meanwhile' })
      await waitForView(store.connection, ({ status }) => status === 'offline')
    }
    const more = thread.loadMore()
    await waitForView(thread, ({ messages }) => messages[0]!.content === 'Edited meanwhile')
    await more
    await thread.loadMore()
    const { messages } = thread.getSnapshot()
    expect(new Set(messages.map(({ id }) => id)).size).toBe(211)
    expect(messages).toHaveLength(211)
    stop()
  })
})
