import { parseBlocks } from '../../../examples/web-chat/src/markdown/parse-blocks.ts'
import { resolveBlock } from '../../../examples/web-chat/src/markdown/resolve.ts'
import {
  type Block,
  type Inline,
  type Item,
  type Reference,
  textOf,
} from '../../../examples/web-chat/src/markdown/tokens.ts'

/** A text of Markdown as the HTML that the specification of CommonMark has for it. The web chat itself makes no HTML. */
export function commonmarkHtml(text: string): string {
  const { parts } = parseBlocks(text, 0, { left: Number.POSITIVE_INFINITY })
  const references = new Map<string, Reference>()
  for (const { label, reference } of parts.flatMap(({ definitions }) => definitions))
    if (!references.has(label)) references.set(label, reference)
  return parts
    .flatMap(({ block }) => (block ? resolveBlock(block, references, { left: Number.POSITIVE_INFINITY }) : []))
    .map((block) => `${blockHtml(block)}\n`)
    .join('')
}

function blockHtml(block: Block): string {
  switch (block.type) {
    case 'paragraph':
      return `<p>${linesHtml(block.lines)}</p>`
    case 'heading':
      return `<h${block.depth}>${linesHtml(block.lines)}</h${block.depth}>`
    case 'code': {
      const language = block.language?.split(/\s/, 1)[0]
      const name = language === undefined ? '' : ` class="language-${escaped(language)}"`
      return `<pre><code${name}>${escaped(block.text)}${block.text === '' ? '' : '\n'}</code></pre>`
    }
    case 'html':
      return block.text
    case 'rule':
      return '<hr />'
    case 'quote':
      return `<blockquote>\n${block.blocks.map((inner) => `${blockHtml(inner)}\n`).join('')}</blockquote>`
    case 'list': {
      const name = block.start === undefined ? 'ul' : 'ol'
      const start = block.start === undefined || block.start === 1 ? '' : ` start="${block.start}"`
      return `<${name}${start}>\n${block.items.map((item) => itemHtml(item, block.isTight)).join('')}</${name}>`
    }
    case 'table':
      throw new Error('CommonMark has no tables')
  }
}

function itemHtml({ blocks }: Item, isTight: boolean): string {
  let html = '<li>'
  for (const block of blocks) {
    if (isTight && block.type === 'paragraph') html += linesHtml(block.lines)
    else html += `${html.endsWith('\n') ? '' : '\n'}${blockHtml(block)}\n`
  }
  return `${html}</li>\n`
}

function linesHtml(inlines: readonly Inline[]): string {
  return inlines.map(inlineHtml).join('')
}

function inlineHtml(inline: Inline): string {
  if (typeof inline === 'string') return escaped(inline)
  switch (inline.type) {
    case 'break':
      return inline.isHard ? '<br />\n' : '\n'
    case 'code':
      return `<code>${escaped(inline.text)}</code>`
    case 'html':
      return inline.text
    case 'link':
      return `<a href="${address(inline.href)}"${title(inline.title)}>${linesHtml(inline.inlines)}</a>`
    case 'image':
      return `<img src="${address(inline.href)}" alt="${escaped(textOf(inline.inlines))}"${title(inline.title)} />`
    default:
      return `<${inline.type}>${linesHtml(inline.inlines)}</${inline.type}>`
  }
}

function title(text: string | undefined): string {
  return text === undefined ? '' : ` title="${escaped(text)}"`
}

function address(href: string): string {
  return escaped(encodeURI(href).replace(/%25(?=[\da-f]{2})/gi, '%'))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
