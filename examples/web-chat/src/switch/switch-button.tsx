import { signal } from '@preact/signals'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { SHORTCUT, useShortcut } from './shortcut.ts'

const Switcher = lazy(() => import('./switcher.tsx').then(({ Switcher }) => Switcher))

const isOpen = signal(false)

/** Opens the switcher, as its keys do. */
export function SwitchButton() {
  const { title } = texts.value.switcher
  return (
    <IconButton
      icon="search"
      label={title}
      title={`${title} (${SHORTCUT})`}
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => {
        isOpen.value = true
      }}
    />
  )
}

/** The place of the switcher: not beside its button, which a phone hides with the list of conversations. */
export function SwitcherPlace() {
  useShortcut(() => {
    isOpen.value = true
  })
  const close = () => {
    isOpen.value = false
  }
  return isOpen.value ? <Switcher onClose={close} /> : null
}
