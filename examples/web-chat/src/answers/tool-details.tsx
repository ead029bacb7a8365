import { answersTexts } from '../texts/answers.ts'
import type { ToolPart } from './tool-line.tsx'
import { ToolValue } from './tool-value.tsx'
import { visibleText } from './visible-text.ts'

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
      <ToolValue label={tool_input} value={input} />
      <ToolValue label={tool_output} value={output} />
      {error && (
        <p class="note" dir="auto">
          {tool_errors[error.code] ?? visibleText(error.message)}
        </p>
      )}
    </>
  )
}
