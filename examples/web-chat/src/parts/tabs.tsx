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
  useEffect(() => bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [current])
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
