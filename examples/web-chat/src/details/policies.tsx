import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { Select } from '../parts/select.tsx'
import { roomTexts } from '../texts/room.ts'
import type { TabProps } from './pane.tsx'

/** What may be left to the roles, in the order in which it is shown. */
const ACTS = ['post', 'reply', 'react', 'attach', 'pin', 'add', 'invite'] as const

const VALUES = ['everyone', 'members', 'moderators', 'admins', 'owners', 'nobody'] as const

type Change = Parameters<ReturnType<typeof useApp>['client']['conversations']['rename']>[1]

/** The rules of a conversation: who sees it, who may do what in it, and whether it is frozen. */
export function Policies({ conversation }: TabProps) {
  const { client } = useApp()
  const { policies: words } = roomTexts.value
  const { id, can, direct, policy, visibility, frozen_at } = conversation
  const { run, isRunning, error } = useAction((change: NonNullable<Change>) => client.conversations.rename(id, change))
  const mayPolicy = can.includes('policy')
  const shared = { disabled: isRunning || frozen_at !== undefined }
  return (
    <section class="policies">
      {can.includes('publish') && (
        <Select
          {...shared}
          label={words.visibility}
          value={visibility}
          options={(['private', 'listed', 'open'] as const).map((each) => [each, words.visibilities[each]])}
          onChange={(next) =>
            void run(next === 'private' ? { visibility: next, policy: { join: null } } : { visibility: next })
          }
        />
      )}
      {mayPolicy && visibility !== 'private' && (
        <label class="check">
          <input
            type="checkbox"
            {...shared}
            checked={policy.join === 'anyone'}
            onChange={(event) => void run({ policy: { join: event.currentTarget.checked ? 'anyone' : null } })}
          />
          {words.join}
        </label>
      )}
      {mayPolicy && !direct && (
        <>
          {ACTS.map((act) => (
            <Select
              {...shared}
              key={act}
              label={words.who[act]}
              value={policy[act] ?? ROLES}
              options={[[ROLES, words.by_role], ...VALUES.map((each) => [each, words.values[each]] as const)]}
              onChange={(next) => void run({ policy: { [act]: next === ROLES ? null : next } })}
            />
          ))}
          <Select
            {...shared}
            label={words.who.mention_all}
            value={policy.mention_all}
            options={VALUES.map((each) => [each, words.values[each]])}
            onChange={(mention_all) => void run({ policy: { mention_all } })}
          />
        </>
      )}
      {mayPolicy && (
        <label class="check">
          <input
            type="checkbox"
            {...shared}
            checked={policy.receipts === 'on'}
            onChange={(event) => void run({ policy: { receipts: event.currentTarget.checked ? 'on' : 'off' } })}
          />
          {words.receipts}
        </label>
      )}
      {can.includes('freeze') && (
        <p class="buttons start">
          <button type="button" disabled={isRunning} onClick={() => void run({ frozen: frozen_at === undefined })}>
            <Icon name="lock" />
            {frozen_at === undefined ? words.freeze : words.unfreeze}
          </button>
          <small class="quiet">{frozen_at === undefined ? words.freeze_hint : words.frozen}</small>
        </p>
      )}
      <ErrorNote error={error} />
    </section>
  )
}

/** The choice that leaves it to the role of each participant. */
const ROLES = 'roles'
