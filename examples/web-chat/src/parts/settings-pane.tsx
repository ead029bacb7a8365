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
  /** The one thing that is shown of a tab that lists several. */
  item?: string | undefined
  children: ComponentChildren
}

/** A screen of settings beside the conversations: tabs, and below them what scrolls. */
export function SettingsPane({ title, tabs, current, item, children }: SettingsPaneProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The link that led to an item, or back, is not shown any more: the focus would be lost with it.
  useLayoutEffect(() => heading.current?.focus(), [item])
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
      {/* Another tab, and another item, begins at its top. */}
      <div class="scroll" key={`${current} ${item}`}>
        <div class="sheet">{children}</div>
      </div>
    </section>
  )
}
