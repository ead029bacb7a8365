import { computed } from '@preact/signals'
import { texts as en } from './settings-en.ts'
import { loadedTexts } from './texts.ts'

/** The texts that the first screen does not have. */
const texts = computed(() => loadedTexts.value ?? en)

/** Those of the account screens. */
export const accountTexts = computed(() => texts.value.account)

/** Those of the sheet of keys. */
export const keysTexts = computed(() => texts.value.keys)

/** Those of the card of a person. */
export const profileTexts = computed(() => texts.value.profile)

/** Those of the own photo. */
export const photoTexts = computed(() => texts.value.photo)

/** Those of the administration. */
export const administrationTexts = computed(() => texts.value.administration)

/** Those of what the assistants use. */
export const usageTexts = computed(() => texts.value.usage)

/** Those of the page of the API. */
export const docsTexts = computed(() => texts.value.docs)

/** Those of topics. */
export const topicsTexts = computed(() => texts.value.topics)
