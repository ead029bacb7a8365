import { computed } from '@preact/signals'
import { texts as en } from './room-en.ts'
import { loadedTexts } from './texts.ts'

/** The texts of what is beside a room. */
export const roomTexts = computed(() => loadedTexts.value ?? en)
