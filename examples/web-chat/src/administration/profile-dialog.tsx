import type { LimitProfile } from 'chat-server/client/admin'
import { useAction } from '../app/action.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { useAdmin } from './admin.ts'

interface ProfileDialogProps {
  /** `undefined` for a new one. */
  profile: LimitProfile | undefined
  onSaved: () => void
  onClose: () => void
}

/** Creates a profile of rate limits, or changes one: the service says what is wrong with a field. */
export function ProfileDialog({ profile, onSaved, onClose }: ProfileDialogProps) {
  const admin = useAdmin()
  const { limits: words } = administrationTexts.value
  const action = useAction(async (form: HTMLFormElement) => {
    const { name = '', description = '', ...rest } = fieldsOf(form)
    const params = {
      requests_per_second: Number(rest['params.requests_per_second']),
      burst: Number(rest['params.burst']),
    }
    if (profile) await admin.limits.updateProfile(profile.id, { params, description })
    else await admin.limits.createProfile({ name, params, ...(description && { description }) })
    onClose()
    onSaved()
  })
  return (
    <Dialog title={profile ? profile.name : words.create} focus="field" onClose={onClose}>
      <Form action={action} button={profile ? texts.value.save : words.create}>
        {!profile && <Field label={words.name} name="name" maxLength={64} autocomplete="off" required />}
        <Field
          label={words.per_second}
          name="params.requests_per_second"
          type="number"
          step="any"
          inputMode="decimal"
          defaultValue={profile && String(profile.params.requests_per_second)}
          required
        />
        <Field
          label={words.burst}
          name="params.burst"
          type="number"
          step="any"
          inputMode="numeric"
          defaultValue={profile && String(profile.params.burst)}
          hint={words.burst_hint}
          required
        />
        <Field
          label={words.description}
          name="description"
          maxLength={500}
          autocomplete="off"
          defaultValue={profile?.description}
          hint={texts.value.fields.optional}
        />
      </Form>
    </Dialog>
  )
}
