const TAG_NAMES =
  'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt ' +
  'fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link ' +
  'main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead ' +
  'title tr track ul'

const ATTRIBUTE = `\\s+[a-zA-Z_:][\\w:.-]*(?:\\s*=\\s*(?:[^"'=<>\`\\s]+|'[^']*'|"[^"]*"))?`
export const OPEN_TAG = `<[a-zA-Z][a-zA-Z\\d-]*(?:${ATTRIBUTE})*\\s*/?>`
export const CLOSE_TAG = '</[a-zA-Z][a-zA-Z\\d-]*\\s*>'

/** How a block of HTML begins, and what ends it: without that, an empty line. */
const KINDS: [start: RegExp, end: RegExp | undefined][] = [
  [/^<(?:script|pre|textarea|style)(?:\s|>|$)/i, /<\/(?:script|pre|textarea|style)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(`^</?(?:${TAG_NAMES.replaceAll(' ', '|')})(?:\\s|/?>|$)`, 'i'), undefined],
]

/** A tag on a line of its own, which does not end a paragraph. */
const TAG_ALONE = new RegExp(`^(?:${OPEN_TAG}|${CLOSE_TAG})\\s*$`, 'i')

/** Whether a block of HTML begins with a line, and what ends it. */
export function htmlStart(text: string, isInParagraph: boolean): { end: RegExp | undefined } | undefined {
  if (text[0] !== '<') return undefined
  const kind = KINDS.find(([start]) => start.test(text))
  if (kind) return { end: kind[1] }
  return !isInParagraph && TAG_ALONE.test(text) ? { end: undefined } : undefined
}
