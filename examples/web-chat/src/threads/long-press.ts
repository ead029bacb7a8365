/** How long a finger rests before a menu opens, in milliseconds: as long as that of Android and iOS. */
const PRESS_MS = 500

/** How far it may move meanwhile, in pixels: a finger never rests quite. */
const MAX_MOVE = 10

/** What has a menu of its own, or one of the browser's. */
const OWN = 'button, input, textarea, select, audio, video, label, .panel, dialog'

/** What has a menu, and where its button is. */
const MENUS: readonly [what: string, button: string][] = [
  ['.message', ':scope > .actions > .menu > button'],
  ['.conversations [data-row]', '.row-menu .menu > button, .menu > button'],
]

/**
 * Opens the menu of what a finger rests on: of a message or of a conversation in the list. A finger that scrolls opens none.
 * Links in messages keep the menu of the browser.
 *
 * @param signal ends it
 */
export function followLongPresses(signal: AbortSignal): void {
  let begin: { x: number; y: number; timer: ReturnType<typeof setTimeout> } | undefined
  let hasOpened = false

  function cancel(): void {
    clearTimeout(begin?.timer)
    begin = undefined
  }

  function open(target: Element): void {
    begin = undefined
    const button = buttonFor(target)
    if (!button) return
    hasOpened = true
    navigator.vibrate?.(10)
    button.click()
  }

  const options = { capture: true, passive: true, signal }
  addEventListener(
    'pointerdown',
    ({ pointerType, isPrimary, target, clientX: x, clientY: y }) => {
      cancel()
      hasOpened = false
      if (pointerType !== 'touch' || !isPrimary || !(target instanceof Element) || !hasMenu(target)) return
      begin = { x, y, timer: setTimeout(open, PRESS_MS, target) }
    },
    options,
  )
  addEventListener(
    'pointermove',
    ({ clientX, clientY }) => {
      if (begin && Math.hypot(clientX - begin.x, clientY - begin.y) > MAX_MOVE) cancel()
    },
    options,
  )
  // A finger that scrolls is one of the browser's from then on, and of no more events here.
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, cancel, options)
  // Lifted, the finger neither follows the link on which it was, nor chooses what the sheet has there; and the browser shows no menu.
  const ignore = (event: Event) => {
    if (!hasOpened || !event.isTrusted) return
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('contextmenu', ignore, { capture: true, signal })
  // Keys click, too: without a pointer.
  addEventListener('click', (event) => event.detail > 0 && ignore(event), { capture: true, signal })
}

function hasMenu(target: Element): boolean {
  if (target.closest(OWN)) return false
  // The whole row of a list is a link.
  return target.closest('.message') === null ? target.closest('[data-row]') !== null : target.closest('a') === null
}

function buttonFor(target: Element): HTMLElement | null {
  for (const [what, button] of MENUS) {
    const found = target.closest(what)
    if (found) return found.querySelector<HTMLElement>(button)
  }
  return null
}
