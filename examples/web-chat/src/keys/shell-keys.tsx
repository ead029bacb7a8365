import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hasSingleKeys } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { lazy } from '../parts/lazy.tsx'
import { actOf, SHELL_KEYS } from './table.ts'

const KeySheet = lazy(() => import('./sheet.tsx').then(({ KeySheet }) => KeySheet))

const isOpen = signal(false)

/** Binds the keys of the page, and has the place of their sheet. Nothing is bound while a dialog is open. */
export function ShellKeys({ onSwitcher }: { onSwitcher: () => void }) {
  const app = useApp()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = actOf(SHELL_KEYS, event)
      if (act === undefined || event.isComposing) return
      const isSingle = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
      if (isSingle && (isField(event.target) || hasSingleKeys.value === 'off')) return
      // Browsers search with some of them.
      event.preventDefault()
      if (document.querySelector('dialog[open]')) return
      if (act === 'switcher') onSwitcher()
      else if (act === 'sheet') isOpen.value = true
      // It is shown as it is, if it fails.
      else if (act === 'all_read') void app.store.markAllRead().catch(() => {})
      else
        void import('./go-by.ts')
          .then(({ goBy }) => goBy(app, act.startsWith('next') ? 1 : -1, act.endsWith('unread')))
          .catch(() => {})
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  const close = () => {
    isOpen.value = false
  }
  return isOpen.value ? <KeySheet onClose={close} /> : null
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null
}
