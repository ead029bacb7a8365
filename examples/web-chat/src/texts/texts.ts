import { signal } from '@preact/signals'
import { de } from './de.ts'
import { en, type Texts } from './en.ts'

/** Every language, by its code. */
const LANGUAGES: Record<string, Texts> = { en, de }

/** The language of the browser, if there are texts in it. */
function preferred(): string {
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((code) => code in LANGUAGES) ?? 'en'
}

const language = preferred()
document.documentElement.lang = language

/** How dates are written: as in the country of the browser, if it has the language that is shown. */
export const locale = signal(navigator.languages.find((tag) => tag.toLowerCase().startsWith(language)) ?? language)

/** The texts of the page. */
export const texts = signal<Texts>(LANGUAGES[language]!)
