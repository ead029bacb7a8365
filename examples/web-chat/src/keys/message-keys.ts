import { hasSingleKeys } from '../app/choices.ts'
import { ACT } from './message-act.ts'
import { MESSAGE_KEYS } from './message-table.ts'
import { actOf } from './table.ts'

const ROW = '.messages > li[data-message-id]'

/** What has keys of its own. */
const OTHERS = '.edit, .panel, dialog, input, textarea, select, audio, video, .tool pre'

const CONTROLS = 'a[href], button:not(:disabled), summary, audio, video, input, .tool pre'

/**
 * Binds the keys of the messages of a list, which is one stop of the Tab key: others of them get the focus by arrows or letters,
 * and what is inside of one by an arrow to its end.
 *
 * @returns a function that ends it
 */
export function bindMessageKeys(scroller: HTMLElement): () => void {
  const [begin, end] = [...scroller.querySelectorAll<HTMLElement>(':scope > .list-edge')]
  const rows = () => [...scroller.querySelectorAll<HTMLElement>(ROW)]
  const state = { last: undefined as HTMLElement | undefined, by: undefined as 'tab' | 'pointer' | undefined }

  /** The message that had the focus last, else the last one in view. */
  function current(): HTMLElement | undefined {
    if (state.last?.isConnected) return state.last
    const { bottom } = scroller.getBoundingClientRect()
    return rows().findLast((row) => row.getBoundingClientRect().top < bottom - 1)
  }

  function focus(row: HTMLElement | undefined): void {
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }

  function walk(row: HTMLElement, act: string): boolean {
    const all = rows()
    const at = all.indexOf(row)
    const to = { up: at - 1, down: at + 1, first: 0, last: all.length - 1 }[act]
    if (to === undefined) return false
    focus(all[Math.max(0, Math.min(all.length - 1, to))])
    // What is beyond the end is read, as by scrolling there.
    if (to < 1) scroller.scrollTop = 0
    if (to >= all.length - 1) scroller.scrollTop = scroller.scrollHeight
    return true
  }

  function walkInside(row: HTMLElement, target: HTMLElement, step: 1 | -1): void {
    const all = [...row.querySelectorAll<HTMLElement>(CONTROLS)].filter((each) => each.checkVisibility())
    const at = all.indexOf(target) + step
    ;(all[at] ?? (at < 0 ? row : target)).focus()
  }

  function press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement
    if (event.defaultPrevented || event.isComposing || target.closest(OTHERS)) return
    const row = target.closest<HTMLElement>(ROW)
    if (event.key === 'Tab' && row) {
      // From there, the browser goes on.
      ;(event.shiftKey ? begin : end)!.focus({ preventScroll: true })
      return
    }
    const isRtl = document.documentElement.dir === 'rtl'
    const isBack = actOf({ back: [{ key: isRtl ? 'ArrowRight' : 'ArrowLeft' }] }, event) !== undefined
    const isInto = isRtl && actOf({ into: [{ key: 'ArrowLeft' }] }, event) !== undefined
    const act = isBack || isInto ? 'inside' : actOf(MESSAGE_KEYS, event)
    const isLetter = event.key.length === 1
    if (!row || act === undefined || (isLetter && hasSingleKeys.value === 'off')) return
    // On a button or a link, it is its own.
    if (act === 'menu' && target !== row) return
    event.preventDefault()
    if (act === 'inside') walkInside(row, target, isBack ? -1 : 1)
    else if (!walk(row, act))
      row.querySelector('.message:not(.question) > .actions')?.dispatchEvent(new CustomEvent(ACT, { detail: act }))
  }

  function onFocus(event: FocusEvent): void {
    const target = event.target as HTMLElement
    const row = target.closest<HTMLElement>(ROW)
    const isInside = scroller.contains(event.relatedTarget as Node | null)
    if (state.by === 'tab' && !isInside && (row || target === begin)) focus(current())
    else if (row) state.last = row
    // What is typed after a click goes to the box.
    if (state.by === 'pointer' && row === target) row.blur()
  }

  /** How the focus is moved, until the browser has done so. */
  function note(event: Event): void {
    const by = event.type === 'pointerdown' ? 'pointer' : (event as KeyboardEvent).key === 'Tab' ? 'tab' : undefined
    state.by = by
    if (by === 'tab') setTimeout(() => (state.by = undefined))
  }

  const listening = new AbortController()
  const { signal } = listening
  for (const type of ['keydown', 'pointerdown']) addEventListener(type, note, { capture: true, signal })
  addEventListener('click', () => (state.by = undefined), { capture: true, signal })
  scroller.addEventListener('keydown', press, { signal })
  scroller.addEventListener('focusin', onFocus, { signal })
  return () => listening.abort()
}
