import { computed, effect } from '@preact/signals'
import { keptChoice } from '../app/kept-choice.ts'
import { directionOf } from './direction.ts'

/** Every language, by its code, as it calls itself. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const

export type Language = keyof typeof LANGUAGES

/** The language that the user wants; `auto` is that of the browser. */
export const languageChoice = keptChoice<Language | 'auto'>('chat:language', ['auto', 'en', 'de'])

/** The language that is shown. */
export const language = computed<Language>(() => (languageChoice.value === 'auto' ? preferred() : languageChoice.value))

effect(() => {
  document.documentElement.lang = language.value
  document.documentElement.dir = directionOf(language.value)
})

/** The language of the browser, if there are texts in it. */
function preferred(): Language {
  const codes = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return (codes.find((code) => code in LANGUAGES) as Language | undefined) ?? 'en'
}
