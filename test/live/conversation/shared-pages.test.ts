import { expect, it } from 'vitest'
import { type AwaitedPages, awaitPage, type MissedPage } from '../../../lib/live/conversation/shared-pages.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'

const readerOf = () => ({ closed: false }) as Reader

/** Pages whose turns and reads a test ends. */
function start() {
  const pages: AwaitedPages = new Map()
  const turns: (() => void)[] = []
  const reads: (() => void)[] = []
  async function turn<T>(_: Reader[], work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => turns.push(resolve))
    return work()
  }
  async function read(): Promise<MissedPage> {
    const seq = reads.length
    await new Promise<void>((resolve) => reads.push(resolve))
    return { events: [], bytes: new Uint8Array(), seq }
  }
  const ask = (reader = readerOf(), to = 9) => awaitPage(pages, reader, { from: 1, to }, { read, turn })
  return { pages, turns, reads, ask }
}

it('are read once for all readers that wait for them, and others for themselves', async () => {
  const { pages, turns, reads, ask } = start()
  const [first, second, other] = [ask(), ask(), ask(readerOf(), 8)]
  for (const begin of turns) begin()
  await null
  for (const end of reads) end()
  expect([(await first)!.seq, (await second)!.seq, (await other)!.seq]).toEqual([0, 0, 1])
  expect(await first).toBe(await second)
  expect(pages.size).toBe(0)
})

it('are read again for a reader that asks when the read has begun', async () => {
  const { turns, reads, ask } = start()
  const first = ask()
  turns[0]!()
  await null
  expect(reads).toHaveLength(1)
  const late = ask()
  turns[1]!()
  await null
  for (const end of reads) end()
  expect([(await first)!.seq, (await late)!.seq]).toEqual([0, 1])
})

it('are read while a reader is open, and not when all are closed', async () => {
  const { turns, reads, ask } = start()
  const [gone, open, alone] = [readerOf(), readerOf(), readerOf()]
  const together = [ask(gone), ask(open)]
  const nobodys = ask(alone, 8)
  for (const reader of [gone, alone]) reader.closed = true
  for (const begin of turns) begin()
  await null
  expect(reads).toHaveLength(1)
  reads[0]!()
  expect(await nobodys).toBeUndefined()
  expect((await Promise.all(together)).map((page) => page!.seq)).toEqual([0, 0])
})
