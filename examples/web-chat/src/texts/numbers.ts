import { computed } from '@preact/signals'
import { locale } from './texts.ts'

const format = computed(() => new Intl.NumberFormat(locale.value))

/** A number as it is written in the language that is shown. */
export function numberText(value: number): string {
  return format.value.format(value)
}

/** An amount of money, in millionths of a currency: with as many digits as it needs to be more than nothing. */
export function moneyText(micros: number, currency: string): string {
  const amount = micros / 1_000_000
  const digits = amount !== 0 && Math.abs(amount) < 1 ? { maximumSignificantDigits: 2 } : {}
  try {
    return new Intl.NumberFormat(locale.value, { style: 'currency', currency, ...digits }).format(amount)
  } catch {
    // Only codes of three letters are known as currencies.
    return `${new Intl.NumberFormat(locale.value, digits).format(amount)} ${currency}`
  }
}
