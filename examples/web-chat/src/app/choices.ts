import { effect } from '@preact/signals'
import { keptChoice } from './kept-choice.ts'

/** How close rows are. */
export const density = keptChoice('chat:density', ['comfortable', 'compact'])

/** What Enter does in a box; with Shift, it does the other. */
export const enterChoice = keptChoice('chat:enter', ['send', 'line'])

/** Whether a sound is heard with what arrives in the inbox. */
export const sound = keptChoice('chat:sound', ['off', 'on'])

/** Whether a letter alone does something on what has the focus. */
export const hasSingleKeys = keptChoice('chat:keys', ['on', 'off'])

/** Whether Enter sends what is in a box. One that ends the composition of a character does nothing. */
export function isSend({ key, shiftKey, isComposing }: KeyboardEvent): boolean {
  return key === 'Enter' && !isComposing && shiftKey === (enterChoice.value === 'line')
}

/** Applies what is chosen, now and whenever it changes. */
effect(() => {
  document.documentElement.dataset.density = density.value
})
