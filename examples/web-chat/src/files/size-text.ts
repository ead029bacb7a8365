import { language } from '../texts/language.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** A size for people, such as `3.4 MB`, `1 byte` or `3 bytes`. */
export function sizeText(bytes: number): string {
  let size = bytes
  let power = 0
  // What is rounded to a thousand is one of the next unit.
  for (; size >= (power === 0 ? 1000 : 999.95) && power < UNITS.length - 1; power++) size /= 1000
  // The short name of a byte has no plural.
  const unitDisplay = power === 0 ? 'long' : 'short'
  const options = { style: 'unit', unit: UNITS[power]!, unitDisplay, maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language.value, options).format(size)
}
