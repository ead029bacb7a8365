import { computed } from '@preact/signals'
import { language } from '../language.ts'
import { de } from './de.ts'
import { type AdministrationTexts, en } from './en.ts'

const TEXTS: Record<typeof language.value, AdministrationTexts> = { en, de }

/** The texts of the administration: loaded with it. */
export const administrationTexts = computed<AdministrationTexts>(() => TEXTS[language.value])
