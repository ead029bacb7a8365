import { afterEach, beforeAll, expect, it } from 'vitest'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import { startFollowers } from '../fault/followers.ts'
import { type ServerProcess, startProcess } from '../fault/process.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes } from '../support/describe-service.ts'
import { PASSWORD, startService, type TestService, times } from '../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../support/stream.ts'
import {
  headersOf,
  isNews,
  positionOf,
  range,
  readAnew,
  seqOf,
  seqsOf,
  startReading,
  typesOf,
  withSeq,
} from './readers.ts'

describeOnEachDatabase('two nodes on one database', (openUrl) => {
  let url: string
  const [here, there] = setUpNodes(async () => {
    url = await openUrl()
    const config = { sse: { max_streams_per_user: 1000 }, session: { max_sessions_per_user: 50 } }
    return [await startService(url, { config }), await startService(url, { config })]
  })
  let reading: Awaited<ReturnType<typeof startReading>>
  const streams: TestStream[] = []
  beforeAll(async () => {
    reading = await startReading(here)
  })
  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.close())))

  async function open(node: TestService, options: { cookie: string; last_event_id?: string }): Promise<TestStream> {
    const stream = await openStream(node.base_url, reading.conversation_id, options)
    streams.push(stream)
    return stream
  }
  const begin = async () => {
    reading = await readAnew(reading)
    return { ...reading, params: { conversation_id: reading.conversation_id } }
  }

  it('deliver what is posted on one to the readers of the other, once and in order', async () => {
    const { ada, conversation_id, root, cookie } = await begin()
    const position = await positionOf(ada, conversation_id)
    const far = await open(there, { cookie })
    const near = await open(here, { cookie })
    await far.until('stream.ready')
    await near.until('stream.ready')
    const posted = []
    for (let i = 0; i < 5; i++) {
      const params = { parent_id: root.message_id }
      posted.push((await ada.messages.reply(params.parent_id, { content: `${i}` })).message)
    }
    for (const stream of [far, near]) {
      const last = posted.at(-1)!
      const seen = await stream.until('message.new', (event) => JSON.stringify(event).includes(last.id))
      const persisted = seen.filter(({ id }) => id)
      // With the thread as it is when the event is sent.
      const thread = expect.objectContaining({ root_id: root.message_id, last_replier_ids: [ada.id] })
      expect(persisted.map(({ event }) => event.payload)).toEqual(posted.map((message) => ({ message, thread })))
      expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(position) + 5))
    }
  })

  it('number concurrent posts on both in one order', async () => {
    const { ada, conversation_id, params, cookie } = await begin()
    const position = await positionOf(ada, conversation_id)
    const readers = await Promise.all([here, there, here, there].map((node) => open(node, { cookie })))
    for (const stream of readers) await stream.until('stream.ready')
    const actor = await here.chat.users.actor(ada.id)
    await Promise.all(
      times(60, (i) =>
        (i % 2 ? here : there).chat.messages.postRoot(actor, params.conversation_id, { content: `${i}` }),
      ),
    )
    const last = await positionOf(ada, conversation_id)
    const told = await Promise.all(
      readers.map(async (stream) => {
        const seen: ReceivedEvent[] = []
        while (seen.at(-1)?.id !== last) seen.push((await stream.next())!)
        const log = seen.filter(({ id }) => id)
        return log.map(({ id, event }) => [id, event.type, event.type === 'message.new' && event.payload])
      }),
    )
    expect(told[0]!.map(([id]) => seqOf(id as string))).toEqual(range(seqOf(position), seqOf(position) + 120))
    for (const each of told) expect(each).toEqual(told[0])
  })

  it('miss nothing that is committed on one while a reader attaches to the other', async () => {
    const { ada, conversation_id, params, cookie } = await begin()
    const from = await positionOf(ada, conversation_id)
    const actor = await here.chat.users.actor(ada.id)
    const followers = []
    let position = from
    for (let i = 0; i < 40; i++) {
      // Commits continue while the reader's rights, position and missed events are looked up.
      const posts = times(8, (k) =>
        here.chat.messages.postRoot(actor, params.conversation_id, { content: `${i}/${k}` }),
      )
      followers.push(
        startFollowers({ target: () => there.base_url, conversation_id, cookie, from: position, readers: 1 }),
      )
      await Promise.all(posts)
      if (i % 4 === 0) position = await positionOf(ada, conversation_id)
    }
    const last = await positionOf(ada, conversation_id)
    const figures = await Promise.all(followers.map((each) => each.finish(last)))
    expect(figures.flatMap(({ faults }) => faults)).toEqual([])
    expect([...figures[0]!.log.keys()]).toEqual(range(seqOf(from), seqOf(last)))
  })

  it('take over each other’s readers by their last id', async () => {
    const { ada, conversation_id, params, cookie } = await begin()
    const position = await positionOf(ada, conversation_id)
    let last = position
    const seqs: number[] = []
    for (let i = 0; i < 6; i++) {
      await ada.messages.postRoot(params.conversation_id, { content: `${i}` })
      const stream = await open(i % 2 ? here : there, { cookie, last_event_id: last })
      const seen = await stream.until('message.new')
      expect(seen[0]!.event.payload).toMatchObject({ resumed: true })
      seqs.push(...seqsOf(seen))
      last = seen.at(-1)!.id!
      await stream.close()
    }
    expect(seqs).toEqual(range(seqOf(position), seqOf(position) + 12))
  })

  it('end streams on the other on logout and on removal, and accept no reconnect', async () => {
    const { ada, grace, conversation_id, params } = await begin()
    const headers = await headersOf(here, grace)
    const graces = await headersOf(here, grace)
    const [first, second, other] = [await open(there, headers), await open(there, graces), await open(there, reading)]
    for (const stream of [first, second, other]) await stream.until('stream.ready')

    await fetch(`${here.base_url}/api/auth/logout`, { method: 'POST', headers })
    const loggedOut = await openStream(there.base_url, conversation_id, headers)
    expect(loggedOut.response.status).toBe(401)
    const ended = await first.until('stream.closed')
    expect(ended.at(-1)!.event.payload).toEqual({ reason: 'session_ended' })

    await ada.participants.remove(params.conversation_id, grace.id)
    await ada.messages.postRoot(params.conversation_id, { content: 'without her' })
    const removed = await second.until('stream.closed')
    expect(typesOf(removed)).toEqual(['membership.changed', 'stream.closed'])
    expect(removed.at(-1)!.event.payload).toEqual({ reason: 'removed' })
    expect((await openStream(there.base_url, conversation_id, graces)).response.status).toBe(404)
    expect(typesOf(await other.until('message.new'))).toEqual(['membership.changed', 'thread.new', 'message.new'])
  })

  it('may be two processes', async () => {
    const { ada, conversation_id, params } = await begin()
    const position = await positionOf(ada, conversation_id)
    let other: ServerProcess | undefined
    try {
      other = await startProcess(url)
      const { cookie, ...csrf } = await signInByHand(other.base_url, ada.email, PASSWORD)
      const far = await openStream(other.base_url, conversation_id, { cookie })
      streams.push(far)
      const near = await open(here, { cookie })
      await far.until('stream.ready')
      await near.until('stream.ready')
      await ada.messages.postRoot(params.conversation_id, { content: 'here' })
      const answer = await fetch(`${other.base_url}/api/threads/${conversation_id}/root`, {
        method: 'POST',
        headers: { cookie, ...csrf, 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'there' }),
      })
      expect(answer.status).toBe(201)
      const [mine, theirs] = [near, far].map(async (stream) => {
        const seen = [...(await stream.until('message.new')), ...(await stream.until('message.new'))]
        return seen.filter(isNews)
      })
      expect((await mine)!.map(({ id }) => id)).toEqual([1, 2, 3, 4].map((i) => withSeq(position, seqOf(position) + i)))
      expect(await theirs).toEqual(await mine)

      const logout = await fetch(`${other.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, ...csrf } })
      expect(logout.status).toBe(204)
      for (const stream of [near, far]) expect(typesOf(await stream.until('stream.closed'))).toEqual(['stream.closed'])
    } finally {
      await other?.kill()
    }
  })
})
