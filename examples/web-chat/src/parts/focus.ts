/** Where there is a keyboard, a new pane is for writing; where it would cover the pane, its title is read first. */
export function focusIn(pane: Element | null): void {
  const field = matchMedia('(hover: hover)').matches
    ? (pane?.querySelector<HTMLElement>('.composer textarea') ??
      pane?.querySelector<HTMLElement>('textarea, input:not([type=file])'))
    : undefined
  const target = field ?? pane?.querySelector<HTMLElement>('[tabindex="-1"]')
  target?.focus()
}

/** What is typed while nothing has the focus goes to the box: of a thread, where one is open. @returns a function that ends it */
export function typeIntoBox(): () => void {
  const onKey = ({ key, ctrlKey, metaKey, altKey, isComposing }: KeyboardEvent) => {
    const isText = key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey && !isComposing
    if (!isText || document.activeElement !== document.body || document.querySelector('dialog[open]')) return
    Array.from(document.querySelectorAll<HTMLElement>('.composer textarea')).at(-1)?.focus()
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}
