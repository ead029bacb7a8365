import type { RefObject, VNode } from 'preact'
import { FORMAT_KEYS, type Keys, keyText } from '../keys/table.ts'
import { composeTexts } from '../texts/compose.ts'
import { texts } from '../texts/texts.ts'
import { type Format, format } from './formatting.ts'

/** How the buttons look. */
const SIGNS: Record<Format, VNode> = {
  bold: <b>B</b>,
  italic: <i>I</i>,
  strike: <s>S</s>,
  code: <code>{'<>'}</code>,
  list: <span>•–</span>,
  quote: <span>❝</span>,
}

/** Buttons that format what is selected in a field. */
export function Toolbar({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  const { formats } = composeTexts.value
  return (
    <div class="toolbar-format" role="toolbar" aria-label={texts.value.composer.formatting}>
      {(Object.keys(SIGNS) as Format[]).map((kind) => {
        const [keys] = (FORMAT_KEYS as Partial<Record<Format, readonly Keys[]>>)[kind] ?? []
        return (
          <button
            key={kind}
            type="button"
            class="icon-button"
            aria-label={formats[kind]}
            title={keys ? `${formats[kind]} (${keyText(keys)})` : formats[kind]}
            // The field keeps what is selected in it, and the keys on the screen stay.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => field.current && format(field.current, kind)}
          >
            <span aria-hidden="true">{SIGNS[kind]}</span>
          </button>
        )
      })}
    </div>
  )
}
