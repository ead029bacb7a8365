import { useEffect, useState } from 'preact/hooks'
import { afterFrame } from '../parts/after-frame.ts'
import { MAX_WEIGHT } from './cut-text.ts'

/** How many steps messages may take in a frame; the one that exceeds it goes on, and the next ones wait for another. */
const MAX_STEPS = 8000

let spent = 0

/** Whether messages may take more steps in this frame. */
export function hasSteps(): boolean {
  return spent < MAX_STEPS
}

/** Counts what is parsed in this frame, in steps, or laid out, by its weight. */
export function spendFrame({ steps = 0, weight = 0 }: { steps?: number; weight?: number }): void {
  if (spent === 0)
    afterFrame(() => {
      spent = 0
    })
  // Each takes a step at least: the first one of a frame is what ends it.
  spent += 1 + steps + (weight / MAX_WEIGHT) * MAX_STEPS
}

/** Whether what is to be rendered waits for another frame, in which it is rendered again. */
export function useWaiting(isNew: boolean): boolean {
  const [turn, setTurn] = useState(0)
  const isWaiting = isNew && !hasSteps()
  useEffect(() => (isWaiting ? afterFrame(() => setTurn(turn + 1)) : undefined), [isWaiting, turn])
  return isWaiting
}
