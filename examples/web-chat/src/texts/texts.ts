import { LANGUAGES } from 'virtual:languages'
import { computed, effect, signal } from '@preact/signals'
import { language } from './language.ts'
import { texts as en, type FirstTexts, type Texts } from './languages/en.ts'

/** How dates are written: as in the country of the browser, if it has the language that is shown. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.toLowerCase().startsWith(language.value)) ?? language.value,
)

const loaded = signal<Record<string, Texts>>({})

/** The texts of the language that is shown, once they are loaded; of English there are none. */
export const loadedTexts = computed(() => loaded.value[language.value])

/** The texts of the page: in English where others cannot be loaded. */
export const texts = computed<FirstTexts>(() => loadedTexts.value ?? en)

/** Loads the texts of the language that is shown, unless they are there. */
export async function loadTexts(): Promise<void> {
  const { value } = language
  const load = LANGUAGES[value]
  if (!load || loaded.peek()[value]) return
  try {
    const found = await load()
    loaded.value = { ...loaded.peek(), [value]: found.texts }
  } catch {
    // The page is in English until it is loaded again.
  }
}

// The user may choose another language.
effect(() => void loadTexts())
