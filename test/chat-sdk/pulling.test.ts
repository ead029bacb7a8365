import { createMockChatInstance, createMockLogger } from '@chat-adapter/tests'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createChatServerAdapter } from '../../lib/chat-sdk/index.ts'
import { type ChatClient, ChatError } from '../../lib/client/index.ts'
import { openStore } from '../receive/stores.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'

const ADA = '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42'

const away = () => Promise.reject(new TypeError('fetch failed'))

function joined(n: number) {
  const data = { conversation_id: `c${n}`, user_id: ADA, action: 'added' }
  return { id: `evt_${n}`, type: 'membership.changed', timestamp: '', position: `1.${n}`, data }
}

describeOnEachEmptyDatabase('a bot that pulls', (openUrl) => {
  /**
   * @param get reads a conversation, whose page of the feed is then asked for once
   * @param stored ids of events that were handed over before a kill
   */
  async function pulling(get: (id: string) => Promise<object>, stored: string[] = []) {
    const opened = await openStore(await openUrl())
    onTestFinished(() => opened.close())
    await opened.store.migrate()
    await opened.store.apply({ source: 'chatserver', ids: stored, run() {} })
    const read = vi.fn(({ after }: { after?: string }, { signal }: { signal: AbortSignal }) => {
      if (after === undefined) return Promise.resolve({ events: [joined(1), joined(2)], position: '1.2', more: true })
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const client = {
      ...{ auth: { me: async () => ({ user: { id: 'me', username: 'helper' } }) }, feed: { read } },
      ...{ conversations: { get }, users: { search: async () => ({ users: [] }) } },
    } as unknown as ChatClient
    const adapter = createChatServerAdapter({ client, store: opened.store })
    const chat = createMockChatInstance({ logger: createMockLogger() })
    await adapter.initialize(chat)
    const pulled = adapter.pull()
    onTestFinished(async () => {
      await adapter.disconnect!()
      await pulled
    })
    return { adapter, chat, pulled, read, opened }
  }

  const position = async ({ opened }: { opened: Awaited<ReturnType<typeof openStore>> }) =>
    (await opened.store.positions('chatserver')).pulled

  it('hands a page over when the service says again what it is about, and then reads on', async () => {
    const answers = [away, away]
    const bot = await pulling(() => (answers.shift() ?? (async () => ({})))())
    await expect.poll(() => bot.read.mock.calls.length, { timeout: 30_000 }).toBe(2)
    const channels = vi.mocked(bot.chat.processMemberJoinedChannel).mock.calls.map(([{ channelId }]) => channelId)
    expect(channels).toEqual(['chatserver:c1', 'chatserver:c2'])
    expect(bot.chat.getLogger().warn).toHaveBeenCalledTimes(2)
    await bot.adapter.disconnect!()
    await bot.pulled
  })

  it('reads nothing again for the events of a page that it has handed over before a kill', async () => {
    const get = vi.fn(async (_id: string) => ({}))
    const bot = await pulling(get, ['evt_1'])
    await expect.poll(() => bot.read.mock.calls.length, { timeout: 30_000 }).toBe(2)
    const channels = vi.mocked(bot.chat.processMemberJoinedChannel).mock.calls.map(([{ channelId }]) => channelId)
    expect(channels).toEqual(['chatserver:c2'])
    expect(new Set(get.mock.calls.map(([id]) => id))).toEqual(new Set(['c2']))
    expect([await position(bot), (await bot.opened.ids()).toSorted()]).toEqual(['1.2', ['evt_1', 'evt_2']])
  })

  it('reports no event that it has handed over before, though it cannot be read any more', async () => {
    const gone = () => Promise.reject(new ChatError('not_found'))
    const bot = await pulling(gone, ['evt_2'])
    await expect.poll(() => bot.read.mock.calls.length, { timeout: 30_000 }).toBe(2)
    const events = vi.mocked(bot.chat.getLogger().error).mock.calls.map(([, args]) => args as { event: { id: string } })
    expect(events.map(({ event }) => event.id)).toEqual(['evt_1'])
  })

  it('ends while it waits, and leaves the page for later', async () => {
    const bot = await pulling(away)
    await expect.poll(() => vi.mocked(bot.chat.getLogger().warn).mock.calls.length).toBeGreaterThan(0)
    await bot.adapter.disconnect!()
    await bot.pulled
    expect(bot.chat.processMemberJoinedChannel).not.toHaveBeenCalled()
    expect([await position(bot), await bot.opened.ids()]).toEqual([undefined, []])
  })
})
