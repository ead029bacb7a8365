import { computed, effect, signal } from '@preact/signals'
import { en, type Texts } from './en.ts'
import { type Language, language } from './language.ts'

/** How dates are written: as in the country of the browser, if it has the language that is shown. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.toLowerCase().startsWith(language.value)) ?? language.value,
)

/** How the texts of each language are loaded. Those of English are always there, for when others cannot be loaded. */
const LOADERS: Record<Exclude<Language, 'en'>, () => Promise<Texts>> = {
  de: async () => (await import('./de.ts')).de,
}

const loaded = signal<Partial<Record<Language, Texts>>>({ en })

/** The texts of the page. */
export const texts = computed<Texts>(() => loaded.value[language.value] ?? en)

/** Loads the texts of the language that is shown, unless they are there. */
export async function loadTexts(): Promise<void> {
  const { value } = language
  if (value === 'en' || loaded.peek()[value]) return
  try {
    const found = await LOADERS[value]()
    loaded.value = { ...loaded.peek(), [value]: found }
  } catch {
    // The page is in English until it is loaded again.
  }
}

// The user may choose another language.
effect(() => void loadTexts())
