import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { linkTo } from '../app/route.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'

const DAYS = 7

/** Makes a link with which people join; it is shown once. */
export function InviteLink({ conversation_id }: { conversation_id: string }) {
  const { client } = useApp()
  const { people } = texts.value
  const [link, setLink] = useState<string>()
  const { run, isRunning, error } = useAction(async () => {
    const { token = '' } = await client.invites.create(conversation_id, { ttl_seconds: DAYS * 24 * 60 * 60 })
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
          <small class="hint">{people.invite_text(DAYS)}</small>
        </div>
      )}
      <ErrorNote error={error} />
    </div>
  )
}
