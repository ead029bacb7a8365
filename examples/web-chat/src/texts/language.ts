import { LANGUAGES } from 'virtual:languages'
import { computed, effect } from '@preact/signals'
import { keptChoice } from '../app/kept-choice.ts'
import { directionOf } from './direction.ts'

/** The code of every language of the page. */
export const CODES = ['en', ...Object.keys(LANGUAGES)]

/** The code of the language that the user wants; `auto` is that of the browser. */
export const languageChoice = keptChoice('chat:language', ['auto', ...CODES])

/** The code of the language that is shown. */
export const language = computed(() => (languageChoice.value === 'auto' ? preferred() : languageChoice.value))

effect(() => {
  document.documentElement.lang = language.value
  document.documentElement.dir = directionOf(language.value)
})

/** A language as it calls itself. */
export function nameOf(code: string): string {
  return new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code
}

/** The language of the browser, if there are texts in it. */
function preferred(): string {
  const codes = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return codes.find((code) => CODES.includes(code)) ?? 'en'
}
