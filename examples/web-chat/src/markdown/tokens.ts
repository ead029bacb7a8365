/** A part of a line of Markdown; a text of no other kind is a string. */
export type Inline =
  | string
  | { type: 'em' | 'strong' | 'del'; inlines: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'link' | 'image'; href: string; title: string | undefined; inlines: Inline[] }
  | { type: 'break'; isHard: boolean }
  /** A tag or a comment of HTML. */
  | { type: 'html'; text: string }

/** Where a link by reference leads. */
export interface Reference {
  href: string
  title: string | undefined
}

/** The references of a text by their labels, as `toLabel` has these. */
export type References = ReadonlyMap<string, Reference>

export type Align = 'left' | 'center' | 'right' | undefined

/** A block of Markdown. Its lines are a `string` as long as they are not parsed. */
export type Block<Lines = Inline[]> =
  | { type: 'paragraph'; lines: Lines }
  | { type: 'heading'; depth: number; lines: Lines }
  /** `whole` if it is the first piece of a longer one. */
  | { type: 'code'; text: string; language: string | undefined; whole?: string }
  | { type: 'html'; text: string }
  | { type: 'rule' }
  | { type: 'quote'; blocks: Block<Lines>[] }
  | { type: 'list'; start: number | undefined; isTight: boolean; items: Item<Lines>[] }
  | { type: 'table'; aligns: Align[]; header: Lines[]; rows: Lines[][] }

/** An item of a list. */
export interface Item<Lines = Inline[]> {
  /** Whether it is done; `undefined` for what is no task. */
  isDone: boolean | undefined
  blocks: Block<Lines>[]
}

/** The text of what has marks in it. */
export function textOf(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (typeof inline === 'string') return inline
      if (inline.type === 'break') return '\n'
      return 'inlines' in inline ? textOf(inline.inlines) : inline.text
    })
    .join('')
}
