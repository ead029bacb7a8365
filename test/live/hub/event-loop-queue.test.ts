import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { ChatError } from '../../../lib/index.ts'
import { createEventLoopQueue } from '../../../lib/live/hub/event-loop-queue.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, startService, times } from '../../support/service.ts'
import { holdStorage, readsLog, type Which } from '../held.ts'
import { inTens, positionOf, seqOf, soon, startReading, turns } from '../readers.ts'

const READERS = 12
const PAGE_BYTES = 16 * 1024

describeOnEachDatabase('streams that resume at the same time', (openUrl) => {
  const held = holdStorage()
  const service = setUpService(async () => {
    const config = { sse: { max_buffer_bytes: PAGE_BYTES } }
    return startService(await openUrl(), { wrap: held.wrap, config })
  })
  let thread: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    thread = await startReading(service)
  })
  afterEach(() => held.reset())

  /** A conversation with two pages of events after an id. */
  async function fillConversation() {
    const { ada } = thread
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    const last_event_id = await positionOf(ada, conversation_id)
    for (let i = 0; i < 2; i++) await ada.messages.postRoot(conversation_id, { content: 'x'.repeat(PAGE_BYTES) })
    return { conversation_id, last_event_id, last: seqOf(await positionOf(ada, conversation_id)) }
  }

  /**
   * Streams, each of a conversation of its own, that have been sent the first page of their missed events; `release` lets all
   * of them continue.
   */
  async function resumeTogether() {
    const conversations = await inTens(READERS, fillConversation)
    const lastOf = new Map(conversations.map(({ conversation_id, last }) => [conversation_id, last]))
    const actor = await service.chat.users.actor(thread.ada.id)
    let arrived = 0
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const open = async ({ conversation_id, last_event_id }: (typeof conversations)[number]) => {
      const reader = { leave: () => {}, messages: 0, hasEnded: false }
      const opening = await service.chat.events.open(actor, conversation_id, { last_event_id })
      reader.leave = opening.connect({
        write({ events }) {
          reader.messages += events.filter(({ event }) => event.type === 'message.new').length
        },
        pending: () => 0,
        drained() {
          arrived++
          return released
        },
        end() {
          reader.hasEnded = true
        },
      })
      return reader
    }
    const readers = await Promise.all(conversations.map(open))
    await soon(() => expect(arrived).toBe(READERS))
    expect(readers.map((each) => each.messages)).toEqual(times(READERS, () => 1))
    // Without the reads of the log when its end moves.
    const readsPage: Which = (sql, params) =>
      readsLog()(sql, params) && Number(params[1]) < (lastOf.get(String(params[0])) ?? 0)
    const before = held.count(readsPage)
    return { readers, release, readsPage, pagesRead: () => held.count(readsPage) - before }
  }

  it('read one missed page each per turn of the event loop', async () => {
    const { readers, release, pagesRead } = await resumeTogether()
    const highestCounts: number[] = []
    release()
    while (pagesRead() < READERS) {
      await nextTurn()
      highestCounts.push(pagesRead())
    }
    expect(new Set(highestCounts.filter((count) => count > 0))).toEqual(new Set(times(READERS, (i) => i + 1)))
    await soon(() => expect(readers.filter((each) => each.messages < 2)).toEqual([]))
    for (const each of readers) each.leave()
  })

  it('take no turn of the others when they are closed while they wait', async () => {
    const { readers, release, pagesRead } = await resumeTogether()
    release()
    // In the same turn of the event loop: all of them wait, and none has continued.
    for (let i = 0; i < 100; i++) await null
    expect(pagesRead()).toBe(0)
    const [last, ...closed] = readers.toReversed()
    for (const each of closed) each.leave()
    await soon(() => expect(last!.messages).toBe(2))
    await turns()
    expect(pagesRead()).toBe(1)
    expect(closed.filter((each) => each.messages > 1 || !each.hasEnded)).toEqual([])
    last!.leave()
    expect(innerState(service).streams.hub.size()).toBe(0)
  })

  it('are served also when one before them fails', async () => {
    const { readers, release, readsPage } = await resumeTogether()
    let isFirst = true
    const readsFirstPage: Which = (sql, params) => {
      const isIt = isFirst && readsPage(sql, params)
      if (isIt) isFirst = false
      return isIt
    }
    held.fail(readsFirstPage, new ChatError('unavailable'))
    release()
    const served = () => readers.filter((each) => each.messages === 2)
    await soon(() => expect(served()).toHaveLength(READERS - 1))
    // On PostgreSQL any of them may be the first.
    const failed = readers.find((each) => !served().includes(each))
    await soon(() => expect(failed).toMatchObject({ messages: 1, hasEnded: true }))
    expect(served().filter((each) => each.hasEnded)).toEqual([])
    for (const each of readers) each.leave()
  })
})

it('let one entry continue per turn of the event loop, and release those that leave at once', async () => {
  const { take, leave } = createEventLoopQueue<number>(16)
  const done: number[] = []
  const left: number[] = []
  const results = times(5, async (i) => {
    const result = await take(i, async () => done.push(i))
    if (result === undefined) left.push(i)
  })
  leave(1)
  leave(3)
  leave(3)
  await null
  await null
  expect([done, left]).toEqual([[], [1, 3]])
  for (const next of [0, 2, 4]) {
    await nextTurn()
    expect(done.at(-1)).toBe(next)
  }
  await Promise.all(results)
  // An empty queue starts again.
  expect(await take(5, async () => 'again')).toBe('again')
})

it('let as many begin together as may work at the same time when requests have kept them waiting', async () => {
  const answers: (boolean | 'overdue')[] = [false, true, false, 'overdue', false, 'overdue']
  const { take } = createEventLoopQueue<number>(3, () => answers.shift() ?? false)
  const started: number[] = []
  let endFirst = () => {}
  void times(8, (i) =>
    take(i, async () => {
      started.push(i)
      if (i === 0) await new Promise<void>((resolve) => (endFirst = resolve))
    }),
  )
  const startedAfter: number[] = []
  for (let turn = 0; turn < 6; turn++) {
    await nextTurn()
    startedAfter.push(started.length)
  }
  // The first one is still at work.
  expect(startedAfter).toEqual([0, 1, 1, 3, 3, 5])
  expect(started).toEqual([0, 1, 2, 3, 4])
  endFirst()
})

it('let no more than some work at the same time, and the next when one ends, also with a failure', async () => {
  const { take } = createEventLoopQueue<number>(2)
  const started: number[] = []
  const ends: (() => void)[] = []
  const works = times(4, (i) =>
    take(i, () => {
      started.push(i)
      return new Promise<void>((resolve, reject) => ends.push(i === 0 ? () => reject(new Error('failed')) : resolve))
    }),
  )
  const failed = expect(works[0]).rejects.toThrow('failed')
  for (const _ of times(5, () => 0)) await nextTurn()
  expect(started).toEqual([0, 1])
  ends[0]!()
  await failed
  for (const _ of times(5, () => 0)) await nextTurn()
  expect(started).toEqual([0, 1, 2])
  ends[1]!()
  await soon(() => expect(started).toEqual([0, 1, 2, 3]))
  for (const end of ends.slice(2)) end()
  await Promise.all(works.slice(1))
})
