import { effect } from '@preact/signals'
import { keptChoice } from './kept-choice.ts'

export const THEMES = ['auto', 'light', 'dark'] as const

/** The colors that the user wants; `auto` are those of the system. */
export const theme = keptChoice('chat:theme', THEMES)

/** Applies the choice, now and whenever it changes: each color of the style sheets has a light and a dark value. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.style.colorScheme = theme.value === 'auto' ? '' : theme.value
  })
}
