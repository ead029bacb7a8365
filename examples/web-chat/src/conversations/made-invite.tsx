import { CopyButton } from '../parts/copy-button.tsx'
import { Field } from '../parts/field.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { INVITE_DAYS, type MadeInvite as Made } from './use-invite.ts'

/** The link of an invite, to copy again. */
export function MadeInvite({ invite: { link, max_uses, isCopied, signsUp } }: { invite: Made }) {
  const { invites } = roomTexts.value
  const hints = [
    ...(isCopied ? [invites.copied] : []),
    invites.text(max_uses, INVITE_DAYS),
    ...(signsUp ? [] : [invites.no_sign_up]),
  ]
  return (
    <div class="one-line made-invite">
      <Field label={invites.link} readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
      <CopyButton text={link} label={texts.value.copying.copy} />
      <small class="hint">{hints.join(' ')}</small>
    </div>
  )
}
