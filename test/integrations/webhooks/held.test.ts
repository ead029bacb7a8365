import { expect, it } from 'vitest'
import {
  createHeld,
  endBusy,
  endEntry,
  type Held,
  settledAhead,
  takeTurns,
  toKeep,
  toRead,
} from '../../../lib/integrations/webhooks/held.ts'

/** A webhook with the order `conversation` that has read events of these conversations, the first one at the place 1. */
function holdOrdered(conversations: string, parked: string[] = []): Held {
  const webhook = { event_order: 'conversation', parallel: 16, last_failed: 0, last_success_at: 1 }
  const held = createHeld({
    webhook,
    parked: new Map(parked.map((id) => [id, 1])),
    ahead: [],
    place: conversations.length,
    used_at: 0,
  } as unknown as Parameters<typeof createHeld>[0])
  for (const [n, conversation_id] of [...conversations].entries()) {
    const row = { id: n + 1, conversation_id } as Held['entries'][number]['row']
    held.entries.push({ row, before: n, position: `${n + 1}`, phase: 'read', is_passed: false })
  }
  return held
}

function begin(held: Held, most: number): number[] {
  return takeTurns(held, most, () => {}).flatMap(({ entry }) => entry?.row.id ?? [])
}

function settle(held: Held, ...ids: number[]): void {
  for (const entry of held.entries.filter(({ row }) => ids.includes(row.id))) {
    endEntry(held, entry)
    endBusy(held, entry.row.conversation_id)
  }
}

const openOf = (held: Held) => settledAhead(held).map(({ place, open }) => ({ place, open: [...open] }))

it('knows what is settled behind an event that waits for another of its conversation', () => {
  const held = holdOrdered('aabcde')
  expect(begin(held, 4)).toEqual([1, 3, 4, 5])
  settle(held, 3, 4, 5)
  expect(openOf(held)).toEqual([{ place: 5, open: [1, 2] }])
  settle(held, 1)
  expect(openOf(held)).toEqual([{ place: 5, open: [2] }])
})

it('knows it while an event of an earlier time is sent again, and nothing of the log is on its way', () => {
  const held = holdOrdered('abcd', ['a'])
  held.busy.add('conversation a')
  expect(begin(held, 2)).toEqual([2, 3])
  settle(held, 2, 3)
  expect(openOf(held)).toEqual([{ place: 3, open: [1] }])
})

it('keeps as open what was begun and not sent', () => {
  const held = holdOrdered('abcd')
  expect(begin(held, 3)).toEqual([1, 2, 3])
  held.entries[2]!.phase = 'read'
  settle(held, 2)
  expect(openOf(held)).toEqual([{ place: 3, open: [1, 3] }])
  settle(held, 1, 3)
  expect(openOf(held)).toEqual([])
})

it.each([
  ['that has had a success', { last_failed: 0, last_success_at: 1 }, 512],
  ['whose last call failed', { last_failed: 1, last_success_at: 1 }, 16],
  ['that has never had a success', { last_failed: 0, last_success_at: null }, 16],
])('reads ahead no more than a webhook %s can send soon', (_, changes, size) => {
  const held = holdOrdered('')
  Object.assign(held.webhook, changes)
  expect([toRead(held), toKeep(held)]).toEqual([512, size])
  const read = (count: number) => {
    for (let n = 0; n < count; n++) held.entries.push({ phase: 'read' } as Held['entries'][number])
  }
  read(15)
  expect(toRead(held)).toBe(512)
  read(1)
  expect(toRead(held)).toBe(size === 16 ? 0 : 512)
  read(240)
  expect(toRead(held)).toBe(0)
  held.entries.length = 0
  for (let n = 0; n < 1_000; n++) held.parked.set(`${n}`, 1)
  expect(toRead(held)).toBe(0)
  held.parked.clear()
  held.is_behind = false
  expect(toRead(held)).toBe(0)
})
