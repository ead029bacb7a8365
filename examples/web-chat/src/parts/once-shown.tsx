import { texts } from '../texts/texts.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

interface OnceShownProps {
  title: string
  text: string
  label: string
  value: string
  copyLabel: string
  onClose: () => void
}

/** A secret that the service shows once, to copy. */
export function OnceShown({ title, text, label, value, copyLabel, onClose }: OnceShownProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="one-line">
        <Field label={label} readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
        <CopyButton text={value} label={copyLabel} />
      </div>
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {texts.value.close}
        </button>
      </p>
    </Dialog>
  )
}
