import type { RefObject } from 'preact'
import { replaceIn } from '../compose/edit.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'

const EmojiPicker = lazy(() => import('./picker.tsx').then(({ EmojiPicker }) => EmojiPicker))

/** Puts an emoji at the caret of a field. */
export function EmojiButton({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  return (
    <Menu label={texts.value.composer.emoji} button={<Icon name="smile" />}>
      {(close) => (
        <div class="emoji-place">
          <EmojiPicker
            onPick={(sign) => {
              close()
              const { selectionStart: from, selectionEnd: to } = field.current!
              const caret = from + sign.length
              replaceIn(field.current!, { from, to, text: sign, start: caret, end: caret })
            }}
          />
        </div>
      )}
    </Menu>
  )
}
