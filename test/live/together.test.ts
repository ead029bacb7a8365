import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Delivered } from '../../lib/live/readers/delivery.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { startService, times } from '../support/service.ts'
import { holdStorage, readsHead, readsLog } from './held.ts'
import { positionOf, seqOf, startReading, withSeq } from './readers.ts'

describeOnEachDatabase('streams of one conversation that resume together', (openUrl, dialect) => {
  const READERS = 40
  const held = holdStorage()
  const service = setUpService(async () => {
    const config = { sse: { max_streams_per_user: 200 } }
    return startService(await openUrl(), { wrap: held.wrap, config })
  })
  let thread: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    thread = await startReading(service)
  })
  afterEach(() => held.reset())

  it('share the reads of its log, and each gets what it has missed', async () => {
    const { ada, conversation_id } = thread
    await Promise.all(times(5, (n) => ada.messages.postRoot(conversation_id, { content: `${n}` })))
    const last_event_id = withSeq(await positionOf(ada, conversation_id), 0)
    const last = seqOf(await positionOf(ada, conversation_id))
    const actor = await service.chat.users.actor(ada.id)
    const openings = await Promise.all(
      times(READERS, () => service.chat.events.open(actor, conversation_id, { last_event_id })),
    )
    const [heads, pages] = [held.count(readsHead), held.count(readsLog(0))]
    const isMissed = ({ id, event }: Delivered) => id !== undefined && event.type !== 'stream.ready'
    const seen = times(READERS, (): number[] => [])
    const bytes = new Set<Uint8Array>()
    const leaves = openings.map((opening, n) =>
      opening.connect({
        write(delivery) {
          if (delivery.events.some(({ seq }) => seq === 1)) bytes.add(delivery.bytes)
          seen[n]!.push(...delivery.events.filter(isMissed).map(({ id }) => seqOf(id!)))
        },
        pending: () => 0,
        drained: () => Promise.resolve(),
        end() {},
      }),
    )
    await vi.waitUntil(() => seen.every((seqs) => seqs.at(-1) === last), { timeout: 30_000 })
    expect(seen).toEqual(times(READERS, () => times(last, (n) => n + 1)))
    // On SQLite each costs microseconds.
    if (dialect === 'postgresql') expect(held.count(readsHead) - heads).toBeLessThanOrEqual(4)
    expect(held.count(readsLog(0)) - pages).toBeLessThanOrEqual(4)
    expect(bytes.size).toBeLessThanOrEqual(4)
    for (const leave of leaves) leave()
  })

  it('close only those that have lost their right while they wait for a page', async () => {
    const { ada, grace, conversation_id } = thread
    const position = await positionOf(ada, conversation_id)
    await ada.messages.postRoot(conversation_id, { content: 'for members' })
    const from = seqOf(position)
    const page = held.hold(readsLog(from), 'after')
    const follow = async (id: string) =>
      service.chat.events.follow(await service.chat.users.actor(id), conversation_id, { last_event_id: position })
    const [mine, hers] = [await follow(ada.id), await follow(grace.id)]
    await Promise.all([mine.next(), hers.next()])
    const [next, hersNext] = [mine.next(), hers.next()]
    await page.reached
    await ada.participants.remove(conversation_id, grace.id)
    page.release()
    expect(JSON.stringify((await next).value)).toContain('for members')
    const told = [(await hersNext).value!]
    for await (const each of hers) told.push(each)
    expect(told.at(-1)!.event).toEqual({ type: 'stream.closed', payload: { reason: 'removed' } })
    await mine.return(undefined)
  })
})
