/** One of the W places for a post under way: taken until the post is answered and every reader has it. */
export interface Slot {
  index: number
  seq: number
  answered: boolean
  /** Some reader has it: its place in the order of arrival is known. */
  placed: boolean
  delivered: boolean
}

/** Keeps W posts under way: as soon as one is answered and delivered, the next takes its slot. */
export interface Window {
  slots: Slot[]
  /** Posts sent so far. */
  sent: number
  /** Posts answered and delivered so far. */
  done: number
  /** Fills every slot. */
  open(): void
  settle(slot: Slot, what: 'answered' | 'delivered'): void
  /** No post is sent from now on; those under way still settle. */
  close(): void
}

/** What a post waits for before the next one is sent in its place: its response, or also its delivery to all readers. */
export type Until = 'answered' | 'delivered'

/** How many posts may still be on their way to readers, for each one that waits for its response. */
const UNDELIVERED = 64

export function createWindow(size: number, send: (slot: Slot) => void, until: Until = 'delivered'): Window {
  const slots = Array.from({ length: until === 'answered' ? size * UNDELIVERED : size }, (_, index): Slot => {
    return { index, seq: -1, answered: true, placed: true, delivered: true }
  })
  const free = [...slots]
  let unanswered = 0
  let closed = false

  function fill(): void {
    while (!closed && free.length > 0 && unanswered < size) {
      const slot = free.shift()!
      slot.seq = window.sent++
      slot.answered = slot.placed = slot.delivered = false
      unanswered++
      send(slot)
    }
  }

  const window: Window = {
    slots,
    sent: 0,
    done: 0,
    open: fill,
    settle(slot, what) {
      slot[what] = true
      if (what === 'answered') unanswered--
      if (slot.answered && slot.delivered) {
        window.done++
        free.push(slot)
      }
      fill()
    },
    close() {
      closed = true
    },
  }
  return window
}
