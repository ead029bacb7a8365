import { computed } from '@preact/signals'
import { de } from './de.ts'
import { en, type Texts } from './en.ts'
import { language } from './language.ts'

/** How dates are written: as in the country of the browser, if it has the language that is shown. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.toLowerCase().startsWith(language.value)) ?? language.value,
)

const TEXTS: Record<typeof language.value, Texts> = { en, de }

/** The texts of the page. */
export const texts = computed<Texts>(() => TEXTS[language.value])
