import { computed } from '@preact/signals'
import { texts as en } from './answers-en.ts'
import { loadedTexts } from './texts.ts'

/** The texts of the answers of assistants. */
export const answersTexts = computed(() => (loadedTexts.value ?? en).answers)
