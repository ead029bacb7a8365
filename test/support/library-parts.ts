import { STATUSES } from '../../lib/core/errors.ts'

/** The pieces of a comment: its text, and what its tags say. */
export interface Comment {
  text: string
  param: Map<string, string>
  returns?: string
  throws?: string
  example?: string
}

/** The comment that ends where a declaration begins. */
export function commentBefore(text: string, start: number): Comment {
  const [, raw = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, start)) ?? []
  const lines = raw.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
  const [about = '', ...tags] = lines.join('\n').trim().split(/^@/m)
  const tag = (name: string) =>
    tags
      .find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}\n`))
      ?.slice(name.length)
      .trim()
  const oneLine = (value?: string) => value?.trim().replaceAll(/\s+/g, ' ').replace(/\.$/, '')
  return {
    text: about.trim().replaceAll(/\s+/g, ' '),
    param: new Map(
      tags.flatMap((each) =>
        [/^param (\w+) ([\s\S]*)$/.exec(each)].flatMap((m) => (m ? [[m[1]!, oneLine(m[2])!] as const] : [])),
      ),
    ),
    ...(tag('returns') && { returns: oneLine(tag('returns'))! }),
    ...(tag('throws') && { throws: oneLine(tag('throws'))!.replace(/^ChatError /, '') }),
    ...(tag('example') && { example: tag('example')! }),
  }
}

/** A type on one line. */
export function compact({ start, end }: { start: number; end: number }, text: string): string {
  return text
    .slice(start, end)
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
    .replaceAll(/\n\s*(?=\w+\??:)/g, '; ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{ ?; /g, '{ ')
    .trim()
}

/** A type with links to those that have a place. */
export function linked(type: string, shapes: ReadonlyMap<string, string>): string {
  const known = type.split(/\b([A-Z]\w*)\b/).map((part, index) => {
    const page = index % 2 ? shapes.get(part) : undefined
    if (page !== undefined) return { text: `[${part}](${page}#${part.toLowerCase()})`, isLink: true }
    return { text: part, isLink: false }
  })
  // Links cannot stand inside of code: the pieces between them are code.
  return known
    .map(({ text, isLink }) => (isLink || text === '' ? text : `\`${text}\``))
    .join('')
    .replaceAll('``', '')
}

/** A text in a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

/** The failures that a comment lists, with links to the error codes. */
export function withCodes(text: string): string {
  return text.replaceAll(/`(\w+)`/g, (code, name: string) =>
    name in (STATUSES as Record<string, unknown>) ? `[${code}](errors.md#${name})` : code,
  )
}
