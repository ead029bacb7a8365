import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import type { LogFields } from '../../lib/context.ts'
import { SECOND } from '../../lib/core/units.ts'
import { ChatError, type Storage } from '../../lib/index.ts'
import type { Database } from '../../lib/storage/database.ts'
import { checkedFetch } from '../support/answers.ts'
import { createSqliteFile, describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, startThread, times } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

describeOnEachDatabase('a service with failures', (openUrl) => {
  it('serves reads while writes fail', async () => {
    let now = Date.UTC(2026, 0, 1) * 1000
    let isFull = false
    const warnings: string[] = []
    const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} }
    const wrap = (storage: Storage): Storage => ({
      ...storage,
      db: {
        ...storage.db,
        write: async (work) => {
          if (isFull) throw new ChatError('storage_full', { cause: new Error('disk full') })
          return storage.db.write(work)
        },
      },
    })
    const service = await startService(await openUrl(), { wrap, ports: { now: () => now, log } })
    const { ada, conversation_id, root } = await startThread(service)
    isFull = true
    now += 120 * SECOND
    expect((await ada.auth.me()).user.username).toBe('ada')
    expect((await ada.threads.tree(root.root_id)).messages).toHaveLength(1)
    expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'x' }))).toBe('storage_full')
    expect(warnings).toContain('The use of a session could not be stored')
    expect(warnings).toContain('Request failed because of the storage')
    isFull = false
    await ada.messages.postRoot(conversation_id, { content: 'there is room again' })
    await service.close()
  })

  it('logs once, and with the reason, that its background jobs fail', async () => {
    let calls = 0
    let isAway = false
    const lines: string[] = []
    const tell = (message: string, fields: LogFields = {}) => void lines.push(`${message}: ${fields.cause}`)
    const log = { debug() {}, info() {}, warn: tell, error: tell }
    const wrap = (storage: Storage): Storage => {
      const failing =
        <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
        async (...args: Args) => {
          if (!isAway) return call(...args)
          // Other statements, such as those of the poller, come more often.
          if (!/signals|nodes/.test((args[0] as { text?: string } | undefined)?.text ?? '')) calls++
          throw new ChatError('unavailable', { cause: new Error('the disk is gone') })
        }
      const { all, get, write } = storage.db
      return {
        ...storage,
        db: { ...storage.db, all: failing(all), get: failing(get), write: failing(write) } as Database,
      }
    }
    const service = await startService(await openUrl(), { wrap, ports: { log } })
    isAway = true
    await expect.poll(() => calls, { timeout: 30_000 }).toBeGreaterThan(3)
    isAway = false
    await service.close()
    expect(lines.filter((line) => line.startsWith('Leases of answers'))).toEqual([
      'Leases of answers could not be renewed: Error: the disk is gone',
    ])
  })

  it('does not wait for a presence store that does not respond', async () => {
    const hanging = () => new Promise<never>(() => {})
    const kv = { get: hanging, getAll: hanging, set: async () => {}, delete: async () => {} }
    const service = await startService(await openUrl(), { wrap: (storage) => ({ ...storage, kv }) })
    const { ada, eve, conversation_id } = await startThread(service)
    const added = ada.participants.add(conversation_id, { user_id: eve.id })
    const posts = times(5, (i) => ada.messages.postRoot(conversation_id, { content: `${i}` }))
    await Promise.all(posts)
    expect(await added).toMatchObject({ participant: { user_id: eve.id, presence: { status: 'offline' } } })
    await service.close()
  })

  it('keeps the session of a client with concurrent calls during a refresh', async () => {
    const service = await startService(await openUrl())
    const ada = await service.signIn('ada')
    for (let i = 0; i < 10; i++) {
      await Promise.allSettled([
        ada.auth.me(),
        ada.auth.refresh(),
        ada.auth.me(),
        ada.conversations.list(),
        ada.auth.me(),
      ])
      expect((await ada.auth.me()).user.username).toBe('ada')
    }
    await service.close()
  })

  it('keeps the newest sign-in when the clock has stepped back', async () => {
    let now = Date.UTC(2026, 0, 1) * 1000
    const service = await startService(await openUrl(), { ports: { now: () => now } })
    const sessions = []
    for (let i = 0; i < 5; i++) sessions.push(await service.signIn('ada'))
    now -= 3600 * SECOND
    const newest = await service.signIn('ada')
    expect((await newest.auth.me()).user.username).toBe('ada')
    await service.close()
  })

  it('releases streams whose requests were pipelined', async () => {
    const service = await startService(await openUrl())
    const { ada, conversation_id } = await startThread(service)
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const { port } = new URL(service.base_url)
    const socket = connect(Number(port), '127.0.0.1')
    const request = `GET /api/stream/conversations/${conversation_id} HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`
    socket.write(request.repeat(5))
    await once(socket, 'data')
    socket.destroy()
    const { hub } = innerState(service).streams
    while (hub.size() > 0 || hub.countStreams(ada.id) > 0) await new Promise((resolve) => setImmediate(resolve))
    await service.close()
  })

  it('lowers a limit to its maximum, and accepts instants only in RFC 3339', async () => {
    const service = await startService(await openUrl())
    const { ada, conversation_id } = await startThread(service)
    for (let i = 0; i < 51; i++) await ada.users.create({ username: `us${i}`, email: `u${i}@example.org` })
    expect((await ada.users.search({ query: 'us', limit: 1e9 })).users).toHaveLength(50)
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const list = async (query: string) =>
      (
        await checkedFetch(`${service.base_url}/api/conversations/${conversation_id}/threads?${query}`, {
          headers: { cookie },
        })
      ).status
    expect(await list('limit=100000000000000000000')).toBe(200)
    for (const after of ['2030-11-20T10:00:00%2B02', '2030-02-31T00:00:00Z', '2030-11-20%2010:00:00Z']) {
      expect(await list(`after=${after}`), after).toBe(422)
    }
    await service.close()
  })
})

it('writes nothing to a deleted database file', async () => {
  const { url, remove } = await createSqliteFile()
  const service = await startService(url)
  await service.signIn('ada')
  rmSync(url.slice('sqlite:'.length))
  // Each node notices it by itself, and they respond in turn.
  for (let noticed = 0; noticed < service.nodes.length; ) {
    const { status } = await checkedFetch(`${service.base_url}/readyz`)
    noticed = status === 503 ? noticed + 1 : 0
  }
  expect(await codeOf(service.client().auth.login({ email: 'ada@example.org', password: PASSWORD }))).toBe(
    'unavailable',
  )
  await service.close()
  await remove()
})
