import { answersTexts } from '../texts/answers.ts'
import type { ToolPart } from './tool-line.tsx'
import { valueText, visibleText } from './visible-text.ts'

/** What a tool was given, and what it returned: as text, whatever is in it. */
export function ToolDetails({ part: { name, title, input, output, error } }: { part: ToolPart }) {
  const { tool_input, tool_output, tool_errors } = answersTexts.value
  return (
    <>
      {title !== undefined && (
        <p class="note">
          <code>{name}</code>
        </p>
      )}
      <Value label={tool_input} value={input} />
      <Value label={tool_output} value={output} />
      {error && (
        <p class="note" dir="auto">
          {tool_errors[error.code] ?? visibleText(error.message)}
        </p>
      )}
    </>
  )
}

function Value({ label, value }: { label: string; value: unknown }) {
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
