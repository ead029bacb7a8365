import { afterEach, expect, it } from 'vitest'
import { CHECKS } from '../../../lib/core/scheduling/stall-detector.ts'
import { OPERATOR } from '../../../lib/index.ts'
import type { Sink } from '../../../lib/live/readers/reader.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { type ServerProcess, startProcess } from '../../fault/process.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import {
  codeOf,
  innerState,
  PASSWORD,
  type Person,
  startService,
  type TestService,
  times,
} from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

// No process is taken for dead by its silence.
const CONFIG = { sse: { max_streams_per_user: 3 }, cluster: { dead_seconds: 600 } }

describeOnEachDatabase('a user at the limit of open streams', (openUrl) => {
  const closings: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close()
  })

  async function start(url: string): Promise<TestService> {
    const service = await startService(url, { config: CONFIG })
    closings.push(() => service.close())
    return service
  }
  async function startOther(url: string): Promise<ServerProcess> {
    const other = await startProcess(url, { config: CONFIG })
    closings.push(() => other.kill())
    return other
  }
  async function follow({ base_url }: { base_url: string }, person: Person): Promise<number> {
    const stream = await openStream(base_url, undefined, await signInByHand(base_url, person.email, PASSWORD))
    closings.push(() => stream.close())
    if (stream.response.ok) await stream.until('stream.ready')
    return stream.response.status
  }
  const followThrice = async (node: { base_url: string }, person: Person) => {
    for (const _ of times(3, () => {})) expect(await follow(node, person)).toBe(200)
  }
  const seenBy = ({ chat }: TestService, { id }: Person) =>
    expect.poll(() => innerState(chat).streams.presence.countRemote(id), { timeout: 30_000 })

  /** A process, and another one that has all places of Ada. */
  async function startFull<There extends { base_url: string }>(startThere: (url: string) => Promise<There>) {
    const url = await openUrl()
    const here = await start(url)
    const ada = await here.signIn('ada')
    const there = await startThere(url)
    await followThrice(there, ada)
    await seenBy(here, ada).toBe(3)
    return { url, here, there, ada }
  }

  it('has all places again as soon as a process that was killed has started again', async () => {
    const { url, here, there, ada } = await startFull(startOther)
    await here.close()
    await there.kill()
    await followThrice(await startOther(url), ada)
  }, 60_000)

  it('has the places of a process that was killed at another one of its machine', async () => {
    const { here, there, ada } = await startFull(startOther)
    expect(await follow(here, ada)).toBe(429)
    await there.kill()
    await followThrice(here, ada)
    expect(await follow(here, ada)).toBe(429)
  }, 60_000)

  it('keeps the places of other processes that run, and of those of other machines', async () => {
    const { here, there, ada } = await startFull(start)
    const { db, id } = innerState(there).cluster
    const place = JSON.stringify({ machine: 'another', instance: '', pids: 'another', pid: 1, began: '' })
    await db.run(sql`UPDATE nodes SET place = ${place} WHERE id = ${id}`)
    expect(await follow(here, ada)).toBe(429)
    // A program of before stores nothing of the kind.
    await db.run(sql`UPDATE nodes SET place = NULL WHERE id = ${id}`)
    expect(await follow(here, ada)).toBe(429)
  })

  it('does not wait for the removal of a process whose report is overdue', async () => {
    const { here, there, ada } = await startFull(start)
    const { db, id } = innerState(there).cluster
    await db.run(sql`UPDATE nodes SET beat_at = beat_at - ${601_000_000}, place = NULL WHERE id = ${id}`)
    await seenBy(here, ada).toBe(0)
    expect((await here.chat.nodes.list(OPERATOR)).nodes).toHaveLength(1)
    expect(await db.all(sql`SELECT id FROM nodes`)).toHaveLength(2)
  })

  /** A stream whose client has something to read; `reads` makes it read on. */
  async function connect({ chat }: TestService, person: Person) {
    const opening = await chat.events.openAll(await chat.users.actor(person.id), {})
    const state = { read: 0, isEnded: false, sent: '' }
    const sink: Sink = {
      write({ bytes }) {
        state.sent += Buffer.from(bytes).toString()
      },
      pending: () => 1,
      drained: () => Promise.resolve(),
      progress: () => String(state.read),
      end() {
        state.isEnded = true
      },
    }
    const leave = opening.connect(sink)
    closings.push(async () => leave())
    return state
  }
  const look = ({ chat }: TestService, count: number) => times(count, () => innerState(chat).streams.hub.stalled.look())

  it('gets the place of the oldest stream whose client reads nothing', async () => {
    const here = await start(await openUrl())
    const ada = await here.signIn('ada')
    const [reading, first, second] = [await connect(here, ada), await connect(here, ada), await connect(here, ada)]
    for (const n of times(CHECKS, (each) => each)) {
      look(here, 1)
      reading!.read = n + 1
    }
    expect(await codeOf(connect(here, ada))).toBe('too_many_streams')
    look(here, 1)
    await connect(here, ada)
    expect([reading, first, second].map((each) => each!.isEnded)).toEqual([false, true, false])
    expect(first!.sent).toContain('"reason":"too_slow"')
    // Its client reads on.
    second!.read++
    look(here, 1)
    expect(await codeOf(connect(here, ada))).toBe('too_many_streams')
    expect(second!.isEnded).toBe(false)
  })

  it('gets the place of such a stream of another process, once', async () => {
    const url = await openUrl()
    const [here, there] = [await start(url), await start(url)]
    const ada = await here.signIn('ada')
    const [old, other] = [await connect(there, ada), await connect(there, ada)]
    await seenBy(here, ada).toBe(2)
    const own = await connect(here, ada)
    look(there, 1)
    other.read++
    look(there, CHECKS)
    look(here, CHECKS + 1)
    const { db } = innerState(here).cluster
    const stalled = () => db.all(sql`SELECT streams FROM node_presence WHERE stalled_at IS NOT NULL`)
    await expect.poll(async () => (await stalled()).length).toBe(2)
    const opened = await Promise.allSettled([connect(here, ada), connect(here, ada), connect(here, ada)])
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await expect.poll(() => old.isEnded).toBe(true)
    expect([own.isEnded, other.isEnded]).toEqual([true, false])
    await seenBy(here, ada).toBe(1)
  })
})
