import type { Format } from './formatting.ts'

/** Whether the keys of this device have a Command key. */
const IS_APPLE = /Mac|iP(hone|ad)/.test(navigator.platform)

interface FormatKeys {
  format: Format
  key: string
  shift?: true
}

/** The keys of formats, with Ctrl or ⌘. */
export const FORMAT_KEYS: readonly FormatKeys[] = [
  { format: 'bold', key: 'b' },
  { format: 'italic', key: 'i' },
  { format: 'code', key: 'e' },
  { format: 'strike', key: 'x', shift: true },
]

/** The format of the keys that are pressed. */
export function formatOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): Format | undefined {
  if (!(IS_APPLE ? metaKey : ctrlKey) || altKey) return undefined
  return FORMAT_KEYS.find((each) => each.key === key.toLowerCase() && (each.shift ?? false) === shiftKey)?.format
}

/** How keys are written on this device. */
export function keyText({ key, shift }: FormatKeys): string {
  return [IS_APPLE ? '⌘' : 'Ctrl', ...(shift ? [IS_APPLE ? '⇧' : 'Shift'] : []), key.toUpperCase()].join(' ')
}
