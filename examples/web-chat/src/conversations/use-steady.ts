import { useRef, useState } from 'preact/hooks'

/** What of a list is rendered anew while the pointer or the focus is there. */
interface Steady<Item> {
  items: readonly Item[]
  /** The properties of the list. */
  list: {
    onPointerEnter: () => void
    onPointerLeave: () => void
    onFocusIn: () => void
    onFocusOut: () => void
  }
}

/** Rows stay where they are while the pointer or the focus is on their list; what is new comes first. */
export function useSteady<Item extends { id: string }>(items: readonly Item[]): Steady<Item> {
  const order = useRef(new Map<string, number>())
  const [held, setHeld] = useState({ pointer: false, focus: false })
  const hold = (by: 'pointer' | 'focus', isHeld: boolean) => () =>
    setHeld((before) => (before[by] === isHeld ? before : { ...before, [by]: isHeld }))
  const rank = ({ id }: Item) => order.current.get(id) ?? -1
  const isHeld = held.pointer || held.focus
  const shown = isHeld ? items.toSorted((one, other) => rank(one) - rank(other)) : items
  if (!isHeld) order.current = new Map(items.map(({ id }, index) => [id, index]))
  return {
    items: shown,
    list: {
      onPointerEnter: hold('pointer', true),
      onPointerLeave: hold('pointer', false),
      onFocusIn: hold('focus', true),
      onFocusOut: hold('focus', false),
    },
  }
}
