/** Deeper ones are text. */
const MAX_DEPTH = 100

const MARKS: Readonly<Record<string, string | undefined>> = {
  B: '**',
  STRONG: '**',
  I: '_',
  EM: '_',
  S: '~~',
  DEL: '~~',
  STRIKE: '~~',
  CODE: '`',
}

const SKIPPED = ['SCRIPT', 'STYLE', 'TEMPLATE', 'HEAD', 'TITLE', 'META']

const BLOCKS = /^(P|DIV|SECTION|ARTICLE|HEADER|FOOTER|MAIN|TABLE|TR|UL|OL|LI|PRE|BLOCKQUOTE|H[1-6]|HR|FIGURE|DL|DT|DD)$/

/** The Markdown of formatted text, such as of another page or a word processor. */
export function toMarkdown(body: Element): string {
  return (
    blocksOf(body, 0)
      // From where a run of spaces begins alone: from each of its spaces takes the square of its length.
      .replace(/(?<![ \t])[ \t]+\n/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  )
}

function blocksOf(parent: Node, depth: number): string {
  if (depth > MAX_DEPTH) return parent.textContent ?? ''
  let text = ''
  for (const node of parent.childNodes) {
    const part = nodeOf(node, depth + 1)
    text += isBlock(node) ? `\n\n${part}\n\n` : part
  }
  return text
}

function nodeOf(node: Node, depth: number): string {
  if (node.nodeType === Node.TEXT_NODE) return (node.textContent ?? '').replace(/\s+/g, ' ')
  if (!(node.nodeType === Node.ELEMENT_NODE)) return ''
  const element = node as HTMLElement
  const { tagName } = element
  if (SKIPPED.includes(tagName)) return ''
  if (tagName === 'BR') return '\n'
  if (tagName === 'HR') return '---'
  if (tagName === 'PRE') return `\`\`\`\n${element.textContent?.replace(/\n$/, '')}\n\`\`\``
  if (tagName === 'IMG') return element.getAttribute('alt') ?? ''
  const inner = blocksOf(element, depth)
  const heading = /^H([1-6])$/.exec(tagName)
  if (heading) return `${'#'.repeat(Number(heading[1]))} ${inner.trim()}`
  if (tagName === 'BLOCKQUOTE')
    return inner
      .trim()
      .replace(/\n{3,}/g, '\n\n')
      .replace(/^/gm, '> ')
  if (tagName === 'UL' || tagName === 'OL') return listOf(element, depth)
  if (tagName === 'TR') return Array.from(element.children, (cell) => blocksOf(cell, depth).trim()).join(' | ')
  if (tagName === 'A') return linkOf(element.getAttribute('href') ?? '', inner)
  return marked(inner, markOf(element))
}

function listOf(list: HTMLElement, depth: number): string {
  const isOrdered = list.tagName === 'OL'
  const items = Array.from(list.children, (item, index) => {
    const sign = isOrdered ? `${index + 1}. ` : '- '
    const inner = item.tagName === 'LI' ? blocksOf(item, depth) : nodeOf(item, depth)
    // What is below a line of an item belongs to it by its indent.
    return (
      sign +
      inner
        .trim()
        .replace(/\n{2,}/g, '\n')
        .replace(/\n/g, `\n${' '.repeat(sign.length)}`)
    )
  })
  return items.join('\n')
}

function linkOf(href: string, inner: string): string {
  const text = inner.trim()
  if (!/^(https?:|mailto:)/i.test(href) || text === '') return inner
  return text === href ? href : inner.replace(text, () => `[${text}](${href.replace(/[()\s]/g, encodeURIComponent)})`)
}

/** A page may say by a style what a tag does not: word processors wrap all of a text in a `b` that is none. */
function markOf(element: HTMLElement): string {
  const { style = '' } = element.dataset
  const weight = /font-weight:\s*(\w+)/.exec(style)?.[1]
  if (weight === 'normal' || weight === '400') return ''
  const mark = MARKS[element.tagName]
  if (mark) return mark
  if (weight === 'bold' || Number(weight) >= 600) return '**'
  return /font-style:\s*italic/.test(style) ? '_' : ''
}

/** With the spaces at the ends outside of the marks; over several lines there are none. */
function marked(text: string, mark: string): string {
  const inner = text.trim()
  if (mark === '' || inner === '' || inner.includes('\n') || inner.startsWith(mark)) return text
  return text.replace(inner, () => mark + inner + mark)
}

function isBlock({ nodeName }: Node): boolean {
  return BLOCKS.test(nodeName)
}
