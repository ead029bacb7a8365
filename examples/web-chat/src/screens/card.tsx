import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Brand } from '../app/config.ts'
import { focusIn } from '../parts/focus.ts'

/** A screen with one card in its middle: what is shown without a session. */
export function Card({ brand, title, children }: { brand: Brand; title: string; children: ComponentChildren }) {
  const card = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} – ${brand.name}`
    focusIn(card.current)
  }, [title])
  return (
    <main class="screen">
      <div class="card" ref={card}>
        <p class="brand">
          {brand.logo ? <img src={brand.logo} alt="" /> : <span class="brand-mark" aria-hidden="true" />}
          {brand.name}
        </p>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </main>
  )
}
