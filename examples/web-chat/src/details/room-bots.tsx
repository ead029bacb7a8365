import type { Participant } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { useLoad } from '../parts/load.ts'
import { Select } from '../parts/select.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { botsTexts } from '../texts/integrations.ts'
import { mayGive } from './managing.ts'
import type { TabProps } from './pane.tsx'

/** The bots in a room; those who may add others add their own bots, and those who manage it remove some. */
export function RoomBots({ conversation, user }: TabProps) {
  const { client, features, people } = useApp()
  const words = botsTexts.value
  const { id, can, participant_count } = conversation
  const [removing, setRemoving] = useState<Participant>()
  const { value, error, reload } = useLoad(() => people.load(id), [participant_count])
  const bots = value?.filter(({ kind }) => kind === 'bot')
  const own = value?.find(({ user_id }) => user_id === user.id)
  const managedBy = can.includes('manage') ? own?.role : undefined
  return (
    <section>
      <h3>{words.title}</h3>
      <ErrorNote error={error} onRetry={reload} />
      {!bots && !error && <Waiting kind="item" onRetry={reload} />}
      {bots?.length === 0 && <p class="quiet">{words.none_here}</p>}
      <ul class="items">
        {bots?.map((bot) => (
          <li key={bot.user_id}>
            <Avatar id={bot.user_id} name={nameOf(bot)} photo={bot.avatar_url} />
            <span class="name">
              <strong dir="auto">{nameOf(bot)}</strong>
              <small>
                <bdi>@{bot.username}</bdi>
              </small>
            </span>
            {mayGive(features, managedBy, bot.role) && (
              <IconButton icon="trash" label={words.remove(nameOf(bot))} onClick={() => setRemoving(bot)} />
            )}
          </li>
        ))}
      </ul>
      {bots && can.includes('add') && user.kind === undefined && (
        <AddBot conversation_id={id} there={bots.map(({ user_id }) => user_id)} onAdded={reload} />
      )}
      {removing && (
        <Confirm
          title={words.remove_title(nameOf(removing))}
          text={words.remove_text}
          button={words.remove_button}
          act={() => client.participants.remove(id, removing.user_id).then(reload)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </section>
  )
}

interface AddBotProps {
  conversation_id: string
  /** The ids of the bots that take part. */
  there: readonly string[]
  onAdded: () => void
}

/** Adds a bot of the user to a room. */
function AddBot({ conversation_id, there, onAdded }: AddBotProps) {
  const { client } = useApp()
  const words = botsTexts.value
  const [chosen, setChosen] = useState<string>()
  const { value, error, reload } = useLoad((signal) => client.bots.list({ signal }))
  const offered = value?.bots.filter(({ id, disabled }) => !disabled && !there.includes(id)) ?? []
  const bot = offered.find(({ id }) => id === chosen) ?? offered[0]
  const add = useAction(async (user_id: string) => {
    await client.participants.add(conversation_id, { user_id })
    onAdded()
  })
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {bot && (
        <div class="one-line">
          <Select
            label={words.add}
            value={bot.id}
            options={offered.map((each) => [each.id, nameOf(each)] as const)}
            onChange={setChosen}
          />
          <button type="button" disabled={add.isRunning} onClick={() => void add.run(bot.id)}>
            {words.add_button}
          </button>
        </div>
      )}
      {value?.bots.length === 0 && (
        <p>
          <a href={hrefOf({ name: 'account', tab: 'bots' })}>{words.make}</a>
        </p>
      )}
      <ErrorNote error={add.error} />
    </>
  )
}
