import { ChatError } from 'chat-server/client'
import type { ComponentChildren } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { FormError } from './form-error.ts'

/** The part of a form that few need, folded. It opens where a field in it is refused: what is folded gets no focus. */
export function More({ label, children }: { label: string; children: ComponentChildren }) {
  const fold = useRef<HTMLDetailsElement>(null)
  const error = useContext(FormError)
  useLayoutEffect(() => {
    const paths = error instanceof ChatError ? (error.errors ?? []).map(({ path }) => path) : []
    if (paths.some((path) => fold.current!.querySelector(`[name="${CSS.escape(path)}"]`))) fold.current!.open = true
  }, [error])
  return (
    <details
      ref={fold}
      class="more"
      onInvalidCapture={() => {
        fold.current!.open = true
      }}
    >
      <summary>{label}</summary>
      <div>{children}</div>
    </details>
  )
}
