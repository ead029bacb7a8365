import { valueText } from './visible-text.ts'

/** What a tool was given or returned: as text, whatever is in it. A long one scrolls. */
export function ToolValue({ label, value }: { label: string; value: unknown }) {
  if (value === undefined) return null
  return (
    <figure>
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for the keyboard. */}
      <pre dir={typeof value === 'string' ? 'auto' : 'ltr'} tabIndex={0}>
        {valueText(value)}
      </pre>
    </figure>
  )
}
