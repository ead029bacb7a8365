import { Dialog } from '../parts/dialog.tsx'
import { composeTexts } from '../texts/compose.ts'
import { EmojiPicker } from './picker.tsx'

interface EmojiDialogProps {
  onPick: (sign: string) => void
  onClose: () => void
}

/** All emoji, to choose one. */
export function EmojiDialog({ onPick, onClose }: EmojiDialogProps) {
  return (
    <Dialog title={composeTexts.value.emoji.title} focus="field" onClose={onClose}>
      <div class="emoji-place">
        <EmojiPicker
          onPick={(sign) => {
            onClose()
            onPick(sign)
          }}
        />
      </div>
    </Dialog>
  )
}
