/** A change of a text, and what is selected then. */
export interface Edit {
  from: number
  to: number
  text: string
  start: number
  end: number
}

/** Changes the text of a field as if it was typed: the browser can undo it, and listeners hear of it. */
export function replaceIn(field: HTMLTextAreaElement, { from, to, text, start, end }: Edit): void {
  field.focus()
  field.setSelectionRange(from, to)
  // Nothing else of a browser keeps what can be undone.
  if (text === '') document.execCommand('delete')
  else document.execCommand('insertText', false, text)
  field.setSelectionRange(start, end)
}
