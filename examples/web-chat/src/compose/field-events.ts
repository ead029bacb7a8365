/** Takes files that are dropped. */
export function dropOf(add: (files: Iterable<File>) => void, setDropping: (isDropping: boolean) => void) {
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true
  return {
    onDragOver(event: DragEvent) {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDropping(true)
    },
    onDragLeave: () => setDropping(false),
    onDrop(event: DragEvent) {
      setDropping(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      add(event.dataTransfer!.files)
    },
  }
}

/** Whether HTML has more than a text. */
const FORMATTED = /<(a|b|strong|i|em|s|del|code|pre|ul|ol|h[1-6]|blockquote|table|tr)[\s>]/i

/** Takes files that are pasted; formatted text, and a URL on a selection, become Markdown. */
export function pasteInto(
  field: HTMLTextAreaElement,
  event: ClipboardEvent,
  add?: (files: Iterable<File>) => void,
): void {
  const data = event.clipboardData!
  const [html, plain, files] = [data.getData('text/html'), data.getData('text/plain'), data.files]
  const isOnSelection = field.selectionStart !== field.selectionEnd
  if (files.length > 0 && add && plain === '') add(files)
  else if (FORMATTED.test(html) || (isOnSelection && plain.includes('://')))
    void import('./paste.ts').then(({ paste }) => paste(field, { html, plain }))
  else return
  event.preventDefault()
}

/** Begins the next item, where the line that Enter ends is one of a list. */
export function continueList(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void {
  const { currentTarget: field } = event
  const { value, selectionStart, selectionEnd } = field
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart)
  if (selectionStart !== selectionEnd || !/^\s*([-*+]|\d{1,9}[.)]) /.test(line)) return
  event.preventDefault()
  void import('./next-item.ts').then(({ beginItem }) => beginItem(field))
}
