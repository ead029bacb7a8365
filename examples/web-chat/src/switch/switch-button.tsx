import { signal } from '@preact/signals'
import { ShellKeys } from '../keys/shell-keys.tsx'
import { keyText, SHELL_KEYS } from '../keys/table.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'

const Switcher = lazy(() => import('./switcher.tsx').then(({ Switcher }) => Switcher))

const isOpen = signal(false)

/** Opens the switcher, as its keys do. */
export function SwitchButton() {
  const { title } = texts.value.switcher
  return (
    <button
      type="button"
      class="search-field"
      title={title}
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={open}
    >
      <Icon name="search" />
      <span>{texts.value.switcher.button}</span>
      <small aria-hidden="true">{keyText(SHELL_KEYS.switcher[0])}</small>
    </button>
  )
}

const open = () => {
  isOpen.value = true
}

/** The place of the switcher, and of the keys of the page: not beside its button, which a phone hides with the list of conversations. */
export function SwitcherPlace() {
  const close = () => {
    isOpen.value = false
  }
  return (
    <>
      <ShellKeys onSwitcher={open} />
      {isOpen.value && <Switcher onClose={close} />}
    </>
  )
}
