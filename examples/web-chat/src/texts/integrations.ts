import { computed } from '@preact/signals'
import { texts as en } from './integrations-en.ts'
import { loadedTexts } from './texts.ts'

/** The texts of bots, hooks and webhooks. */
const texts = computed(() => loadedTexts.value ?? en)

/** Those of the own bots, and of bots in rooms. */
export const botsTexts = computed(() => texts.value.bots)

/** Those of the webhooks of users. */
export const webhooksTexts = computed(() => texts.value.webhooks)

/** Those of the addresses at which tools post. */
export const hooksTexts = computed(() => texts.value.hooks)
