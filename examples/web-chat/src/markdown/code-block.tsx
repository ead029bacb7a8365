import { CopyButton } from '../parts/copy-button.tsx'
import { texts } from '../texts/texts.ts'
import { CodeText } from './code-text.tsx'

interface CodeBlockProps {
  text: string
  language: string | undefined
  /** What is copied, if it is more. */
  whole?: string
}

/** A block of code, with its language, which can be copied. */
export function CodeBlock({ text, language, whole }: CodeBlockProps) {
  const { messages } = texts.value
  return (
    <div class="code">
      <div class="code-bar">
        <span>{language || messages.code}</span>
        <CopyButton text={whole ?? text} label={messages.copy_code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for the keyboard. */}
      <pre tabIndex={0} dir="ltr">
        <CodeText text={text} language={language} />
      </pre>
    </div>
  )
}
