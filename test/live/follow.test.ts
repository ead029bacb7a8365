import { getEventListeners } from 'node:events'
import { beforeAll, expect, it } from 'vitest'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import type { Actor } from '../../lib/index.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, innerState, startService, times } from '../support/service.ts'
import { inTens, isNews, positionOf, range, readAnew, seqOf, seqsOf, startReading, turns, typesOf } from './readers.ts'

const BUFFER = 100_000

describeOnEachDatabase('chat.events.follow', (openUrl) => {
  const service = setUpService(async () => {
    const config = { sse: { max_buffer_bytes: BUFFER, max_streams_per_user: 2 } }
    return startService(await openUrl(), { config })
  })
  let reading: Awaited<ReturnType<typeof startReading>>
  let actor: Actor
  beforeAll(async () => {
    reading = await startReading(service)
    actor = await service.chat.users.actor(reading.ada.id)
  })

  const begin = async () => {
    reading = await readAnew(reading)
    const { conversation_id } = reading
    return {
      ...reading,
      follow: (options = {}) => newsOf(service.chat.events.follow(actor, conversation_id, options)),
      post: (content = 'x') => service.chat.messages.postRoot(actor, conversation_id, { content }),
      position: await positionOf(reading.ada, conversation_id),
    }
  }
  async function* newsOf(events: AsyncGenerator<ReceivedEvent>): AsyncGenerator<ReceivedEvent> {
    for await (const received of events) if (isNews(received)) yield received
  }
  const open = () => innerState(service).streams.hub.countStreams(actor.user_id)

  it('yields missed events, then live ones; leaving the loop frees the place', async () => {
    const { conversation_id, follow, post, position } = await begin()
    await post('missed')
    const seen = []
    for await (const delivered of follow({ last_event_id: position })) {
      seen.push(delivered)
      expect(open()).toBe(1)
      if (seen.length === 3) await post('live')
      if (seen.length === 5) break
    }
    expect(open()).toBe(0)
    expect(typesOf(seen)).toEqual(['stream.ready', 'thread.new', 'message.new', 'thread.new', 'message.new'])
    expect(seen[0]!.event.payload).toMatchObject({ conversation_id, resumed: true, last_event_id: position })
    expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(position) + 4))
  })

  it('of all conversations waits for a user without one, and has those joined later', async () => {
    const { id } = await service.signIn('newcomer')
    const newcomer = await service.chat.users.actor(id)
    const seen: string[] = []
    for await (const { event } of service.chat.events.followAll(newcomer)) {
      seen.push(event.type)
      if (event.type === 'stream.ready') setImmediate(() => void service.chat.conversations.create(newcomer))
      if (event.type === 'membership.changed') break
    }
    expect(seen[0]).toBe('stream.ready')
    expect(seen).not.toContain('stream.closed')
  })

  it('ends when its signal is aborted: before it begins, while it waits, and between two events', async () => {
    const { follow, post, position } = await begin()
    const seen: string[] = []
    for await (const { event } of follow({ signal: AbortSignal.abort() })) seen.push(event.type)
    expect(seen).toEqual([])

    const waiting = new AbortController()
    const stream = follow({ signal: waiting.signal })
    expect((await stream.next()).value!.event.type).toBe('stream.ready')
    const next = stream.next()
    await turns()
    waiting.abort()
    expect(await next).toEqual({ value: undefined, done: true })

    for (let i = 0; i < 3; i++) await post()
    const between = new AbortController()
    for await (const { event } of follow({ last_event_id: position, signal: between.signal })) {
      seen.push(event.type)
      if (seen.length === 3) between.abort()
    }
    expect(seen).toEqual(['stream.ready', 'thread.new', 'message.new'])
    expect(open()).toBe(0)
    for (const { signal } of [waiting, between]) expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('frees the place when the loop throws', async () => {
    const { follow } = await begin()
    const loop = (async () => {
      for await (const { event } of follow()) throw new Error(event.type)
    })()
    await expect(loop).rejects.toThrow('stream.ready')
    expect(open()).toBe(0)
  })

  it('opens nothing before the first step', async () => {
    const { follow } = await begin()
    const stream = follow()
    await turns()
    expect(open()).toBe(0)
    await stream.return(undefined)
    expect(await stream.next()).toEqual({ value: undefined, done: true })
  })

  it('has the limits and rights of the route', async () => {
    const { eve, conversation_id, follow } = await begin()
    const outsider = await service.chat.users.actor(eve.id)
    expect(await codeOf(service.chat.events.follow(outsider, conversation_id).next())).toBe('not_found')
    expect(await codeOf(service.chat.events.follow(actor, 'x').next())).toBe('not_found')
    const streams = [follow(), follow()]
    for (const stream of streams) await stream.next()
    expect(await codeOf(follow().next())).toBe('too_many_streams')
    for (const stream of streams) await stream.return(undefined)
    await (await begin()).follow().return(undefined)
    expect(open()).toBe(0)
  })

  it('ends with session_ended when the session of its actor ends', async () => {
    const { ada, conversation_id } = await begin()
    const signedIn = await service.chat.auth.login({}, { email: ada.email, password: 'correct horse battery' })
    const visitor = await service.chat.auth.authenticate(new Headers({ cookie: `SESSION_ID=${signedIn.token}` }))
    const seen = []
    for await (const { event } of service.chat.events.follow(visitor, conversation_id)) {
      seen.push(event)
      if (event.type === 'stream.ready') await service.chat.auth.logout(visitor)
    }
    expect(seen.at(-1)).toEqual({ type: 'stream.closed', payload: { reason: 'session_ended' } })
  })

  it('closes a loop that does not read as too slow, buffers little for it, and can be resumed', async () => {
    const { follow, post, ada, conversation_id, position } = await begin()
    const stream = follow()
    const seen = []
    const take = async () => void seen.push((await stream.next()).value!)
    // Caught up once a post finds the loop waiting: from then on, events are passed to it.
    await take()
    for (let i = 0; i < 2; i++) {
      const waiting = take()
      await post()
      await waiting
      await take()
    }
    const content = 'x'.repeat(20_000)
    for (let i = 0; open() === 1; i++) {
      await post(content)
      await turns()
      expect(i).toBeLessThan(20)
    }
    for await (const delivered of stream) seen.push(delivered)
    expect(seen.at(-1)!.event).toEqual({ type: 'stream.closed', payload: { reason: 'too_slow' } })
    expect(JSON.stringify(seen).length).toBeLessThan(2 * BUFFER)

    const last = seen.findLast(({ id }) => id)!.id!
    expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(last)))
    const end = await positionOf(ada, conversation_id)
    const rest = []
    for await (const delivered of follow({ last_event_id: last })) {
      rest.push(delivered)
      if (delivered.id === end) break
    }
    expect(seqsOf(rest)).toEqual(range(seqOf(last), seqOf(end)))
  })

  it('continues with a loop that is never fully caught up but not far behind', async () => {
    const { follow, post, ada, conversation_id, position } = await begin()
    const stream = follow()
    await stream.next()
    const content = 'x'.repeat(20_000)
    const seen = []
    await post(content)
    for (let i = 0; i < 15; i++) {
      await post(content)
      await turns()
      for (const _ of times(2, () => 0)) seen.push((await stream.next()).value!)
    }
    for (const _ of times(2, () => 0)) seen.push((await stream.next()).value!)
    expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(await positionOf(ada, conversation_id))))
    await stream.return(undefined)
  })

  it('yields all of a long replay to a slow loop', async () => {
    const { follow, post, ada, conversation_id, position } = await begin()
    await inTens(100, () => post('x'.repeat(3_000)))
    const end = await positionOf(ada, conversation_id)
    const seen = []
    for await (const delivered of follow({ last_event_id: position })) {
      seen.push(delivered)
      await turns(1)
      if (delivered.id === end) break
    }
    expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(end)))
  })
})
