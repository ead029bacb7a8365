import { type Budget, ELEMENT_STEPS, spend } from './budget.ts'
import type { Piece } from './parse-inlines.ts'
import type { Inline } from './tokens.ts'

/** Deeper emphasis and links are text. */
const MAX_LEVEL = 16

/** What is open while the tree is made, and the parts in it. */
interface Open {
  inlines: Inline[]
  isLink: boolean
}

/** The pieces of a line as a tree. @throws OverBudget */
export function toTree(pieces: readonly Piece[], budget: Budget): Inline[] {
  const stack: Open[] = [{ inlines: [], isLink: false }]
  for (const piece of pieces) {
    if (typeof piece === 'string') addText(stack.at(-1)!, piece)
    else if ('run' in piece) {
      const { closes, opens, letter, rest } = piece.run
      stack.length -= closes.length
      addText(stack.at(-1)!, letter.repeat(rest))
      for (const type of opens.reverse()) open({ type, inlines: [] })
    } else if ('opens' in piece) open({ ...piece.opens, inlines: [] })
    else if ('closes' in piece) stack.length--
    else addInline(piece)
  }
  return stack[0]!.inlines

  function open(inline: Exclude<Inline, string> & { inlines: Inline[] }): void {
    const { inlines, isLink } = stack.at(-1)!
    const isText = stack.length > MAX_LEVEL || (isLink && inline.type === 'link')
    if (!isText) add(inlines, inline)
    stack.push({ inlines: isText ? inlines : inline.inlines, isLink: isLink || inline.type === 'link' })
  }

  function addInline(inline: Exclude<Inline, string>): void {
    const { inlines, isLink } = stack.at(-1)!
    // An address in the text of a link is text.
    if (isLink && inline.type === 'link') addText(stack.at(-1)!, inline.inlines[0] as string)
    else add(inlines, inline)
  }

  function add(inlines: Inline[], inline: Inline): void {
    spend(budget, ELEMENT_STEPS)
    inlines.push(inline)
  }
}

/** Texts in a row become one: a mention may be in several. */
function addText({ inlines }: Open, text: string): void {
  const last = inlines.at(-1)
  if (typeof last === 'string') inlines[inlines.length - 1] = last + text
  else if (text !== '') inlines.push(text)
}
