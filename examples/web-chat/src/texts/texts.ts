import { LANGUAGES } from 'virtual:languages'
import { computed, effect, signal } from '@preact/signals'
import { language } from './language.ts'
import { texts as en, type Texts } from './languages/en.ts'

/** How dates are written: as in the country of the browser, if it has the language that is shown. */
export const locale = computed(
  () => navigator.languages.find((tag) => tag.toLowerCase().startsWith(language.value)) ?? language.value,
)

/** Those of English are always there, for when others cannot be loaded. */
const loaded = signal<Record<string, Texts>>({ en })

/** The texts of the page. */
export const texts = computed<Texts>(() => loaded.value[language.value] ?? en)

/** Those of the account screens. */
export const accountTexts = computed(() => texts.value.account)

/** Those of the administration. */
export const administrationTexts = computed(() => texts.value.administration)

/** Those of the page of the API. */
export const docsTexts = computed(() => texts.value.docs)

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
