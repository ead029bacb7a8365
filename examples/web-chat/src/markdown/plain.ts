/** The marks of Markdown that an excerpt of one or two lines is easier to read without. */
const MARKS: [RegExp, string][] = [
  // The fence of a block of code, with its language; what is left of one that was cut off.
  [/(^|\s)(```|~~~)[\w+#-]*(?=\s|$)/g, '$1'],
  [/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1'],
  // Of a table the line below its head, and the borders of its rows.
  [/\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+(?:[ \t]*:?-{3,}:?(?=\s|$))?[ \t]*\n?/g, ''],
  [/^[ \t]*\|[ \t]*(.*\S)[ \t]*\|[ \t]*$/gm, '$1'],
  [/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, ''],
  [/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, '$2'],
  [/`([^`]+)`/g, '$1'],
]

/** An excerpt of a message without the marks of its Markdown. Never HTML: it is shown as text. */
export function plainOf(excerpt: string): string {
  return MARKS.reduce((text, [pattern, kept]) => text.replace(pattern, kept), excerpt).trim() || excerpt
}
