import type { ComponentChildren } from 'preact'
import { texts } from '../texts/texts.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

interface CopyFieldProps {
  label: string
  value: string
  copyLabel: string
}

interface OnceShownProps extends CopyFieldProps {
  title: string
  text: string
  /** What there is to copy besides. */
  children?: ComponentChildren
  onClose: () => void
}

/** A secret that the service shows once, to copy. */
export function OnceShown({ title, text, children, onClose, ...field }: OnceShownProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <CopyField {...field} />
      {children}
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {texts.value.close}
        </button>
      </p>
    </Dialog>
  )
}

/** A text to copy: by the button, or selected by the user. */
export function CopyField({ label, value, copyLabel }: CopyFieldProps) {
  return (
    <div class="one-line">
      <Field label={label} readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
      <CopyButton text={value} label={copyLabel} />
    </div>
  )
}
