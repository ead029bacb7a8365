import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Opening } from '../../../lib/chat/events/service.ts'
import { withSubjects } from '../../../lib/chat/events/with-subjects.ts'
import type { Context } from '../../../lib/context.ts'
import { encode } from '../../../lib/live/readers/delivery.ts'
import type { Sink } from '../../../lib/live/readers/reader.ts'

const ADA = '01980a3c-6f00-7a10-8b20-0c4f1d2e3a41'

/** A stream whose look-ups the test answers. */
function start() {
  const lookups: { resolve: (rows: object[]) => void; reject: (error: Error) => void }[] = []
  const db = { all: () => new Promise((resolve, reject) => lookups.push({ resolve, reject })) }
  const warnings: string[] = []
  const log = { warn: (message: string) => void warnings.push(message) }
  const seen: string[] = []
  let isLeft = false
  let inner!: Sink
  const opening: Opening = {
    connect(sink) {
      inner = sink
      return () => {
        isLeft = true
        sink.end()
      }
    },
    cancel() {},
  }
  const output: Sink = {
    write: ({ bytes }) => void seen.push(String(bytes)),
    pending: () => 0,
    drained: async () => {},
    end: () => void seen.push('end'),
  }
  withSubjects({ db, log } as unknown as Context, opening).connect(output)
  const typing = (at: string) =>
    encode([{ event: { type: 'user.updated', payload: { user: { id: ADA, username: at } } } as never }])
  return { inner, lookups, seen, typing, warnings, isLeft: () => isLeft }
}

it('passes deliveries on in their order, each behind its look-up, and then the end', async () => {
  const { inner, lookups, seen, typing } = start()
  inner.write(typing('one'))
  inner.write({ bytes: Buffer.from(': keep-alive\n\n'), events: [] })
  inner.write(typing('two'))
  inner.end()
  expect(inner.pending()).toBeGreaterThan(0)
  let isDrained = false
  void inner.drained().then(() => {
    isDrained = true
  })
  await nextTurn()
  expect([seen, isDrained, lookups.length]).toEqual([[], false, 1])
  lookups[0]!.resolve([{ user_id: ADA, subject: '42' }])
  await nextTurn()
  expect(seen).toHaveLength(2)
  expect(seen[0]).toContain(`"subjects":{"${ADA}":"42"}`)
  expect(seen[1]).toBe(': keep-alive\n\n')
  lookups[1]!.resolve([])
  await nextTurn()
  expect([seen.length, seen[3], isDrained, inner.pending()]).toEqual([4, 'end', true, 0])
})

it('ends the stream once when a look-up fails: the client resumes behind what it got', async () => {
  const { inner, lookups, seen, typing, warnings, isLeft } = start()
  inner.write(typing('one'))
  inner.write(typing('two'))
  lookups[0]!.reject(new Error('away'))
  await nextTurn()
  inner.write(typing('three'))
  await nextTurn()
  expect([seen, isLeft(), warnings.length, lookups.length]).toEqual([['end'], true, 1, 1])
})
