import { computed } from '@preact/signals'
import { texts as en } from './compose-en.ts'
import { loadedTexts } from './texts.ts'

/** The texts of what opens at the box of a message. */
export const composeTexts = computed(() => loadedTexts.value ?? en)
