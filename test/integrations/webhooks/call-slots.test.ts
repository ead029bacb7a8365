import { expect, it } from 'vitest'
import { createCallSlots } from '../../../lib/integrations/webhooks/call-slots.ts'
import type { Held } from '../../../lib/integrations/webhooks/held.ts'
import { times } from '../../support/service.ts'
import { webhookRow } from '../../support/webhook-rows.ts'

/** A webhook as far as its slots are concerned. */
function held(host: string, { succeeds }: { succeeds: boolean }): Held {
  const webhook = webhookRow({ id: host, host, last_success_at: succeeds ? 1 : null })
  return { webhook } as Held
}

const isSettled = async (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(resolve, false))])

it('keeps half of the slots for webhooks that succeed', async () => {
  const slots = createCallSlots(() => 8)
  const hanging = times(10, (n) => slots.acquire(held(`hanging-${n}.test`, { succeeds: false }), 1))
  expect(await Promise.all(hanging.map(isSettled))).toEqual(times(10, (n) => n < 4))
  const others = times(5, (n) => slots.acquire(held(`fine-${n}.test`, { succeeds: true }), 1))
  expect(await Promise.all(others.map(isSettled))).toEqual(times(5, (n) => n < 4))
  for (const release of await hanging[0]!) release()
  expect(await isSettled(others[4]!)).toBe(true)
})

it('makes 16 calls of a host at a time, and lets those of other hosts pass', async () => {
  const slots = createCallSlots(() => 64)
  const busy = held('busy.test', { succeeds: true })
  const releases = await slots.acquire(busy, 20)
  expect(releases).toHaveLength(16)
  const waiting = slots.acquire(busy, 1)
  expect(await isSettled(waiting)).toBe(false)
  expect(await slots.acquire(held('other.test', { succeeds: true }), 4)).toHaveLength(4)
  releases[0]!()
  expect(await isSettled(waiting)).toBe(true)
})

it('gives back both slots of a webhook that never succeeded', async () => {
  const slots = createCallSlots(() => 2)
  for (const n of times(10, (n) => n)) {
    const releases = await slots.acquire(held(`${n}.test`, { succeeds: false }), 2)
    expect(releases).toHaveLength(1)
    for (const release of releases) release()
  }
})
