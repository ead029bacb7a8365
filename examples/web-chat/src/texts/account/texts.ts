import { computed } from '@preact/signals'
import { language } from '../language.ts'
import { de } from './de.ts'
import { type AccountTexts, en } from './en.ts'

const TEXTS: Record<typeof language.value, AccountTexts> = { en, de }

/** The texts of the account screens: loaded with them. */
export const accountTexts = computed<AccountTexts>(() => TEXTS[language.value])
