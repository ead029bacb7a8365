/** How much work is left for a message: what would take more is text. Steps are counted, as time depends on the device. */
export interface Budget {
  left: number
}

/** Thrown where a budget is used up. */
export class OverBudget extends Error {}

/** @throws OverBudget */
export function spend(budget: Budget, steps: number): void {
  budget.left -= steps
  if (budget.left < 0) throw new OverBudget()
}

/** What an element of the page costs, in steps: about as much as to parse so many parts of a line. */
export const ELEMENT_STEPS = 4

/** How many elements a block of code counts as: it has a bar, a button and an icon. */
export const CODE_ELEMENTS = 16
