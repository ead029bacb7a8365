import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createChatApp } from '../../../lib/http/index.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { type CutProxy, startProxy } from '../../fault/storage/proxy.ts'
import { createPostgresDatabase } from '../../support/databases.ts'
import { PASSWORD, startThreadAlone } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

type Acts = Record<string, { method?: string; path: string; body?: object; keyed?: true }>

describe.skipIf(!inject('postgres_url'))('the round trips to PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>
  let proxy: CutProxy
  let chat: Chat
  let send: (act: Acts[string]) => Promise<void>
  let acts: Acts

  beforeAll(async () => {
    database = await createPostgresDatabase()
    proxy = await startProxy(database.url)
    chat = createChatService(
      parseConfig({ security: { password: { bcrypt_cost: 4 } } }),
      await openStorage({ database: proxy.url }),
    )
    // Nothing else of the service reaches the database meanwhile.
    const { conversation_id, root_id } = await startThreadAlone(chat)
    const { fetch } = createChatApp(chat)
    const headers = await signInByHand('http://127.0.0.1', 'ada@example.org', PASSWORD, fetch)
    let sent = 0
    send = async ({ method = 'POST', path, body, keyed }) => {
      const response = await fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: { ...headers, 'content-type': 'application/json', ...(keyed && { 'idempotency-key': `${++sent}` }) },
          ...(body && { body: JSON.stringify(body) }),
        }),
      )
      expect(response.ok).toBe(true)
    }
    const root = { path: `/api/threads/${conversation_id}/root`, body: { content: 'root' } }
    const reply = { path: `/api/messages/${root_id}/reply`, body: { content: 'reply' } }
    acts = {
      root,
      'root with a key': { ...root, keyed: true },
      reply,
      'reply with a key': { ...reply, keyed: true },
      me: { method: 'GET', path: '/api/auth/me' },
      mark: { path: `/api/conversations/${conversation_id}/read`, body: {} },
      'thread mark': { path: `/api/threads/${root_id}/read`, body: {} },
      list: { method: 'GET', path: `/api/conversations` },
    }
  })
  afterAll(async () => {
    await chat.close()
    await proxy.close()
    await database.remove()
  })

  it.each([
    ['root', 1],
    ['root with a key', 2],
    ['reply', 2],
    ['reply with a key', 2],
    ['me', 2],
    ['mark', 6],
    ['thread mark', 7],
    ['list', 5],
  ])('of a %s, from the session to the commit, are %i', async (name, count) => {
    const act = acts[name]!
    // Statements are prepared at first.
    for (let n = 0; n < 12; n++) await send(act)
    const before = proxy.roundTrips()
    await send(act)
    expect(proxy.roundTrips() - before).toBe(count)
  })
})
