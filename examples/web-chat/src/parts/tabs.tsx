import { useEffect, useRef } from 'preact/hooks'

/** Links to the parts of a screen, beside each other. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string
  tabs: readonly (readonly [name: string, text: string, href: string])[]
  current: string
}) {
  const bar = useRef<HTMLElement>(null)
  // Tabs may come before it once more is known.
  const count = tabs.length
  useEffect(() => bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [current, count])
  return (
    <nav class="tabs" aria-label={label} ref={bar}>
      {tabs.map(([name, text, href]) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
