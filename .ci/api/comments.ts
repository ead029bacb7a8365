import { textOf } from './project.ts'

const MAX_WIDTH = 112

/** The text of the comment above an exported name, without its stars; empty where there is none. */
export function commentAbove(file: string, name: string): string {
  const declared = new RegExp(`^export (?:async )?(?:const|function\\*?|interface|type) ${name}\\b`, 'm')
  const text = textOf(file)
  const at = declared.exec(text)?.index
  const comment = at === undefined ? undefined : /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(text.slice(0, at))?.[1]
  return (comment ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s*/, '').trimEnd())
    .join('\n')
    .trim()
}

/** A comment for editors, its paragraphs in lines as long as the formatter lets them be. */
export function jsDoc(text: string): string {
  // What a link in a source leads to has no place here: its name says it.
  const lines = text
    .trim()
    .replaceAll(/\{@link\s+(\w+)\}/g, '`$1`')
    .replaceAll(/(?<!\n)\n(?![\n@-]) */g, ' ')
    .split('\n')
    .flatMap(wrap)
  if (lines.length === 1) return `/** ${lines[0]} */\n`
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

function wrap(line: string): string[] {
  if (line.length <= MAX_WIDTH) return [line]
  const end = line.lastIndexOf(' ', MAX_WIDTH)
  return end < 0 ? [line] : [line.slice(0, end), ...wrap(line.slice(end + 1))]
}
