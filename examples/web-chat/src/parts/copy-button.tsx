import { useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { announce } from './announcer.tsx'
import { copyText } from './copy-text.ts'
import { Icon } from './icon.tsx'
import { showToast } from './toast.tsx'

/** How long it shows that it has copied. */
const SHOWN_MS = 2_000

/** Copies a text, and shows that it has. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(text))) return showToast(texts.value.copying.not_copied, { isError: true })
    setCopied(true)
    announce(texts.value.copying.copied)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <button type="button" class="copy" aria-label={label} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-hidden="true">{isCopied ? texts.value.copying.copied : texts.value.copying.copy}</span>
    </button>
  )
}
