import { toMarkdown } from './rules-markup.ts'

/** How many blocks, attachments and fields of each are read, and how deep rich text is: what is beyond is left out. */
const MAX_ITEMS = 100
const MAX_DEPTH = 8

/**
 * The text of a message as Slack takes it: `text`, else that of its blocks; then that of its attachments. As Markdown; empty
 * if it has none. What is of another form is ignored.
 */
export function textOfSlack(body: Record<string, unknown>): string {
  const text = toMarkdown(textIn(body.text)) || joinLines(objectsIn(body.blocks).map(textOfBlock), '\n\n')
  return joinLines([text, ...objectsIn(body.attachments).map(textOfAttachment)], '\n\n')
}

type Fields = Record<string, unknown>

const textIn = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '')

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const objectsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.slice(0, MAX_ITEMS).filter(isObject) : [])

const joinLines = (texts: readonly string[], separator = '\n'): string =>
  texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(separator)

/** A text of a block: one of the type `plain_text` has no marks. */
function textOfObject(value: unknown): string {
  if (!isObject(value)) return toMarkdown(textIn(value))
  return value.type === 'plain_text' ? textIn(value.text) : toMarkdown(textIn(value.text))
}

function textOfBlock(block: Fields): string {
  switch (block.type) {
    case 'header': {
      const text = textOfObject(block.text)
      return text === '' ? '' : `**${text}**`
    }
    case 'section':
      return joinLines([textOfObject(block.text), ...objectsIn(block.fields).map(textOfObject)])
    case 'context':
      return objectsIn(block.elements).map(textOfObject).join(' ')
    case 'markdown':
      return textIn(block.text)
    case 'rich_text':
      return joinLines(objectsIn(block.elements).map((element) => textOfRich(element)))
    default:
      return ''
  }
}

/** The text of an element of rich text: a paragraph, a list, code, a quotation, or a part of a line. */
function textOfRich(element: Fields, depth = 0): string {
  if (depth > MAX_DEPTH) return ''
  const parts = objectsIn(element.elements).map((each) => textOfRich(each, depth + 1))
  switch (element.type) {
    case 'rich_text_section':
      return parts.join('')
    case 'rich_text_list':
      return parts.map((part, n) => `${element.style === 'ordered' ? `${n + 1}.` : '-'} ${part}`).join('\n')
    case 'rich_text_preformatted':
      return `\`\`\`\n${parts.join('')}\n\`\`\``
    case 'rich_text_quote':
      return parts
        .join('')
        .split('\n')
        .map((line) => `> ${line}`)
        .join('\n')
    case 'link':
      return link(textIn(element.url), textIn(element.text))
    case 'emoji':
      return `:${textIn(element.name)}:`
    case 'broadcast':
      return textIn(element.range)
    case 'text':
      return styled(textIn(element.text), isObject(element.style) ? element.style : {})
    default:
      return ''
  }
}

function styled(text: string, { bold, italic, strike, code }: Fields): string {
  const inner = text.trim()
  if (inner === '') return text
  // Marks beside a space mark nothing.
  const [before, after] = [text.slice(0, text.indexOf(inner)), text.slice(text.indexOf(inner) + inner.length)]
  const marks = code ? ['`'] : [bold && '**', italic && '_', strike && '~~'].filter((mark) => typeof mark === 'string')
  return before + marks.reduce((marked, mark) => `${mark}${marked}${mark}`, inner) + after
}

function textOfAttachment(attachment: Fields): string {
  const { pretext, title, title_link, text, fields, fallback, blocks } = attachment
  const lines = [
    toMarkdown(textIn(pretext)),
    bold(link(textIn(title_link), textIn(title))),
    toMarkdown(textIn(text)) || joinLines(objectsIn(blocks).map(textOfBlock), '\n\n'),
    ...objectsIn(fields).map((field) => joinLines([bold(textIn(field.title)), toMarkdown(textIn(field.value))])),
  ]
  return joinLines(lines) || toMarkdown(textIn(fallback))
}

const bold = (text: string) => (text === '' ? '' : `**${text}**`)

/** A link with a label, or what there is of the two. */
function link(url: string, label: string): string {
  if (!/^(https?:\/\/|mailto:)\S+$/.test(url)) return label
  return label === '' ? url : `[${label.replaceAll(/[[\]\\]/g, '\\$&')}](${url.replaceAll(/[()]/g, encodeParenthesis)})`
}

const encodeParenthesis = (character: string) => (character === '(' ? '%28' : '%29')
