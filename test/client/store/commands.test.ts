import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Notice } from '../../../lib/api/client-entities.ts'
import { createCell } from '../../../lib/client/store/cell.ts'
import { createInvoking } from '../../../lib/client/store/command-calls.ts'
import type { PendingCall } from '../../../lib/client/store/commands.ts'
import type { Follower } from '../../../lib/client/store/feed.ts'
import { liveNotices } from '../../../lib/client/store/live-notices.ts'
import type { NoticesData } from '../../../lib/client/store/notices.ts'
import { commandsOf, noticesOf } from '../../../lib/client/store/parts.ts'
import type { Actor } from '../../../lib/index.ts'
import { isReady, startThread, waitForView } from './world.ts'

const HELLO = { name: 'hello', description: 'Greets' }

/** Ada's store in a conversation with Grace and Grace's bot, which has a command. */
async function startBot() {
  const world = await startThread({ config: { bots: { enabled: true } } })
  const { chat, actor, grace, store, conversation_id } = world
  const { bot } = await chat.bots.create(actor('grace'), { username: 'greeter' })
  const program: Actor = { user_id: bot.id, roles: ['member'], is_bot: true }
  await chat.commands.setOfBot(program, bot.id, { commands: [HELLO] })
  const commands = commandsOf(store).list(conversation_id)
  const notices = noticesOf(store).list(conversation_id)
  for (const part of [commands, notices, commandsOf(store).calls(conversation_id)]) part.subscribe(() => {})
  await waitForView(commands, isReady)
  await waitForView(notices, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  await grace.participants.add(conversation_id, { user_id: bot.id })
  await waitForView(commands, (view) => view.commands.length === 1)
  return { ...world, bot, program, commands, notices, user_id: actor('ada').user_id }
}

describe('the commands of a store', () => {
  it('are read again when a bot joins or leaves', async () => {
    const { commands, grace, conversation_id, bot } = await startBot()
    expect(commands.getSnapshot().commands).toMatchObject([{ ...HELLO, bot: { id: bot.id } }])
    await grace.participants.remove(conversation_id, bot.id)
    await waitForView(commands, (view) => view.commands.length === 0)
  })

  it('show a call until its bot posts an answer or a notice', async () => {
    const { store, chat, program, bot, conversation_id, user_id } = await startBot()
    const { calls, invoke, discard } = commandsOf(store)
    const part = calls(conversation_id)
    const call = { bot_id: bot.id, name: 'hello' }

    const invocation_id = await invoke(conversation_id, call)
    expect(part.getSnapshot()).toMatchObject([{ ...call, status: 'waiting' }])
    // Other messages of the bot are no answer.
    await chat.messages.postRoot(program, conversation_id, { content: 'News' })
    await chat.messages.postRoot(program, conversation_id, { content: 'Hello', invocation_id })
    await waitForView(part, (view) => view.length === 0)

    const second = await invoke(conversation_id, call)
    await chat.notices.create(program, conversation_id, { user_id, content: 'Hello', invocation_id: second })
    await waitForView(part, (view) => view.length === 0)

    await invoke(conversation_id, call)
    discard(conversation_id, part.getSnapshot()[0]!.key)
    expect(part.getSnapshot()).toEqual([])
  })

  it('show no call that was refused', async () => {
    const { store, bot, conversation_id } = await startBot()
    const { calls, invoke } = commandsOf(store)
    const refused = invoke(conversation_id, { bot_id: bot.id, name: 'goodbye' })
    await expect(refused).rejects.toMatchObject({ code: 'not_found' })
    expect(calls(conversation_id).getSnapshot()).toEqual([])
  })
})

describe('the notices of a store', () => {
  it('follow the stream, and are dismissed', async () => {
    const { notices, store, chat, program, network, conversation_id, user_id, actor } = await startBot()
    const { notice } = await chat.notices.create(program, conversation_id, { user_id, content: 'Only for you' })
    const other = { user_id: actor('grace').user_id, content: 'For Grace' }
    await chat.notices.create(program, conversation_id, other)
    expect((await waitForView(notices, (view) => view.notices.length === 1)).notices).toEqual([notice])
    network.calls.length = 0
    await noticesOf(store).dismiss(notice.id)
    await waitForView(notices, (view) => view.notices.length === 0)
    expect(network.calls).toEqual([`DELETE /api/notices/${notice.id}`])
  })

  it('are read again after a pause in which the stream has lost its place', async () => {
    const { notices, chat, program, network, conversation_id, user_id } = await startBot()
    network.forget()
    network.isOffline = true
    network.cut()
    await chat.notices.create(program, conversation_id, { user_id, content: 'Meanwhile' })
    network.isOffline = false
    await waitForView(notices, (view) => view.notices.length === 1)
  })

  it('end with their thread', async () => {
    const { notices, chat, program, grace, conversation_id, root_id, user_id } = await startBot()
    await chat.notices.create(program, conversation_id, { user_id, content: 'Here', root_id })
    await waitForView(notices, (view) => view.notices.length === 1)
    await grace.messages.remove(root_id)
    await waitForView(notices, (view) => view.notices.length === 0)
  })
})

describe('at their time', () => {
  afterEach(() => vi.useRealTimers())

  /** A notice that lives from now on for so many seconds, by a clock that is ahead. */
  function noticeOf(id: string, seconds: number, ahead_ms = 0): Notice {
    const at = Date.now() + ahead_ms
    const instants = { created_at: new Date(at).toISOString(), expires_at: new Date(at + seconds * 1000).toISOString() }
    return { id, conversation_id: 'c', user_id: 'u', author_user_id: 'b', content: id, ...instants }
  }

  /** The plan with data that it changes itself. */
  function startPlan(stored: Notice[]) {
    let data: NoticesData = { notices: [] }
    const client = { notices: { list: async () => ({ notices: [...stored] }) } }
    const reload = async () => {
      data = await plan.read(data, false, data)
    }
    const update = (change: (data: NoticesData) => NoticesData = (same) => same) => {
      data = change(data)
    }
    const plan = liveNotices(
      client as never,
      'c',
      () => 'u',
      () => ({ update, reload }),
    )
    const fold = (event: Parameters<typeof plan.fold>[1]) => {
      data = plan.fold(data, event) as NoticesData
    }
    return { reload, fold, ids: () => data.notices.map(({ id }) => id) }
  }

  it('notices disappear, whether they were read or have arrived', async () => {
    vi.useFakeTimers()
    const { reload, fold, ids } = startPlan([noticeOf('a', 60), noticeOf('b', 120)])
    await reload()
    // By the clock of the service, which may be behind.
    fold({ type: 'notice.new', payload: { notice: noticeOf('c', 90, -3_600_000) } })
    expect(ids()).toEqual(['a', 'b', 'c'])
    await vi.advanceTimersByTimeAsync(59_000)
    expect(ids()).toEqual(['a', 'b', 'c'])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ids()).toEqual(['b', 'c'])
    await vi.advanceTimersByTimeAsync(30_000)
    expect(ids()).toEqual(['b'])
    await vi.advanceTimersByTimeAsync(30_000)
    expect(ids()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('notices stay that the service still has, although they have expired by this clock', async () => {
    vi.useFakeTimers()
    const stored = [noticeOf('a', 60, -3_600_000)]
    const { reload, ids } = startPlan(stored)
    await reload()
    await vi.advanceTimersByTimeAsync(130_000)
    expect(ids()).toEqual(['a'])
    stored.length = 0
    await vi.advanceTimersByTimeAsync(60_000)
    expect(ids()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('a call is unanswered after ten seconds, and shown for a quarter of an hour', async () => {
    vi.useFakeTimers()
    const followers = new Set<Follower>()
    const join = (follower: Follower) => {
      followers.add(follower)
      return () => void followers.delete(follower)
    }
    const client = { commands: { invoke: async () => ({ invocation_id: 'i' }) } }
    const cell = createCell<readonly PendingCall[]>([])
    const invoke = createInvoking(client as never, { join, userId: () => 'u' } as never)
    await invoke(cell, 'c', { bot_id: 'b', name: 'hello' })
    const statuses = () => cell.getSnapshot().map(({ status }) => status)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(statuses()).toEqual(['waiting'])
    await vi.advanceTimersByTimeAsync(1)
    expect(statuses()).toEqual(['unanswered'])
    await vi.advanceTimersByTimeAsync(15 * 60_000)
    expect(statuses()).toEqual([])
    await invoke(cell, 'c', { bot_id: 'b', name: 'hello' })
    expect(followers.size).toBe(1)
    for (const follower of followers) follower.reset!()
    expect([statuses(), followers.size, vi.getTimerCount()]).toEqual([[], 0, 0])
  })
})
