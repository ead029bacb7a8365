import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Select } from '../parts/select.tsx'
import { roomTexts } from '../texts/room.ts'
import type { TabProps } from './pane.tsx'

const SCOPES = ['all', 'none', 'some'] as const

interface AllowedProps extends Pick<TabProps, 'conversation'> {
  /** The assistants of the service that the user may ask. */
  offered: readonly OfferedAssistant[]
}

/** Which assistants may be asked in a conversation. */
export function AllowedAssistants({ conversation: { id, policy, frozen_at }, offered }: AllowedProps) {
  const { client, people } = useApp()
  const words = roomTexts.value.roomAssistant
  const { assistants: allowed = 'all' } = policy
  const { run, isRunning, error } = useAction((assistants: 'all' | 'none' | string[]) =>
    client.conversations.rename(id, { policy: { assistants } }),
  )
  const isDisabled = isRunning || frozen_at !== undefined
  const chosen = Array.isArray(allowed) ? allowed : []
  const all = [...new Set([...offered.flatMap(({ key }) => key ?? []), ...chosen])]
  return (
    <>
      <Select
        label={words.allowed}
        value={Array.isArray(allowed) ? 'some' : allowed}
        options={SCOPES.map((each) => [each, words.scopes[each]])}
        disabled={isDisabled}
        onChange={(next) => void run(next === 'some' ? all : next)}
      />
      {Array.isArray(allowed) &&
        all.map((key) => (
          <label key={key} class="check">
            <input
              type="checkbox"
              disabled={isDisabled}
              checked={chosen.includes(key)}
              onChange={({ currentTarget }) =>
                void run(currentTarget.checked ? [...chosen, key] : chosen.filter((each) => each !== key))
              }
            />
            <bdi>{people.assistants.infoOf(key).title}</bdi>
          </label>
        ))}
      <ErrorNote error={error} />
    </>
  )
}
