/** Code, which has no marks in it: of several lines, or in one. */
const CODE = /(```[^`]*```|`[^`\n]*`)/

/** A reference in angle brackets: a link, a person, a channel, or a group to be notified. */
const REFERENCE = /<([^<>\n]{1,3000})>/g

/** A mark around words, with what is before it. */
const BOLD = /(^|[\s([{>_~"'])\*([^*\s]|[^*\s][^*\n]*[^*\s])\*(?![\w*])/g
const STRUCK = /(^|[\s([{>_*"'])~([^~\s]|[^~\s][^~\n]*[^~\s])~(?![\w~])/g

/** A text in the marks of Slack ("mrkdwn") as Markdown. */
export function toMarkdown(text: string): string {
  const parts = text.split(CODE)
  return parts.map((part, n) => unescaped(n % 2 === 1 ? part : marks(part))).join('')
}

function marks(text: string): string {
  return text
    .replaceAll(BOLD, '$1**$2**')
    .replaceAll(STRUCK, '$1~~$2~~')
    .replaceAll(REFERENCE, (_, inner: string) => reference(inner))
}

/** What `<…>` stands for. None of it notifies anybody here. */
function reference(inner: string): string {
  const bar = inner.indexOf('|')
  const [target, label] = bar === -1 ? [inner, ''] : [inner.slice(0, bar), inner.slice(bar + 1)]
  if (target.startsWith('!')) return label || target.slice(1).split('^', 1)[0]!
  if (target.startsWith('@')) return label || target.slice(1)
  if (target.startsWith('#')) return `#${label || target.slice(1)}`
  if (!/^(https?:\/\/|mailto:)\S+$/.test(target)) return label || target
  if (label === '') return target
  return `[${label.replaceAll(/[[\]\\]/g, '\\$&')}](${target.replaceAll('(', '%28').replaceAll(')', '%29')})`
}

/** The letters that Slack has escaped. */
function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
