import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MadeInvite } from '../conversations/made-invite.tsx'
import { INVITE_USES, useInvite } from '../conversations/use-invite.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useLoad } from '../parts/load.ts'
import { useRoving } from '../parts/roving.ts'
import { Select } from '../parts/select.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { shortTime } from '../texts/time.ts'
import type { TabProps } from './pane.tsx'

/** More are never open in a room that someone looks after; the service returns the latest. */
const MAX_LISTED = 200

/** The open invite links of a room, which can be revoked, and a new one. */
export function InviteLinks({ conversation: { id: conversation_id } }: TabProps) {
  const { client, features } = useApp()
  const { invites: words } = roomTexts.value
  const { made, create, revoke } = useInvite(conversation_id)
  const choices = INVITE_USES.filter((uses) => uses === 1 || uses <= features.limits.invite_uses)
  const [uses, setUses] = useState<string>(`${choices.at(-1)}`)
  const list = useLoad((signal) => client.invites.list(conversation_id, { limit: MAX_LISTED }, { signal }))
  const { list: keys } = useRoving()
  const then = (done: boolean) => void (done && list.reload())
  return (
    <section class="invite">
      <div class="one-line">
        <Select
          label={words.uses}
          value={uses}
          options={choices.map((each) => [`${each}`, words.people(each)] as const)}
          onChange={setUses}
        />
        <button type="button" disabled={create.isRunning} onClick={() => void create.run(Number(uses)).then(then)}>
          <Icon name="link" />
          {words.copy}
        </button>
      </div>
      {made && <MadeInvite invite={made} />}
      <ErrorNote error={create.error ?? revoke.error} />
      <ErrorNote error={list.error} onRetry={list.reload} />
      {!list.value && list.error === undefined && <Waiting kind="item" />}
      <ul class="items" {...keys}>
        {list.value?.invites.map((each) => {
          const facts = [
            words.used(each.uses, each.max_uses),
            ...(each.email ? [words.for(each.email)] : []),
            words.until(shortTime(each.expires_at)),
          ]
          return (
            <li key={each.id}>
              <span class="name">{facts.join(' · ')}</span>
              <button
                type="button"
                aria-label={`${words.revoke}: ${facts.join(', ')}`}
                disabled={revoke.isRunning}
                onClick={() => void revoke.run(each.id).then(then)}
              >
                {words.revoke}
              </button>
            </li>
          )
        })}
      </ul>
      {list.value?.invites.length === 0 && <p class="quiet">{words.none}</p>}
    </section>
  )
}
