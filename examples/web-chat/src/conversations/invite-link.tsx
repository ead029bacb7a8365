import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { linkTo } from '../app/route.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'

const DAYS = 7

/** How many people join by one link, where the service allows it. */
const MAX_PEOPLE = 25

/** Makes a link with which several people join; it is shown once. */
export function InviteLink({ conversation_id }: { conversation_id: string }) {
  const { client, features } = useApp()
  const { people } = texts.value
  const max_uses = Math.min(MAX_PEOPLE, features.limits.invite_uses)
  const [link, setLink] = useState<string>()
  const { run, isRunning, error } = useAction(async () => {
    const { token = '' } = await client.invites.create(conversation_id, { ttl_seconds: DAYS * 24 * 60 * 60, max_uses })
    setLink(linkTo({ name: 'join', token }))
  })
  return (
    <div class="invite">
      {link === undefined ? (
        <button type="button" disabled={isRunning} onClick={() => void run()}>
          {people.invite}
        </button>
      ) : (
        <div class="one-line">
          <Field label={people.invite_link} readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
          <CopyButton text={link} label={people.copy} />
          <small class="hint">{people.invite_text(DAYS, max_uses)}</small>
        </div>
      )}
      <ErrorNote error={error} />
    </div>
  )
}
