/**
 * Selects the text of the message in which the focus is. Where a long press opens its menu, nothing else lets a finger select: the text
 * can be selected as long as it is.
 */
export function selectText(): void {
  const text = document.activeElement?.closest('.message')?.querySelector<HTMLElement>('.content')
  if (!text) return
  text.dataset.selectable = 'true'
  getSelection()?.selectAllChildren(text)
  const end = () => {
    if (!getSelection()?.isCollapsed) return
    delete text.dataset.selectable
    document.removeEventListener('selectionchange', end)
  }
  document.addEventListener('selectionchange', end)
}
