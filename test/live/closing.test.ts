import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { currentMicros } from '../../lib/core/time.ts'
import { SECOND } from '../../lib/core/units.ts'
import { openStorage } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { placementOf } from '../support/placement.ts'
import { innerState, PASSWORD, startService, startThread, times } from '../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../support/stream.ts'
import { headersOf, poll, soon, typesOf } from './readers.ts'

const SESSIONS = 3

describeOnEachDatabase('the server ends a stream', (openUrl) => {
  let url: string
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url, {
      config: { session: { max_sessions_per_user: SESSIONS, idle_seconds: 600, absolute_seconds: 3600 } },
      ports: { now: () => now },
    })
  })
  let thread: Awaited<ReturnType<typeof startThread>>
  let now = currentMicros()
  const streams: TestStream[] = []
  beforeAll(async () => {
    thread = await startThread(service)
  })
  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()))
    await soon(() => expect(innerState(service).streams.hub.size()).toBe(0))
  })

  const call = (path: string, headers: Record<string, string>, method = 'POST') =>
    fetch(`${service.base_url}/api/auth/${path}`, { method, headers })
  const signIn = (name = 'grace') => signInByHand(service.base_url, `${name}@example.org`, PASSWORD)

  /** A stream that gets live events. */
  async function open(headers: { cookie: string }): Promise<TestStream> {
    const stream = await openStream(service.base_url, thread.conversation_id, headers)
    streams.push(stream)
    await stream.until('stream.ready')
    return stream
  }

  /** The reason with which a stream ended; no other event comes before or after it. */
  async function reasonOf(stream: TestStream, before: string[] = []): Promise<unknown> {
    const seen = await stream.until('stream.closed')
    expect(typesOf(seen)).toEqual([...before, 'stream.closed'])
    expect(seen.at(-1)!.id).toBeUndefined()
    expect(await stream.next()).toBeUndefined()
    return seen.at(-1)!.event.payload
  }

  /** Fails when the stream does not continue. */
  async function expectOpen(...open: TestStream[]): Promise<void> {
    const actor = await service.chat.users.actor(thread.ada.id)
    const { message_id } = await service.chat.messages.postRoot(actor, thread.conversation_id, { content: 'still?' })
    for (const stream of open) await stream.until('message.new', (event) => JSON.stringify(event).includes(message_id))
  }

  describe('with session_ended', () => {
    const ENDED = { reason: 'session_ended' }

    it('on logout, and only of that session', async () => {
      const [mine, other] = [await signIn(), await signIn()]
      const [first, second, third] = [await open(mine), await open(mine), await open(other)]
      expect((await call('logout', mine)).status).toBe(204)
      expect([await reasonOf(first), await reasonOf(second)]).toEqual([ENDED, ENDED])
      expect((await openStream(service.base_url, thread.conversation_id, mine)).response.status).toBe(401)
      await expectOpen(third)
    })

    it('when a new sign-in takes the place of the session', async () => {
      const headers = await signIn()
      const stream = await open(headers)
      const again = await fetch(`${service.base_url}/api/auth/login`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ email: thread.grace.email, password: PASSWORD }),
      })
      expect(again.status).toBe(200)
      expect(await reasonOf(stream)).toEqual(ENDED)
    })

    it('when too many sessions evict the oldest one', async () => {
      const sessions = []
      for (let i = 0; i < SESSIONS; i++) {
        now += SECOND
        sessions.push(await signIn())
      }
      const [oldest, ...others] = await Promise.all(sessions.map(open))
      now += SECOND
      await signIn()
      expect(await reasonOf(oldest!)).toEqual(ENDED)
      await expectOpen(...others)
    })

    it('when another process has disabled the user', async () => {
      await service.signIn('kim')
      const [kim, ada] = [await signIn('kim'), await signIn('ada')]
      const { user } = (await (await call('me', kim, 'GET')).json()) as { user: { id: string } }
      const params = { conversation_id: thread.conversation_id }
      await thread.ada.participants.add(params.conversation_id, { user_id: user.id })
      const [disabled, other] = [await open(kim), await open(ada)]
      const elsewhere = await openStorage({ database: url, ...placementOf(url) })
      await elsewhere.db.run(sql`UPDATE users SET disabled_at = ${now} WHERE id = ${user.id}`)
      await elsewhere.close()
      // No call of the test starts the check: the service does so by itself.
      expect(await reasonOf(disabled)).toEqual(ENDED)
      expect((await call('me', kim, 'GET')).status).toBe(401)
      await expectOpen(other)
    })

    it('when another process has ended the session', async () => {
      const stream = await open(await signIn())
      const elsewhere = await openStorage({ database: url, ...placementOf(url) })
      await elsewhere.db.run(sql`DELETE FROM sessions WHERE user_id = ${thread.grace.id}`)
      await elsewhere.close()
      await poll(service.chat)
      expect(await reasonOf(stream)).toEqual(ENDED)
    })

    it('when it is idle for too long: an open stream is no use', async () => {
      const [unused, used] = [await signIn(), await signIn()]
      const [first, second] = [await open(unused), await open(used)]
      now += 500 * SECOND
      expect((await call('me', used, 'GET')).status).toBe(200)
      now += 100 * SECOND
      await poll(service.chat)
      await expectOpen(first, second)
      now += 1
      await poll(service.chat)
      expect(await reasonOf(first)).toEqual(ENDED)
      await expectOpen(second)
      now += 500 * SECOND
      await poll(service.chat)
      expect(await reasonOf(second)).toEqual(ENDED)
    })

    it('when it reaches its absolute limit, used or not', async () => {
      const headers = await signIn()
      const stream = await open(headers)
      for (let passed = 500; passed <= 3500; passed += 500) {
        now += 500 * SECOND
        expect((await call('me', headers, 'GET')).status).toBe(200)
        await poll(service.chat)
      }
      now += 100 * SECOND
      await poll(service.chat)
      await expectOpen(stream)
      now += 1
      await poll(service.chat)
      expect(await reasonOf(stream)).toEqual(ENDED)
    })

    it('but not on refresh', async () => {
      const headers = await signIn()
      const stream = await open(headers)
      expect((await call('refresh', headers)).status).toBe(200)
      await poll(service.chat)
      await expectOpen(stream)
    })
  })

  describe('with removed', () => {
    const params = () => ({ conversation_id: thread.conversation_id })
    const REMOVED = { reason: 'removed' }

    it('when the participant is removed, after the event about it', async () => {
      now += SECOND
      const ada = await service.signIn('ada')
      const max = await service.signIn('max')
      await ada.participants.add(params().conversation_id, { user_id: max.id })
      const [first, second] = [await open(await headersOf(service, max)), await open(await headersOf(service, max))]
      const other = await open(await headersOf(service, ada))
      await ada.participants.remove(params().conversation_id, max.id)
      for (const stream of [first, second]) expect(await reasonOf(stream, ['membership.changed'])).toEqual(REMOVED)
      const told = (await other.until('membership.changed')).at(-1)
      expect(told!.event.payload).toEqual({ ...params(), user_id: max.id, action: 'removed' })
      await expectOpen(other)

      await ada.participants.add(params().conversation_id, { user_id: max.id })
      await expectOpen(await open(await headersOf(service, max)))
    })

    it('when the participant leaves', async () => {
      now += SECOND
      const ada = await service.signIn('ada')
      const leo = await service.signIn('leo')
      await ada.participants.add(params().conversation_id, { user_id: leo.id })
      const stream = await open(await headersOf(service, leo))
      await leo.participants.remove(params().conversation_id, leo.id)
      expect(await reasonOf(stream, ['membership.changed'])).toEqual(REMOVED)
    })
  })

  it('with draining, all of them, and accepts no new one', async () => {
    const node = await startService(url, { ports: { now: () => now } })
    const cookies = await Promise.all(times(3, () => headersOf(node, thread.ada)))
    const open = await Promise.all(
      cookies.map(async (headers) => {
        const stream = await openStream(node.base_url, thread.conversation_id, headers)
        await stream.until('stream.ready')
        return stream
      }),
    )
    node.chat.drain()
    for (const stream of open) expect(await reasonOf(stream)).toEqual({ reason: 'draining' })
    const refused = await openStream(node.base_url, thread.conversation_id, cookies[0]!)
    expect(refused.response.status).toBe(503)
    expect(refused.response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(await refused.response.json()).toMatchObject({ code: 'unavailable' })
    expect((await fetch(`${node.base_url}/readyz`)).status).toBe(503)
    // Everything else continues until it is closed.
    expect((await fetch(`${node.base_url}/api/auth/me`, { headers: cookies[0]! })).status).toBe(200)
    await node.close()
  })
})
