import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { hrefOf } from '../app/route.ts'
import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'
import { Tabs } from './tabs.tsx'

interface SettingsPaneProps {
  title: string
  tabs: readonly (readonly [name: string, text: string, href: string])[]
  current: string
  children: ComponentChildren
}

/** A screen of settings beside the conversations: tabs, and below them what scrolls. */
export function SettingsPane({ title, tabs, current, children }: SettingsPaneProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [])
  return (
    <section class="pane settings" aria-labelledby="settings-title">
      <header>
        <a class="icon-button back" href={hrefOf({ name: 'home' })} aria-label={texts.value.back}>
          <Icon name="back" />
        </a>
        <h2 id="settings-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <a class="icon-button close" href={hrefOf({ name: 'home' })} aria-label={texts.value.close}>
          <Icon name="close" />
        </a>
      </header>
      <Tabs label={title} tabs={tabs} current={current} />
      {/* Another tab begins at its top. */}
      <div class="scroll" key={current}>
        <div class="sheet">{children}</div>
      </div>
    </section>
  )
}
