/** The marks of Markdown that an excerpt of one or two lines is easier to read without. */
const MARKS: [RegExp, string][] = [
  // The fence of a block of code, with its language; what is left of one that was cut off.
  [/(^|\s)(```|~~~)[\w+#-]*(?=\s|$)/g, '$1'],
  [/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1'],
  // Of a table the line below its head, and the borders of its rows.
  [/\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+(?:[ \t]*:?-{3,}:?(?=\s|$))?[ \t]*\n?/g, ''],
  [/^[ \t]*\|[ \t]*(.*\S)[ \t]*\|[ \t]*$/gm, '$1'],
  [/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+(?:\[[ xX]\][ \t]+)?/gm, ''],
  [/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, '$2'],
  [/(?<![\p{L}\p{N}_*\\])([*_])(?=[^\s*_])([^*_\n]+)(?<=\S)\1(?![\p{L}\p{N}_*])/gu, '$2'],
  [/`([^`]+)`/g, '$1'],
]

/** An excerpt of a message without the marks of its Markdown. Never HTML: it is shown as text. */
export function plainOf(excerpt: string): string {
  return MARKS.reduce((text, [pattern, kept]) => text.replace(pattern, kept), excerpt).trim() || excerpt
}

/** Characters that no text has: where something marked begins, and where it ends. */
const [BEGIN, END] = ['\ufdd0', '\ufdd1']
const EDGES = /[\ufdd0\ufdd1]/g

/** An excerpt without the marks of its Markdown; what is marked in it stays so, unless it was in what is left out. */
export function plainExcerpt({ text, ranges }: { text: string; ranges: readonly (readonly number[])[] }) {
  const parts = ranges.map(([start, end], n) => {
    const before = text.slice(ranges[n - 1]?.[1] ?? 0, start).replace(EDGES, '')
    return `${before}${BEGIN}${text.slice(start, end).replace(EDGES, '')}${END}`
  })
  const plain = plainOf(parts.join('') + text.slice(ranges.at(-1)?.[1] ?? 0).replace(EDGES, ''))
  const marked: [number, number][] = []
  let start: number | undefined
  let found = 0
  for (const { 0: edge, index } of plain.matchAll(EDGES)) {
    const at = index - found++
    if (edge === BEGIN) start = at
    else if (start !== undefined) marked.push([start, at])
    if (edge === END) start = undefined
  }
  return { text: plain.replace(EDGES, ''), ranges: marked }
}
