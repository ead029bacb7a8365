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

export function createWindow(size: number, send: (slot: Slot) => void): Window {
  const slots = Array.from({ length: size }, (_, index): Slot => {
    return { index, seq: -1, answered: true, placed: true, delivered: true }
  })
  let closed = false

  function take(slot: Slot): void {
    slot.seq = window.sent++
    slot.answered = slot.placed = slot.delivered = false
    send(slot)
  }

  const window: Window = {
    slots,
    sent: 0,
    done: 0,
    open() {
      for (const slot of slots) take(slot)
    },
    settle(slot, what) {
      slot[what] = true
      if (!slot.answered || !slot.delivered) return
      window.done++
      if (!closed) take(slot)
    },
    close() {
      closed = true
    },
  }
  return window
}
