/**
 * Copies a text. Over HTTP, browsers have no clipboard for pages, and copy what is selected.
 *
 * @returns whether it was copied. To be called at once from a click: browsers refuse it otherwise
 */
export async function copyText(text: string): Promise<boolean> {
  const { clipboard } = navigator
  if (!clipboard) return copySelected(text)
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  )
}

function copySelected(text: string): boolean {
  const { activeElement } = document
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'hidden'
  // Outside of an open dialog, nothing can be selected.
  const place = activeElement?.closest('dialog') ?? document.body
  place.append(field)
  try {
    field.select()
    return document.execCommand('copy')
  } finally {
    field.remove()
    if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true })
  }
}
