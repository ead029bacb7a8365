import { useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { announce } from './announcer.tsx'
import { Icon } from './icon.tsx'

/** How long it shows that it has copied. */
const SHOWN_MS = 2_000

/** Copies a text, and shows that it has. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    announce(texts.value.people.copied)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  // Browsers have it on HTTPS and localhost only.
  if (!navigator.clipboard) return null
  return (
    <button type="button" class="copy" aria-label={label} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-hidden="true">{isCopied ? texts.value.people.copied : texts.value.people.copy}</span>
    </button>
  )
}
