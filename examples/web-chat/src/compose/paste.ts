import { replaceIn } from './edit.ts'
import { parseHtml } from './parse-html.ts'
import { toMarkdown } from './to-markdown.ts'

/** Of longer formatted text, the plain one is taken: it would hold the page up. */
const MAX_HTML = 500_000

/** Puts what is pasted into a field: formatted text as Markdown, a URL on a selection as its link. */
export function paste(field: HTMLTextAreaElement, { html, plain }: { html: string; plain: string }): void {
  const { selectionStart: from, selectionEnd: to, value } = field
  const selected = value.slice(from, to)
  const text = isUrl(plain) && selected !== '' ? `[${selected}](${plain.trim()})` : formatted(html, plain)
  const end = from + text.length
  replaceIn(field, { from, to, text, start: end, end })
}

/** Whether a text is a URL, and nothing else. */
function isUrl(text: string): boolean {
  return /^\s*https?:\/\/[^\s()]+\s*$/.test(text)
}

function formatted(html: string, plain: string): string {
  if (html.length > MAX_HTML) return plain
  try {
    return toMarkdown(parseHtml(html).body) || plain
  } catch {
    // A host's Trusted Types refuse it.
    return plain
  }
}
