import { afterAll, beforeAll, expect, it } from 'vitest'
import { startFollowers } from '../fault/followers.ts'
import { type Place, settle } from '../fault/people.ts'
import { type ServerProcess, startProcess } from '../fault/process.ts'
import { openRaw } from '../fault/raw-reader.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { times } from '../support/service.ts'
import { range, seqOf, soon } from './readers.ts'

const STALLED = 15
const HEALTHY = 3
const POSTS = 200
const MEGABYTE = 1024 * 1024

describeOnEachDatabase('readers that stop reading', (openUrl) => {
  // In its own process, so that its memory is separate from that of its clients.
  let server: ServerProcess
  let place: Place
  beforeAll(async () => {
    server = await startProcess(await openUrl(), { config: { sse: { max_streams_per_user: 1000 } } })
    place = await settle(server.base_url)
  })
  afterAll(() => server.kill())

  it('are closed, use little memory, slow no other reader down, and miss nothing when they reconnect', async () => {
    const { base_url } = server
    const { conversation_id } = place
    const [ada, cookie] = [await place.signIn(), await place.cookie()]
    const position = async () => (await ada.conversations.get(conversation_id)).stream_position!
    const from = await position()
    const reader = { conversation_id, cookie, from, target: () => base_url }
    const healthy = startFollowers({ ...reader, readers: HEALTHY })
    const seen = times(STALLED, (): string[] => [])
    const stalled = seen.map((ids) =>
      openRaw({
        base_url,
        conversation_id,
        cookie,
        last_event_id: from,
        paused: true,
        onEvent: ({ id, event }) => void (id && event.type !== 'stream.ready' && ids.push(id)),
      }),
    )
    await soon(async () => expect(await server.metric('chat_streams_open')).toBe(STALLED + HEALTHY))

    const before = await server.metric('process_resident_memory_bytes')
    let highest = before
    for (let i = 0; i < POSTS; i += 4) {
      const body = { content: `${i} ${'x'.repeat(60_000)}` }
      await Promise.all(times(4, () => ada.messages.postRoot(conversation_id, body)))
      highest = Math.max(highest, await server.metric('process_resident_memory_bytes'))
    }
    expect(highest - before).toBeLessThan(150 * MEGABYTE)
    expect(await server.metric('chat_streams_dropped_total')).toBe(STALLED)
    const last = await position()
    const told = await healthy.finish(last)
    expect(told).toMatchObject({ faults: [], reconnects: 0 })
    expect([...told.log.keys()]).toEqual(range(seqOf(from), seqOf(last)))

    stalled[0]!.resume()
    await stalled[0]!.over
    const reached = seen[0]!.at(-1) ?? from
    expect(seen[0]!.map(seqOf)).toEqual(range(seqOf(from), seqOf(reached)))
    expect(seqOf(reached)).toBeLessThan(seqOf(last))
    const again = await startFollowers({ ...reader, from: reached, readers: 1 }).finish(last)
    expect(again.faults).toEqual([])
    expect([...again.log.keys()]).toEqual(range(seqOf(reached), seqOf(last)))
    for (const each of stalled) each.cut()
  })
})
