import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useRoving } from '../parts/roving.ts'
import { ChoiceSign } from '../switch/choice-sign.tsx'
import type { Choice } from '../switch/use-choices.ts'
import { roomTexts } from '../texts/room.ts'

/** Rooms and people that were found: a person to whom the user has not written yet is written to. */
export function FoundPlaces({ choices, label }: { choices: readonly Choice[]; label: string }) {
  const { list } = useRoving()
  return (
    <ul class="inbox" aria-label={label} {...list}>
      {choices.map((choice) => (
        <li key={choice.id}>
          <FoundPlace choice={choice} />
        </li>
      ))}
    </ul>
  )
}

function FoundPlace({ choice }: { choice: Choice }) {
  const { store } = useApp()
  const { name, user_id, username, conversation_id } = choice
  const write = useAction(async () => {
    const { conversation } = await store.openDirect({ user_id: user_id! })
    goTo({ name: 'conversation', conversation_id: conversation.id })
  })
  const content = (
    <>
      <ChoiceSign choice={choice} />
      <span class="name" dir="auto">
        {name}
      </span>
      {username && <small>@{username}</small>}
    </>
  )
  if (conversation_id !== undefined) return <a href={hrefOf({ name: 'conversation', conversation_id })}>{content}</a>
  return (
    <>
      <button
        type="button"
        disabled={write.isRunning}
        title={roomTexts.value.switching.begin}
        onClick={() => void write.run()}
      >
        {content}
      </button>
      <ErrorNote error={write.error} />
    </>
  )
}
