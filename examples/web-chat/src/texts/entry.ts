import { computed } from '@preact/signals'
import { texts as en } from './entry-en.ts'
import { loadedTexts } from './texts.ts'

/** The texts of the screens that need no session. */
export const entryTexts = computed(() => loadedTexts.value ?? en)
