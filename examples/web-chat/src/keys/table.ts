/** Whether the keys of this device have a Command key; the documentation is made without a browser. */
const IS_APPLE = /Mac|iP(hone|ad)/.test(globalThis.navigator?.platform ?? '')

/** A key, and with which others it is pressed. */
export interface Keys {
  key: string
  /** With Ctrl, or ⌘. */
  mod?: true
  alt?: true
  shift?: true
}

/** The keys of the page, by what they do: they are bound by this table, and the sheet shows it. */
export const SHELL_KEYS = {
  switcher: [{ key: 'k', mod: true }],
  sheet: [{ key: '/', mod: true }, { key: '?' }],
  previous: [{ key: 'ArrowUp', alt: true }],
  next: [{ key: 'ArrowDown', alt: true }],
  previous_unread: [{ key: 'ArrowUp', alt: true, shift: true }],
  next_unread: [{ key: 'ArrowDown', alt: true, shift: true }],
  all_read: [{ key: 'Escape', shift: true }],
} as const satisfies Record<string, readonly Keys[]>

/** Those of the box. */
export const FORMAT_KEYS = {
  bold: [{ key: 'b', mod: true }],
  italic: [{ key: 'i', mod: true }],
  code: [{ key: 'e', mod: true }],
  strike: [{ key: 'x', mod: true, shift: true }],
} as const satisfies Record<string, readonly Keys[]>

/** That of an empty box. */
export const EDIT_LAST = {
  edit_last: [{ key: 'ArrowUp' }],
} as const satisfies Record<string, readonly Keys[]>

/** What the keys that are pressed do. Of a single sign, Shift is a part. */
export function actOf<Act extends string>(table: Record<Act, readonly Keys[]>, event: KeyboardEvent): Act | undefined {
  const acts = Object.keys(table) as Act[]
  return acts.find((act) => table[act].some((keys) => isPressed(keys, event)))
}

function isPressed({ key, mod, alt, shift }: Keys, event: KeyboardEvent): boolean {
  const isMod: boolean = IS_APPLE ? event.metaKey : event.ctrlKey
  const isOther = IS_APPLE ? event.ctrlKey : event.metaKey
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase()
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    isMod === !!mod &&
    !isOther &&
    event.altKey === !!alt &&
    (isSign || event.shiftKey === !!shift)
  )
}

/** How keys are written on this device. */
export function keyText({ key, mod, alt, shift }: Keys, isApple = IS_APPLE): string {
  const others = [mod && (isApple ? '⌘' : 'Ctrl'), alt && (isApple ? '⌥' : 'Alt'), shift && (isApple ? '⇧' : 'Shift')]
  const sign =
    { ArrowUp: '↑', ArrowDown: '↓', ArrowRight: '→', Escape: 'Esc', Delete: 'Del' }[key] ??
    (key.length === 1 ? key.toUpperCase() : key)
  return [...others.filter(Boolean), sign].join(' ')
}
