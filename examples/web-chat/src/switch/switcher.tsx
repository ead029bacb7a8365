import { ChatError } from 'chat-server/client'
import { useId, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'
import { ChoiceOption } from './choice-option.tsx'
import { type Choice, useChoices } from './use-choices.ts'

/** Finds conversations, people and messages by what is typed: arrows choose one, Enter opens it, Escape closes. */
export function Switcher({ onClose }: { onClose: () => void }) {
  const { store } = useApp()
  const id = useId()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const { choices, isLoading, error } = useChoices(query)
  const chosen = Math.max(0, Math.min(at, choices.length - 1))
  const { switcher } = texts.value
  const open = useAction(async ({ conversation_id, user_id, message }: Choice) => {
    const target = conversation_id ?? (await store.openDirect({ user_id: user_id! })).conversation.id
    onClose()
    const { id: message_id, root_id } = message?.message ?? {}
    if (root_id) goTo({ name: 'thread', conversation_id: target, root_id, message_id })
    else goTo({ name: 'conversation', conversation_id: target })
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || choices.length === 0) return
    const { key } = event
    if (key === 'ArrowDown') setAt((chosen + 1) % choices.length)
    else if (key === 'ArrowUp') setAt((chosen + choices.length - 1) % choices.length)
    else if (key === 'Enter') void open.run(choices[chosen]!)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={switcher.title} focus="field" onClose={onClose}>
      <input
        class="switch-query"
        role="combobox"
        aria-label={switcher.label}
        aria-autocomplete="list"
        aria-expanded={choices.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={choices.length > 0 ? `${id}-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        placeholder={switcher.placeholder}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value)
          setAt(0)
          open.clear()
        }}
        onKeyDown={onKeyDown}
      />
      <div class="switch-list" role="listbox" id={`${id}-list`} aria-label={switcher.title}>
        {choices.map((choice, index) => (
          <ChoiceOption
            key={choice.id}
            id={`${id}-${index}`}
            choice={choice}
            isChosen={index === chosen}
            onTake={() => void open.run(choice)}
          />
        ))}
      </div>
      <p class={choices.length > 0 ? 'hidden' : 'quiet'} role="status">
        {isLoading ? texts.value.loading : choices.length > 0 ? switcher.found(choices.length) : switcher.none}
      </p>
      {open.error instanceof ChatError && open.error.code === 'forbidden' ? (
        <p class="error" role="alert">
          {switcher.not_shared}
        </p>
      ) : (
        <ErrorNote error={open.error ?? error} />
      )}
    </Dialog>
  )
}
