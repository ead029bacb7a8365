import type { Reader } from './reader.ts'
import type { Slot } from './window.ts'

/** More than any window: a place in the ring is used again only when all readers have passed it. */
const RING = 4096

interface LedgerEvents {
  delivered(slot: Slot): void
  fail(error: Error): void
}

interface Ledger {
  seen(reader: Reader, seq: number): void
}

/**
 * Checks that every reader gets every post exactly once and all in one order, and tells when a post is delivered.
 *
 * The reader that is ahead fixes the order, each other one is compared with it, place by place; so one comparison
 * of two numbers is the whole check of a delivery. The order itself is checked too: a post that was sent after
 * another was delivered comes later.
 */
export function createLedger(readers: number, slots: Slot[], on: LedgerEvents): Ledger {
  const order = new Int32Array(RING)
  const counts = new Int32Array(RING)
  const owners: Slot[] = []
  let head = 0

  function place(seq: number): boolean {
    const slot = slots.find((candidate) => candidate.seq === seq && !candidate.placed)
    if (!slot) return refuse(`post ${seq} arrived twice, or was never sent`)
    if (seq - head >= slots.length) return refuse(`post ${seq} overtook one delivered before it was sent`)
    slot.placed = true
    owners[head % RING] = slot
    order[head % RING] = seq
    counts[head % RING] = 0
    head++
    return true
  }

  function refuse(reason: string): false {
    on.fail(new Error(reason))
    return false
  }

  return {
    seen(reader: Reader, seq: number): void {
      if (reader.position === head && !place(seq)) return
      const index = reader.position % RING
      if (order[index] !== seq) {
        refuse(`a reader got post ${seq} where the others got ${order[index]}`)
        return
      }
      reader.position++
      if (++counts[index]! === readers) on.delivered(owners[index]!)
    },
  }
}

/** The same for a server that promises no order: each post must arrive as often as there are readers. */
export function createTally(readers: number, slots: Slot[], on: LedgerEvents): Ledger {
  const counts = new Int32Array(RING)
  return {
    seen(reader, seq) {
      reader.position++
      const slot = slots.find((candidate) => candidate.seq === seq && !candidate.delivered)
      if (!slot) return on.fail(new Error(`post ${seq} arrived too often, or was never sent`))
      if (++counts[seq % RING]! < readers) return
      counts[seq % RING] = 0
      on.delivered(slot)
    },
  }
}
