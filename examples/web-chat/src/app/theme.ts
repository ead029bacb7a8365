import { effect } from '@preact/signals'
import { keptChoice } from './kept-choice.ts'

export const THEMES = ['auto', 'light', 'dark'] as const

/** The colors that the user wants; `auto` are those of the system. */
export const theme = keptChoice('chat:theme', THEMES)

/** When the rules of dark colors apply, by the choice. */
const MEDIA = { auto: '(prefers-color-scheme: dark)', light: 'not all', dark: 'all' }

/** Applies the choice, now and whenever it changes. The dark colors are there once, in one rule of the style sheet. */
export function applyTheme(): void {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  const dark = rules.filter(
    (rule): rule is CSSMediaRule => rule instanceof CSSMediaRule && rule.conditionText.includes('prefers-color-scheme'),
  )
  effect(() => {
    for (const { media } of dark) media.mediaText = MEDIA[theme.value]
    document.documentElement.style.colorScheme = theme.value === 'auto' ? '' : theme.value
  })
}
