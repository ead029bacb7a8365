import { describe, expect, it } from 'vitest'
import { receiptsOf } from '../../../lib/client/store/parts.ts'
import { innerState } from '../../support/service.ts'
import { isReady, startThread, waitForView } from './world.ts'

/** Ada's store in a conversation with receipts; Grace began its thread, and Alan reads it. */
async function startReceipts({ config = {}, receipts = 'on' as 'on' | 'off' } = {}) {
  const world = await startThread({ users: ['ada', 'grace', 'alan'], config })
  const { grace, chat, actor, store, conversation_id } = world
  await grace.participants.add(conversation_id, { username: 'alan' })
  await grace.conversations.rename(conversation_id, { policy: { receipts } })
  // Those from before a reader joined are never unread.
  const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Does it run now?' })
  const of = receiptsOf(store)
  const [readers, markers] = [of.readers(root_id), of.threadReaders(root_id)]
  const stops = [readers, markers].map((part) => part.subscribe(() => {}))
  const ends = [await waitForView(readers, isReady), await waitForView(markers, isReady)] as const
  await waitForView(store.connection, ({ status }) => status === 'online')
  return {
    ...world,
    root_id,
    readers,
    markers,
    first: ends,
    alan: world.client('alan'),
    id: { ada: actor('ada').user_id, grace: actor('grace').user_id, alan: actor('alan').user_id },
    /** Sends the markers that have moved, which the service gathers for a second. */
    flush: () => innerState(chat).streams.receipts.flush(),
    stop: () => stops.map((end) => end()),
  }
}

const idsOf = ({ readers }: { readers: readonly { user_id: string }[] }) => readers.map(({ user_id }) => user_id)

describe('the receipts of a store', () => {
  it('follow the markers of others, forward and back, without a request', async () => {
    const { first, readers, markers, ada, alan, grace, root_id, id, network, flush, stop } = await startReceipts()
    expect(first).toEqual([
      { status: 'ready', readers: [], count: 0, has_more: false, is_off: false },
      { status: 'ready', readers: [], is_off: false },
    ])
    network.calls.length = 0
    await alan.threads.markRead(root_id)
    await flush()
    expect((await waitForView(readers, ({ count }) => count === 1)).readers).toEqual([
      { user_id: id.alan, read_at: (await ada.messages.get(root_id)).created_at },
    ])
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await grace.threads.markRead(root_id)
    await flush()
    // Latest first; the author of a message is none of its readers.
    await waitForView(markers, ({ readers }) => readers.length === 2)
    expect(idsOf(markers.getSnapshot())).toEqual([id.grace, id.alan])
    expect(idsOf(readers.getSnapshot())).toEqual([id.alan])
    await alan.threads.markUnread(root_id, { message_id: root_id })
    await flush()
    await waitForView(readers, ({ count }) => count === 0)
    await waitForView(markers, (view) => idsOf(view).join() === id.grace)
    expect(network.calls.filter((call) => call.startsWith('GET'))).toEqual([`GET /api/messages/${root_id}`])
    expect(markers.getSnapshot().readers).toEqual((await ada.receipts.ofThread(root_id)).readers)
    stop()
  })

  it('of a later message do not have those who have read an earlier one', async () => {
    const { store, grace, alan, root_id, id, flush, stop } = await startReceipts()
    await alan.threads.markRead(root_id)
    const { message_id } = await grace.messages.reply(root_id, { content: 'It runs.' })
    const later = receiptsOf(store).readers(message_id)
    const end = later.subscribe(() => {})
    expect((await waitForView(later, isReady)).readers).toEqual([])
    await alan.threads.markRead(root_id)
    await flush()
    expect(idsOf(await waitForView(later, ({ count }) => count === 1))).toEqual([id.alan])
    end()
    stop()
  })

  it('are caught up after a lost connection', async () => {
    const { store, network, readers, markers, alan, root_id, id, flush, stop } = await startReceipts()
    network.isOffline = true
    network.cut()
    await waitForView(store.connection, ({ status }) => status === 'offline')
    await alan.threads.markRead(root_id)
    await flush()
    network.isOffline = false
    expect(idsOf(await waitForView(readers, ({ count }) => count === 1))).toEqual([id.alan])
    await waitForView(markers, ({ readers }) => readers.length === 1)
    stop()
  })

  it('lose a reader who leaves', async () => {
    const { readers, markers, grace, alan, root_id, conversation_id, id, flush, stop } = await startReceipts()
    await alan.threads.markRead(root_id)
    await flush()
    await waitForView(readers, ({ count }) => count === 1)
    await grace.participants.remove(conversation_id, id.alan)
    await waitForView(readers, ({ count }) => count === 0)
    await waitForView(markers, ({ readers }) => readers.length === 0)
    stop()
  })

  it('are off while the policy or the user has turned them off, which is no error', async () => {
    const { store, first, readers, markers, grace, ada, alan, root_id, conversation_id, stop } = await startReceipts({
      receipts: 'off',
    })
    expect(first).toEqual([
      { status: 'ready', readers: [], count: 0, has_more: false, is_off: true },
      { status: 'ready', readers: [], is_off: true },
    ])
    await alan.threads.markRead(root_id)
    await grace.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
    await waitForView(readers, ({ is_off, count }) => !is_off && count === 1)
    await waitForView(markers, ({ is_off, readers }) => !is_off && readers.length === 1)
    await ada.conversations.setSettings(conversation_id, { receipts: false })
    await waitForView(readers, ({ is_off, count }) => is_off && count === 0)
    await waitForView(markers, ({ is_off }) => is_off)
    await store.setSettings(conversation_id, { receipts: true })
    await waitForView(readers, ({ is_off }) => !is_off)
    await ada.auth.changeProfile({ receipts: false })
    await readers.reload()
    expect(readers.getSnapshot()).toMatchObject({ status: 'ready', is_off: true, readers: [] })
    stop()
  })

  it('are off on a service without them, for a stranger, and of a deleted message', async () => {
    const { first, stop } = await startReceipts({ config: { receipts: { enabled: false } } })
    expect(first[0].is_off).toBe(true)
    stop()
    const world = await startReceipts()
    const { readers, grace, ada, root_id, conversation_id, store } = world
    await grace.messages.remove(root_id)
    await waitForView(readers, ({ is_off }) => is_off)
    await grace.messages.restore(root_id)
    await waitForView(readers, ({ is_off }) => !is_off)
    await ada.participants.remove(conversation_id, world.id.ada)
    await waitForView(readers, ({ is_off }) => is_off)
    await grace.participants.add(conversation_id, { username: 'ada' })
    await waitForView(readers, ({ is_off }) => !is_off)
    const unknown = receiptsOf(store).threadReaders('01980a3c-8000-7a10-8b20-0c4f1d2e3a44')
    const end = unknown.subscribe(() => {})
    expect(await waitForView(unknown, isReady)).toMatchObject({ is_off: true, readers: [] })
    end()
    world.stop()
  })

  it('keep other failures as errors', async () => {
    const { store, network, ada, root_id, stop } = await startReceipts()
    const { message_id } = await ada.messages.reply(root_id, { content: 'It runs.' })
    network.before = (call) => {
      if (call.endsWith('/readers')) throw Object.assign(new Error('refused'), { code: 'internal' })
    }
    const readers = receiptsOf(store).readers(message_id)
    const end = readers.subscribe(() => {})
    expect(await waitForView(readers, ({ status }) => status === 'failed')).toMatchObject({
      error: { code: 'internal' },
    })
    end()
    stop()
  })
})
