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

/** Whether the user points with a finger, and writes with keys on the screen: there Enter begins a line. */
export const isCoarse = () => matchMedia('(pointer: coarse)').matches

/** Whether a key belongs to the composition of a character. Safari sends the one that ends it after its end, with this code. */
export const isComposing = (event: KeyboardEvent) => event.isComposing || event.keyCode === 229

/** Whether Enter sends what is in a box. One that ends the composition of a character does nothing. */
export function isSend(event: KeyboardEvent): boolean {
  const isEnter = event.key === 'Enter' && !isComposing(event) && !isCoarse()
  return isEnter && event.shiftKey === (enterChoice.value === 'line')
}

/** Applies what is chosen, now and whenever it changes. */
effect(() => {
  document.documentElement.dataset.density = density.value
})
