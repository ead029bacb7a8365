/** Where there is a keyboard, a new pane is for writing; where it would cover the pane, its title is read first. */
export function focusIn(pane: Element | null): void {
  const field = matchMedia('(hover: hover)').matches
    ? pane?.querySelector<HTMLElement>('textarea, input:not([type=file])')
    : undefined
  const target = field ?? pane?.querySelector<HTMLElement>('[tabindex="-1"]')
  target?.focus()
}
